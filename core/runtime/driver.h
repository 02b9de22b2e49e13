// Driver: the runtime's code for one kind of device.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVER_H_
#define SLIPWAY_CORE_RUNTIME_DRIVER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/checked_manifest.h"
#include "core/runtime/device.h"
#include "core/target/target.h"

namespace slipway {

// Thread-safe.
class Driver {
 public:
  virtual ~Driver() = default;
  // "cpu", "cuda", "opencl".
  virtual absl::string_view name() const = 0;
  // Whether devices of this kind are its own.
  virtual bool Drives(const DeviceTarget& target) const = 0;
  // OK when it runs all that the manifest asks of its device number `device`, which this driver drives.
  // FAILED_PRECONDITION names the target or feature that is lacking here; UNIMPLEMENTED names the kind of code,
  // memory or copy that the driver does not know.
  virtual absl::Status Supports(const CheckedManifest& manifest, uint32_t device) const = 0;
  // The device number `ordinal` of this kind in this machine. FAILED_PRECONDITION if there are not so many.
  virtual absl::StatusOr<std::shared_ptr<ComputeDevice>> Open(int ordinal) const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVER_H_
