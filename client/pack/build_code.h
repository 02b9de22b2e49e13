// BuildCode: from what a person has of a kernel to a shared object.
#ifndef SLIPWAY_CLIENT_PACK_BUILD_CODE_H_
#define SLIPWAY_CLIENT_PACK_BUILD_CODE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/target/target.h"

namespace slipway {

struct BuildCodeOptions {
  // The compiler; empty: the first of cc, clang and gcc that is there.
  std::string compiler;
  // Further arguments for it.
  std::vector<std::string> flags;
  // Where it may leave files.
  std::string folder;
  absl::Duration deadline = absl::Minutes(2);
};

// The path of a shared object for the target: `path` itself where it ends in .so, else what a C compiler makes of an object
// (.o) or a source file (.c), which includes core/kernel_abi/kernel_source.h.
//
// What the compiler says goes to standard error. INVALID_ARGUMENT for a file of another kind and for what the compiler
// refuses: undefined symbols are errors. FAILED_PRECONDITION when no compiler is there; DEADLINE_EXCEEDED.
absl::StatusOr<std::string> BuildCode(const std::string& path, const DeviceTarget& target,
                                      const BuildCodeOptions& options);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_PACK_BUILD_CODE_H_
