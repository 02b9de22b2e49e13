#include "core/wire/tag_proto.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace slipway {

google::protobuf::RepeatedPtrField<v1::Tag> ToProto(absl::Span<const Tag> tags) {
  google::protobuf::RepeatedPtrField<v1::Tag> protos;
  for (const Tag& tag : tags) {
    v1::Tag& proto = *protos.Add();
    proto.set_key(tag.key);
    proto.set_value(tag.value);
  }
  return protos;
}

absl::StatusOr<std::vector<Tag>> FromProto(
    const google::protobuf::RepeatedPtrField<v1::Tag>& tags) {
  // Before any is copied.
  if (tags.size() > kMaxTags) {
    return absl::InvalidArgumentError(
        absl::StrCat(tags.size(), " tags are given; at most ", kMaxTags));
  }
  std::vector<Tag> read;
  for (const v1::Tag& tag : tags) read.push_back({.key = tag.key(), .value = tag.value()});
  return CheckTags(std::move(read));
}

bool HasTags(const google::protobuf::RepeatedPtrField<v1::Tag>& tags,
             absl::Span<const Tag> wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Tag& tag) {
    return std::any_of(tags.begin(), tags.end(), [&](const v1::Tag& proto) {
      return proto.key() == tag.key && proto.value() == tag.value;
    });
  });
}

}  // namespace slipway
