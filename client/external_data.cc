#include "client/external_data.h"

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_set.h"

namespace slipway {
namespace {

// Bodies of If and Loop in each other; deeper than any model is.
constexpr int kMaxDepth = 64;

// The messages of onnx.proto on the way to a tensor.
enum class Message { kModel, kGraph, kNode, kAttribute, kTensor, kSparseTensor, kFunction };

struct Edge {
  Message from;
  uint64_t field;
  Message to;
};
constexpr Edge kEdges[] = {
    {Message::kModel, 7, Message::kGraph},
    {Message::kModel, 25, Message::kFunction},
    {Message::kGraph, 1, Message::kNode},
    {Message::kGraph, 5, Message::kTensor},
    {Message::kGraph, 15, Message::kSparseTensor},
    {Message::kFunction, 7, Message::kNode},
    {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},
    {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 10, Message::kTensor},
    {Message::kAttribute, 11, Message::kGraph},
    {Message::kAttribute, 22, Message::kSparseTensor},
    {Message::kAttribute, 23, Message::kSparseTensor},
    {Message::kSparseTensor, 1, Message::kTensor},
    {Message::kSparseTensor, 2, Message::kTensor},
};
constexpr uint64_t kTensorExternalData = 13;  // StringStringEntryProto: key = 1, value = 2.

std::optional<Message> Follow(Message from, uint64_t field) {
  for (const Edge& edge : kEdges) {
    if (edge.from == from && edge.field == field) return edge.to;
  }
  return std::nullopt;
}

// One field: its number, and its bytes if it has a length.
struct Field {
  uint64_t number = 0;
  bool has_bytes = false;
  absl::string_view bytes;
};

// Takes a varint off the front of `bytes`; false at the end or where none is.
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

// Takes a field off the front of `bytes`; false at the end or where none is.
bool TakeField(absl::string_view& bytes, Field& field) {
  uint64_t key = 0;
  if (!TakeVarint(bytes, key)) return false;
  field = {.number = key >> 3};
  uint64_t size = 0;
  switch (key & 7) {
    case 0: {
      uint64_t ignored = 0;
      return TakeVarint(bytes, ignored);
    }
    case 1:
      size = 8;
      break;
    case 2:
      if (!TakeVarint(bytes, size)) return false;
      field.has_bytes = true;
      break;
    case 5:
      size = 4;
      break;
    default:
      return false;
  }
  if (size > bytes.size()) return false;
  if (field.has_bytes) field.bytes = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

class Scan {
 public:
  explicit Scan(size_t max_locations) : max_locations_(max_locations) {}

  void Visit(Message message, absl::string_view bytes, int depth) {
    if (depth > kMaxDepth) return;
    Field field;
    while (locations_.size() < max_locations_ && TakeField(bytes, field)) {
      if (!field.has_bytes) continue;
      if (message == Message::kTensor) {
        if (field.number == kTensorExternalData) VisitEntry(field.bytes);
      } else if (const std::optional<Message> to = Follow(message, field.number)) {
        Visit(*to, field.bytes, depth + 1);
      }
    }
  }

  std::vector<std::string> Take() && { return std::move(locations_); }

 private:
  void VisitEntry(absl::string_view bytes) {
    absl::string_view key, value;
    Field field;
    while (TakeField(bytes, field)) {
      if (field.has_bytes && field.number == 1) key = field.bytes;
      if (field.has_bytes && field.number == 2) value = field.bytes;
    }
    if (key == "location" && seen_.insert(value).second) {
      locations_.push_back(std::string(value));
    }
  }

  const size_t max_locations_;
  std::vector<std::string> locations_;
  absl::flat_hash_set<absl::string_view> seen_;  // Parts of the model.
};

}  // namespace

std::vector<std::string> FindExternalData(absl::string_view model, size_t max_locations) {
  Scan scan(max_locations);
  scan.Visit(Message::kModel, model, 0);
  return std::move(scan).Take();
}

}  // namespace slipway
