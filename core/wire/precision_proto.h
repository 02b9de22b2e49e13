// Precisions on the wire.
#ifndef SLIPWAY_CORE_WIRE_PRECISION_PROTO_H_
#define SLIPWAY_CORE_WIRE_PRECISION_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/tensor/dtype.h"
#include "proto/slipway/v1/graph.pb.h"

namespace slipway {

// REQUIRES: the type is f32, bf16 or f16.
v1::Precision ToProto(DataType precision);

// INVALID_ARGUMENT names a number that is none, and those that are.
absl::StatusOr<DataType> FromProto(v1::Precision proto);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_PRECISION_PROTO_H_
