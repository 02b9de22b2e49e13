#include "core/graph/graph_digest.h"

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace slipway {
namespace {

// Stands where a 0 or 1 stands behind a type that is not quantized.
constexpr int64_t kQuantized = 2;

// Writes the graph as an unambiguous sequence of bytes: every integer takes eight bytes, every
// string stands behind its length, every alternative behind its number.
class DigestWriter {
 public:
  explicit DigestWriter(DigestNames names) : names_(names) {}

  void Write(const Graph& graph) {
    std::vector<int64_t> numbers(graph.values.size(), -1);
    int64_t next = 0;
    Text(names_ == DigestNames::kIncluded ? graph.name : "");
    Int(graph.opset);
    Symbols(graph.symbols);
    Constraints(graph.constraints);
    Int(static_cast<int64_t>(graph.inputs.size()));
    for (const ValueId id : graph.inputs) Define(graph, id, numbers, next);
    Int(static_cast<int64_t>(graph.nodes.size()));
    for (const Node& node : graph.nodes) {
      Text(node.op);
      Text(names_ == DigestNames::kIncluded ? node.name : "");
      Int(static_cast<int64_t>(node.inputs.size()));
      for (const ValueId id : node.inputs) Mention(graph, id, numbers, next);
      Int(static_cast<int64_t>(node.outputs.size()));
      for (const ValueId id : node.outputs) {
        if (id == kNoValue) {
          Int(kNoValue);
        } else {
          Define(graph, id, numbers, next);
        }
      }
      Int(static_cast<int64_t>(node.attributes.size()));
      for (const auto& [name, value] : node.attributes) {
        Text(name);
        Write(value);
      }
    }
    Int(static_cast<int64_t>(graph.outputs.size()));
    for (const ValueId id : graph.outputs) Mention(graph, id, numbers, next);
  }

  Digest Finish() { return hasher_.Finish(); }

 private:
  void Int(int64_t value) {
    char bytes[8];
    for (int i = 0; i < 8; ++i)
      bytes[i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
    hasher_.Update(absl::string_view(bytes, sizeof bytes));
  }
  void Text(absl::string_view text) {
    Int(static_cast<int64_t>(text.size()));
    hasher_.Update(text);
  }
  void Float(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    Int(bits);
  }
  // Negative, so that it is told from the number of inputs, which follows where there are none.
  void Symbols(const std::vector<Symbol>& symbols) {
    if (symbols.empty()) return;
    Int(-static_cast<int64_t>(symbols.size()));
    for (const Symbol& symbol : symbols) {
      Text(symbol.name);
      Int(symbol.min);
      Int(symbol.max);
    }
  }
  // Less than any number of symbols, so that it is told from these.
  void Constraints(const std::vector<Constraint>& constraints) {
    if (constraints.empty()) return;
    Int(-int64_t{kMaxSymbols} - static_cast<int64_t>(constraints.size()));
    for (const Constraint& constraint : constraints) {
      Text(names_ == DigestNames::kIncluded ? constraint.user : "");
      Int(static_cast<int64_t>(constraint.any_of.size()));
      for (const Equality& equality : constraint.any_of) {
        Text(ToString(equality.left));
        Text(ToString(equality.right));
      }
    }
  }
  void Extent(const Dimension& dimension) {
    if (dimension.is_known()) return Int(dimension.extent());
    Int(dimension.is_unknown() ? -1 : -2);
    if (!dimension.is_unknown()) Text(ToString(dimension.expression()));
  }
  void Type(const ValueType& type) {
    Int(static_cast<int64_t>(type.dtype()));
    Int(type.rank());
    for (int d = 0; d < type.rank(); ++d) Extent(type.dimension(d));
    if (!type.quantization().has_value()) return;
    const Quantization& quantization = *type.quantization();
    Int(kQuantized);
    Int(quantization.axis.value_or(-1));
    Int(static_cast<int64_t>(quantization.scales.size()));
    for (const float scale : quantization.scales) Float(scale);
    for (const int64_t zero : quantization.zero_points) Int(zero);
  }
  void Constant(const Tensor& tensor) {
    Type(tensor.type());
    Text(tensor.bytes());
  }

  // Numbers a value by its first appearance and writes all that is known of it.
  void Define(const Graph& graph, ValueId id, std::vector<int64_t>& numbers, int64_t& next) {
    const Value& value = graph.values[id];
    numbers[id] = next++;
    Int(numbers[id]);
    Text(names_ == DigestNames::kIncluded ? value.name : "");
    Int(value.type.has_value());
    if (value.type.has_value()) Type(*value.type);
    Int(value.constant.has_value());
    if (value.constant.has_value()) Constant(*value.constant);
  }
  void Mention(const Graph& graph, ValueId id, std::vector<int64_t>& numbers, int64_t& next) {
    if (id == kNoValue) {
      Int(kNoValue);
    } else if (numbers[id] < 0) {
      Define(graph, id, numbers, next);
    } else {
      Int(numbers[id]);
    }
  }

  void Write(const Attribute& attribute) {
    Int(static_cast<int64_t>(attribute.index()));
    switch (KindOf(attribute)) {
      case AttributeKind::kInt:
        return Int(std::get<int64_t>(attribute));
      case AttributeKind::kFloat:
        return Float(std::get<float>(attribute));
      case AttributeKind::kString:
        return Text(std::get<std::string>(attribute));
      case AttributeKind::kInts: {
        const auto& list = std::get<std::vector<int64_t>>(attribute);
        Int(static_cast<int64_t>(list.size()));
        for (const int64_t value : list) Int(value);
        return;
      }
      case AttributeKind::kFloats: {
        const auto& list = std::get<std::vector<float>>(attribute);
        Int(static_cast<int64_t>(list.size()));
        for (const float value : list) Float(value);
        return;
      }
      case AttributeKind::kStrings: {
        const auto& list = std::get<std::vector<std::string>>(attribute);
        Int(static_cast<int64_t>(list.size()));
        for (const std::string& value : list) Text(value);
        return;
      }
      case AttributeKind::kTensor:
        return Constant(std::get<Tensor>(attribute));
      case AttributeKind::kGraph:
        return Write(*std::get<std::shared_ptr<const Graph>>(attribute));
    }
  }

  const DigestNames names_;
  Hasher hasher_;
};

}  // namespace

Digest DigestOf(const Graph& graph, DigestNames names) {
  DigestWriter writer(names);
  writer.Write(graph);
  return writer.Finish();
}

}  // namespace slipway
