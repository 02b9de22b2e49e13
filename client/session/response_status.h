// What a device says of a request, as a Status.
#ifndef SLIPWAY_CLIENT_SESSION_RESPONSE_STATUS_H_
#define SLIPWAY_CLIENT_SESSION_RESPONSE_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// OK for code 0; a code that is unknown is INTERNAL. The message is the device's, whole; the end of a runner's log goes
// along (DeviceLogOf).
absl::Status ErrorOf(const v1::SessionResponse& response);

// The end of the log of the runner that an error ended; empty for other errors.
std::string DeviceLogOf(const absl::Status& status);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_RESPONSE_STATUS_H_
