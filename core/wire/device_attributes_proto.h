// What selectors know of a device, from what its agent and administrators say of it.
#ifndef SLIPWAY_CORE_WIRE_DEVICE_ATTRIBUTES_PROTO_H_
#define SLIPWAY_CORE_WIRE_DEVICE_ATTRIBUTES_PROTO_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/selector/device_attributes.h"
#include "core/selector/labels.h"
#include "google/protobuf/repeated_field.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway {

// INVALID_ARGUMENT as CheckLabel, for a key that comes twice, and for more than kMaxLabels.
absl::StatusOr<Labels> FromProto(const google::protobuf::RepeatedPtrField<v1::Label>& labels);
void ToProto(const Labels& labels, google::protobuf::RepeatedPtrField<v1::Label>* proto);

// INVALID_ARGUMENT names what is negative, too much, or of no meaning. Entries of enumerations that are newer than this protocol are
// let pass: they are not known.
absl::Status CheckInventory(const v1::DeviceInventory& inventory);

// `given` are the labels of administrators, which go before the description's. A target that does not parse, and labels of the
// description that are none, are left out.
DeviceAttributes AttributesOf(const v1::DeviceDescription& device, const Labels& given);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_DEVICE_ATTRIBUTES_PROTO_H_
