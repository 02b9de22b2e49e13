#include "core/importers/onnx/inside_tensors.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/message_fields.h"
#include "core/importers/onnx/limits.h"

namespace slipway {
namespace {

// Deeper than any model is; what is deeper is left as it is.
constexpr int kMaxDepth = 64;

// The messages of onnx.proto on the way to a tensor.
enum class Message { kModel, kGraph, kFunction, kNode, kAttribute, kTensor };

struct Edge {
  Message from;
  uint64_t field;
  Message to;
};
constexpr Edge kEdges[] = {
    {Message::kModel, 7, Message::kGraph},      {Message::kModel, 25, Message::kFunction},
    {Message::kGraph, 1, Message::kNode},       {Message::kGraph, 5, Message::kTensor},
    {Message::kFunction, 7, Message::kNode},    {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor}, {Message::kAttribute, 6, Message::kGraph},
};
constexpr uint64_t kRawData = 9;
constexpr uint64_t kExternalData = 13;
constexpr uint64_t kDataLocation = 14;
constexpr int kLengthDelimited = 2;

std::optional<Message> Follow(Message from, uint64_t field) {
  for (const Edge& edge : kEdges) {
    if (edge.from == from && edge.field == field) return edge.to;
  }
  return std::nullopt;
}

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

void AppendContents(uint64_t field, absl::string_view contents, std::string& out) {
  AppendVarint(field << 3 | kLengthDelimited, out);
  AppendVarint(contents.size(), out);
  absl::StrAppend(&out, contents);
}

class Rewriter {
 public:
  explicit Rewriter(absl::string_view model) : model_(model) {}

  // The message, shortened.
  std::string Rewrite(Message message, absl::string_view bytes, int depth) const {
    if (message == Message::kTensor) return RewriteTensor(bytes);
    std::string out;
    MessageField field;
    while (TakeField(bytes, field)) {
      const std::optional<Message> inner = Follow(message, field.number);
      if (inner.has_value() && field.contents.has_value() && depth < kMaxDepth &&
          static_cast<int64_t>(field.contents->size()) >= kLargeTensorBytes) {
        AppendContents(field.number, Rewrite(*inner, *field.contents, depth + 1), out);
      } else {
        absl::StrAppend(&out, field.whole);
      }
    }
    absl::StrAppend(&out, bytes);  // What is no field is for the parser to refuse.
    return out;
  }

 private:
  // Where data is told in more than one way, or not whole, the tensor stays as it is.
  std::string RewriteTensor(const absl::string_view bytes) const {
    std::string out;
    std::optional<absl::string_view> data;
    absl::string_view rest = bytes;
    MessageField field;
    while (TakeField(rest, field)) {
      if (field.number == kExternalData || field.number == kDataLocation) return std::string(bytes);
      if (field.number != kRawData) {
        absl::StrAppend(&out, field.whole);
        continue;
      }
      if (data.has_value() || !field.contents.has_value()) return std::string(bytes);
      data = field.contents;
    }
    if (!rest.empty() || !data.has_value() ||
        static_cast<int64_t>(data->size()) < kLargeTensorBytes) {
      return std::string(bytes);
    }
    AppendEntry("location", kInsideModel, out);
    AppendEntry("offset", absl::StrCat(data->data() - model_.data()), out);
    AppendEntry("length", absl::StrCat(data->size()), out);
    AppendVarint(kDataLocation << 3, out);
    AppendVarint(1, out);  // EXTERNAL
    return out;
  }

  static void AppendEntry(absl::string_view key, absl::string_view value, std::string& out) {
    std::string entry;
    AppendContents(1, key, entry);
    AppendContents(2, value, entry);
    AppendContents(kExternalData, entry, out);
  }

  const absl::string_view model_;
};

}  // namespace

std::string WithLargeTensorsInside(absl::string_view model) {
  return Rewriter(model).Rewrite(Message::kModel, model, 0);
}

}  // namespace slipway
