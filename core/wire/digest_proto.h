// Digest on the wire.
#ifndef SLIPWAY_CORE_WIRE_DIGEST_PROTO_H_
#define SLIPWAY_CORE_WIRE_DIGEST_PROTO_H_

#include "absl/status/statusor.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/blob.pb.h"

namespace slipway {

v1::Digest ToProto(const Digest& digest);

// INVALID_ARGUMENT when it is not set or malformed.
absl::StatusOr<Digest> FromProto(const v1::Digest& proto);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_DIGEST_PROTO_H_
