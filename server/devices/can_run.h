// Whether a device can run a program, as far as the server can tell from what both say of themselves.
#ifndef SLIPWAY_SERVER_DEVICES_CAN_RUN_H_
#define SLIPWAY_SERVER_DEVICES_CAN_RUN_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/versions.h"
#include "core/target/target.h"

namespace slipway::server {

// What a program, or a session, needs of a device.
struct ProgramNeeds {
  Target target;  // Of a session that takes any: without devices.
  uint32_t abi = 1;
  uint32_t format = 1;            // Of its manifest.
  bool is_compiled_here = false;  // By a worker of this server.
  int benchmark = 0;              // Version of benchmarks that measuring it takes; 0: any.
  // Whatever programs it is going to load, the agent must serve it.
  bool is_session = false;
};

// What a device and its agent offer.
struct DeviceOffer {
  Target target;
  VersionRange abis{1, 1};
  VersionRange formats{1, 1};
  int max_session = 0;    // Highest version of sessions; 0: none.
  int max_benchmark = 0;  // Highest version of benchmarks (core/wire/benchmark_spec.h).
  // Takes no program but those that a worker of this server has compiled.
  bool is_compiled_only = false;

  friend bool operator==(const DeviceOffer&, const DeviceOffer&) = default;
};

// Pure. FAILED_PRECONDITION names what the device lacks, what each side has, and what to do.
absl::Status CheckCanRun(const ProgramNeeds& program, const DeviceOffer& device);

// A range as messages carry it: both ends 0 where it was left out, by peers that know version 1 alone.
// INVALID_ARGUMENT, with `what`, for what is no range.
absl::StatusOr<VersionRange> ReadVersionRange(int32_t lowest, int32_t highest,
                                              absl::string_view what);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_CAN_RUN_H_
