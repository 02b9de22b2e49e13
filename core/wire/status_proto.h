// Failures on the wire.
#ifndef SLIPWAY_CORE_WIRE_STATUS_PROTO_H_
#define SLIPWAY_CORE_WIRE_STATUS_PROTO_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/slipway/v1/job.pb.h"

namespace slipway {

// Bytes of a log kept with a failure, from its end.
inline constexpr size_t kMaxLogTailBytes = 64 << 10;

// REQUIRES: !status.ok(). The last kMaxLogTailBytes of `log` are kept; bytes
// that are not UTF-8 become '?'.
v1::JobError ToProto(const absl::Status& status, absl::string_view log);

// Code and message. A code that is OK or unknown becomes INTERNAL: a failure is
// never a success.
absl::Status FromProto(const v1::JobError& error);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_STATUS_PROTO_H_
