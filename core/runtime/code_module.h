// CodeModule: a piece of code of kind ELF in this process.
#ifndef SLIPWAY_CORE_RUNTIME_CODE_MODULE_H_
#define SLIPWAY_CORE_RUNTIME_CODE_MODULE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/versions.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {

// Loading runs the code's query function: it is native code, and whoever loads it trusts it.
// Immutable once loaded; unloaded with the object.
class CodeModule {
 public:
  // `elf` is copied. It is asked for `abi`, the version its manifest says it was built for; `spoken` is what
  // the runtime speaks, and differs from kSpokenAbis in tests of other runtimes only.
  //
  // UNIMPLEMENTED, before anything is mapped: `abi` is not spoken here. INVALID_ARGUMENT: the code is no
  // shared object for this machine, needs symbols nobody has, lacks the query function, is of another
  // version than `abi`, or has a table that is not of `kernel_count` kernels.
  static absl::StatusOr<std::unique_ptr<CodeModule>> Load(absl::string_view elf,
                                                          uint32_t kernel_count, uint32_t abi,
                                                          const VersionRange& spoken = kSpokenAbis);
  ~CodeModule();
  CodeModule(const CodeModule&) = delete;
  CodeModule& operator=(const CodeModule&) = delete;

  // REQUIRES: index < kernel_count.
  const slipway_kernel_entry& kernel(uint32_t index) const { return table_->kernels[index]; }

 private:
  CodeModule() = default;

  void* library_ = nullptr;
  const slipway_kernel_table* table_ = nullptr;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_CODE_MODULE_H_
