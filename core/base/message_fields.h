// The fields of a serialized protocol buffer, without its descriptor and without copying it.
#ifndef SLIPWAY_CORE_BASE_MESSAGE_FIELDS_H_
#define SLIPWAY_CORE_BASE_MESSAGE_FIELDS_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace slipway {

// One field: all of it, and what it holds if that has a length. Views of the message's bytes.
struct MessageField {
  uint64_t number = 0;
  absl::string_view whole;
  std::optional<absl::string_view> contents;
};

// Takes a field off the front of `bytes`, which may be anything; false, and nothing taken, at the end or where none is
// (Protocol Buffers, "Encoding"; groups are none).
bool TakeField(absl::string_view& bytes, MessageField& field);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_MESSAGE_FIELDS_H_
