#include "client/external_data.h"

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "core/base/message_fields.h"

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

class Scan {
 public:
  explicit Scan(size_t max_locations) : max_locations_(max_locations) {}

  void Visit(Message message, absl::string_view bytes, int depth) {
    if (depth > kMaxDepth) return;
    MessageField field;
    while (locations_.size() < max_locations_ && TakeField(bytes, field)) {
      if (!field.contents.has_value()) continue;
      if (message == Message::kTensor) {
        if (field.number == kTensorExternalData) VisitEntry(*field.contents);
      } else if (const std::optional<Message> to = Follow(message, field.number)) {
        Visit(*to, *field.contents, depth + 1);
      }
    }
  }

  std::vector<std::string> Take() && { return std::move(locations_); }

 private:
  void VisitEntry(absl::string_view bytes) {
    absl::string_view key, value;
    MessageField field;
    while (TakeField(bytes, field)) {
      if (field.contents.has_value() && field.number == 1) key = *field.contents;
      if (field.contents.has_value() && field.number == 2) value = *field.contents;
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
