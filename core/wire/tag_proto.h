// Tags on the wire.
#ifndef SLIPWAY_CORE_WIRE_TAG_PROTO_H_
#define SLIPWAY_CORE_WIRE_TAG_PROTO_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/tag.h"
#include "google/protobuf/repeated_field.h"
#include "proto/slipway/v1/tag.pb.h"

namespace slipway {

google::protobuf::RepeatedPtrField<v1::Tag> ToProto(absl::Span<const Tag> tags);

// Sorted by key. Errors of CheckTags.
absl::StatusOr<std::vector<Tag>> FromProto(const google::protobuf::RepeatedPtrField<v1::Tag>& tags);

// Whether each of `wanted` is among `tags`.
bool HasTags(const google::protobuf::RepeatedPtrField<v1::Tag>& tags, absl::Span<const Tag> wanted);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_TAG_PROTO_H_
