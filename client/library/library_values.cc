#include "client/library/library_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"

namespace slipway {

LibraryValues::LibraryValues(const Artifact& artifact)
    : artifact_(artifact),
      manifest_(artifact.manifest().proto()),
      taken_end_(artifact.manifest().spaces().front().arena_bytes),
      arena_bytes_(taken_end_) {}

const Blob& LibraryValues::BlobOf(const v1::Constant& constant) const {
  const absl::StatusOr<Digest> digest = FromProto(constant.blob());
  SLIPWAY_CHECK(digest.ok(), "the manifest was not checked");
  return artifact_.blob(*digest);
}

const v1::Buffer& LibraryValues::BufferOf(uint32_t value) const {
  return manifest_.buffers(static_cast<int>(manifest_.values(static_cast<int>(value)).buffer()));
}

int64_t LibraryValues::PlaceConstant(const v1::Constant& constant) {
  const auto [entry, is_new] =
      offset_of_.try_emplace(constant.blob().SerializeAsString(), weights_bytes_);
  if (is_new) {
    weights_.push_back(BlobOf(constant));
    weights_bytes_ = RoundUp(weights_bytes_ + weights_.back().size_bytes(), kBufferAlignment);
  }
  return entry->second + constant.offset();
}

void LibraryValues::Bind(uint32_t value, LibraryValue place) {
  places_[manifest_.values(static_cast<int>(value)).buffer()] = std::move(place);
}

absl::StatusOr<LibraryValue> LibraryValues::Of(uint32_t value) {
  const v1::Value& from = manifest_.values(static_cast<int>(value));
  const v1::Buffer& buffer = BufferOf(value);
  LibraryValue place;
  if (buffer.class_() == v1::Buffer::CLASS_STATIC) {
    place.offset = buffer.arena_offset();
  } else if (buffer.class_() == v1::Buffer::CLASS_CONSTANT) {
    place.place = LibraryValue::Place::kWeights;
    place.offset = PlaceConstant(manifest_.constants(static_cast<int>(buffer.constant())));
  } else {
    const auto found = places_.find(from.buffer());
    if (found == places_.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "value ", value, " lies in memory that is no input and no output of what is run"));
    }
    place = found->second;
  }
  place.offset += from.offset();
  place.type = artifact_.manifest().TypeOf(value);
  return place;
}

std::optional<int64_t> LibraryValues::Number(uint32_t value) const {
  const v1::Buffer& buffer = BufferOf(value);
  if (buffer.class_() != v1::Buffer::CLASS_CONSTANT) return std::nullopt;
  if (artifact_.manifest().TypeOf(value).dtype != DataType::kInt64) return std::nullopt;
  const v1::Constant& constant = manifest_.constants(static_cast<int>(buffer.constant()));
  const int64_t offset = constant.offset() + manifest_.values(static_cast<int>(value)).offset();
  int64_t number = 0;
  std::memcpy(&number, BlobOf(constant).bytes().data() + offset, sizeof(number));
  return number;
}

LibraryValue LibraryValues::TakeMemory(TensorType type) {
  LibraryValue place;
  place.offset = taken_end_;
  taken_end_ = RoundUp(taken_end_ + std::max<int64_t>(type.byte_size(), 1), kBufferAlignment);
  arena_bytes_ = std::max(arena_bytes_, taken_end_);
  place.type = std::move(type);
  return place;
}

uint32_t LibraryValues::Add(LibraryValue place) {
  added_.push_back(std::move(place));
  return static_cast<uint32_t>(manifest_.values_size()) + static_cast<uint32_t>(added_.size()) - 1;
}

absl::Status LibraryValues::AddTo(LibraryPlan& plan) {
  for (int i = 0; i < manifest_.values_size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(LibraryValue value, Of(static_cast<uint32_t>(i)));
    plan.values.push_back(std::move(value));
  }
  plan.values.insert(plan.values.end(), added_.begin(), added_.end());
  plan.weights = std::move(weights_);
  plan.weights_bytes = weights_bytes_;
  plan.arena_bytes = arena_bytes_;
  return absl::OkStatus();
}

}  // namespace slipway
