// Precisions on the wire.
#ifndef SLIPWAY_CORE_WIRE_PRECISION_PROTO_H_
#define SLIPWAY_CORE_WIRE_PRECISION_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/tensor/precision.h"
#include "proto/slipway/v1/graph.pb.h"

namespace slipway {

// REQUIRES: not int8, which ranges of values say on the wire.
v1::Precision ToProto(Precision precision);

// INVALID_ARGUMENT names a number that is none, and those that are.
absl::StatusOr<Precision> FromProto(v1::Precision proto);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_PRECISION_PROTO_H_
