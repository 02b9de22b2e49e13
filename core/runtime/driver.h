// Driver: the runtime's code for one kind of device.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVER_H_
#define SLIPWAY_CORE_RUNTIME_DRIVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/artifact.h"
#include "core/runtime/program.h"

namespace slipway {

// Thread-safe.
class Driver {
 public:
  virtual ~Driver() = default;
  // "cpu", "cuda", "opencl".
  virtual absl::string_view name() const = 0;
  // Makes the artifact runnable; the program keeps the blobs it needs. FAILED_PRECONDITION names the
  // feature this device lacks; INVALID_ARGUMENT and UNIMPLEMENTED say why the code does not load.
  virtual absl::StatusOr<std::unique_ptr<Program>> Load(const Artifact& artifact) const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVER_H_
