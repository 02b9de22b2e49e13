// VendorLibrary: a library of a device's vendor that makes products of matrices (cuBLASLt) or convolutions, where there is one.
//
// A program's own launches do what any library could; whoever loads a program measures which is faster (choose_libraries.h).
#ifndef SLIPWAY_CORE_RUNTIME_VENDOR_LIBRARY_H_
#define SLIPWAY_CORE_RUNTIME_VENDOR_LIBRARY_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/vendor_step.h"
#include "core/kernel_abi/kernel_abi.h"

namespace slipway {

// When a library makes what it can.
enum class LibraryUse {
  kNever,
  kMeasured,  // Where it was measured to be faster than the program's own launches,
  kAlways,    // and wherever it can: to try it.
};
// Of "never", "measured" and "always".
std::optional<LibraryUse> FindLibraryUse(absl::string_view name);

// One of the ways in which a library makes a step. Thread-safe; must not outlive its device.
class LibraryWay {
 public:
  virtual ~LibraryWay() = default;
  // What it takes to be prepared, which may take long; the first call's work counts for all. UNIMPLEMENTED where the library finds out here that it has not got
  // this way; otherwise its errors.
  virtual absl::Status Load() { return absl::OkStatus(); }
};

// Descriptors, which are read with every launch and must outlive it; null for what the step does not have.
struct LibraryArguments {
  std::array<const slipway_buffer*, 2> factors = {};  // As VendorStep::factors.
  const slipway_buffer* result = nullptr;
  const slipway_buffer* bias = nullptr;
  const slipway_buffer* added = nullptr;
};

// Thread-safe; belongs to its device.
class VendorLibrary {
 public:
  virtual ~VendorLibrary() = default;
  // "cublasLt 12.4.5".
  virtual const std::string& name() const = 0;
  // All that its times depend on beside the step, in one line: library, device and driver.
  virtual const std::string& key() const = 0;
  virtual LibraryUse use() const = 0;
  // A file that keeps what was measured (library_choice.h); empty for none.
  virtual const std::string& kept_times() const = 0;

  // At most `most` ways to make the step, that first which the library takes for the fastest one; always the same ones for the same step. Empty where it
  // has none; otherwise the library's errors.
  virtual absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> Find(const VendorStep& step,
                                                                        int most) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_VENDOR_LIBRARY_H_
