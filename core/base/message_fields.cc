#include "core/base/message_fields.h"

namespace slipway {
namespace {

bool TakeVarint(absl::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

}  // namespace

bool TakeField(absl::string_view& bytes, MessageField& field) {
  absl::string_view rest = bytes;
  uint64_t key = 0;
  uint64_t size = 0;
  if (!TakeVarint(rest, key)) return false;
  field.number = key >> 3;
  field.contents.reset();
  switch (key & 7) {
    case 0: {
      uint64_t ignored = 0;
      if (!TakeVarint(rest, ignored)) return false;
      break;
    }
    case 1:
      size = 8;
      break;
    case 2:
      if (!TakeVarint(rest, size) || size > rest.size()) return false;
      field.contents = rest.substr(0, size);
      break;
    case 5:
      size = 4;
      break;
    default:
      return false;
  }
  if (size > rest.size()) return false;
  rest.remove_prefix(size);
  field.whole = bytes.substr(0, bytes.size() - rest.size());
  bytes = rest;
  return true;
}

}  // namespace slipway
