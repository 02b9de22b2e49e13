#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/digest.h"
#include "core/graph/text.h"
#include "core/graph/text_elements.h"
#include "core/graph/text_lexer.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

using text_internal::FormatElement;
using text_internal::FormatFloat;
using text_internal::IsPlainName;
using text_internal::Quote;

// From this many equal elements on, a tensor is written as "splat".
constexpr int64_t kSplatElements = 5;

std::string NameText(absl::string_view name) {
  return IsPlainName(name) ? std::string(name) : Quote(name);
}

std::string ValueText(absl::string_view name) {
  const bool plain =
      !name.empty() && name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$/") ==
                           absl::string_view::npos;
  return absl::StrCat("%", plain ? std::string(name) : Quote(name));
}

bool IsSplat(const Tensor& tensor, int64_t element_bytes) {
  const absl::string_view bytes = tensor.bytes();
  // Shifted by one element it must look the same.
  return tensor.num_elements() >= kSplatElements &&
         bytes.substr(element_bytes) == bytes.substr(0, bytes.size() - element_bytes);
}

std::string TypeText(const ValueType& type) {
  std::string text = ToString(type);
  if (!type.quantization().has_value()) return text;
  const Quantization& quantization = *type.quantization();
  absl::StrAppend(&text, " quantized {");
  if (quantization.axis.has_value()) absl::StrAppend(&text, "axis = ", *quantization.axis, ", ");
  absl::StrAppend(&text, "scales = [",
                  absl::StrJoin(quantization.scales, ", ",
                                [](std::string* out, float scale) {
                                  absl::StrAppend(out, FormatFloat(scale));
                                }),
                  "], zeros = [", absl::StrJoin(quantization.zero_points, ", "), "]}");
  return text;
}

std::string SymbolsText(const std::vector<Symbol>& symbols) {
  if (symbols.empty()) return "";
  return absl::StrCat("[",
                      absl::StrJoin(symbols, ", ",
                                    [](std::string* out, const Symbol& symbol) {
                                      absl::StrAppend(out, symbol.name, " in ", symbol.min, "..",
                                                      symbol.max);
                                    }),
                      "] ");
}

// A line for each, since there may be many.
std::string ConstraintsText(const std::vector<Constraint>& constraints, const std::string& indent) {
  std::string text;
  for (const Constraint& constraint : constraints) {
    absl::StrAppend(&text, indent, "  require ",
                    absl::StrJoin(constraint.any_of, " | ",
                                  [](std::string* out, const Equality& equality) {
                                    absl::StrAppend(out, ToString(equality.left), " = ",
                                                    ToString(equality.right));
                                  }),
                    " ", Quote(constraint.user), "\n");
  }
  return text;
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string Write(const Graph& graph, const std::string& indent) {
    std::string out = absl::StrCat("graph ", Quote(graph.name), " opset ", graph.opset, " ",
                                   SymbolsText(graph.symbols), "(");
    absl::StrAppend(&out, absl::StrJoin(graph.inputs, ", ", [&](std::string* o, ValueId id) {
      const Value& value = graph.values[id];
      absl::StrAppend(o, ValueText(value.name));
      if (value.type.has_value()) absl::StrAppend(o, ": ", TypeText(*value.type));
    }));
    absl::StrAppend(&out, ") -> (", Operands(graph, graph.outputs), ") {\n",
                    ConstraintsText(graph.constraints, indent));

    std::vector<bool> written(graph.values.size(), false);
    const auto write_constant = [&](ValueId id) {
      if (id == kNoValue || written[id] || !graph.values[id].constant.has_value()) return;
      written[id] = true;
      const Value& value = graph.values[id];
      absl::StrAppend(&out, indent, "  const ", ValueText(value.name), ": ",
                      TypeText(value.type.value_or(value.constant->type())), " = ",
                      Contents(*value.constant), "\n");
    };
    for (const Node& node : graph.nodes) {
      for (const ValueId id : node.inputs) write_constant(id);
      absl::StrAppend(&out, indent, "  ", NodeText(graph, node, indent), "\n");
    }
    for (size_t id = 0; id < graph.values.size(); ++id) write_constant(static_cast<ValueId>(id));
    absl::StrAppend(&out, indent, "}");
    return out;
  }

 private:
  static std::string Operands(const Graph& graph, const std::vector<ValueId>& ids) {
    return absl::StrJoin(ids, ", ", [&graph](std::string* out, ValueId id) {
      absl::StrAppend(out, id == kNoValue ? "_" : ValueText(graph.values[id].name));
    });
  }

  std::string NodeText(const Graph& graph, const Node& node, const std::string& indent) {
    std::string out = absl::StrCat(Operands(graph, node.outputs), " = ", NameText(node.op));
    if (!node.name.empty()) absl::StrAppend(&out, " ", Quote(node.name), " ");
    absl::StrAppend(&out, "(", Operands(graph, node.inputs), ")");
    if (!node.attributes.empty()) {
      absl::StrAppend(&out, " {",
                      absl::StrJoin(node.attributes, ", ",
                                    [&](std::string* o, const Attributes::Entry& entry) {
                                      absl::StrAppend(o, NameText(entry.first), " = ",
                                                      AttributeText(entry.second, indent));
                                    }),
                      "}");
    }
    bool any_typed = false;
    for (const ValueId id : node.outputs) {
      any_typed |= id != kNoValue && graph.values[id].type.has_value();
    }
    if (any_typed) {
      absl::StrAppend(&out, " : ",
                      absl::StrJoin(node.outputs, ", ", [&graph](std::string* o, ValueId id) {
                        const bool typed = id != kNoValue && graph.values[id].type.has_value();
                        absl::StrAppend(o, typed ? TypeText(*graph.values[id].type) : "?");
                      }));
    }
    return out;
  }

  std::string AttributeText(const Attribute& attribute, const std::string& indent) {
    switch (KindOf(attribute)) {
      case AttributeKind::kInt:
        return absl::StrCat(std::get<int64_t>(attribute));
      case AttributeKind::kFloat:
        return FormatFloat(std::get<float>(attribute));
      case AttributeKind::kString:
        return Quote(std::get<std::string>(attribute));
      case AttributeKind::kInts: {
        const auto& list = std::get<std::vector<int64_t>>(attribute);
        return absl::StrCat(list.empty() ? "ints" : "", "[", absl::StrJoin(list, ", "), "]");
      }
      case AttributeKind::kFloats: {
        const auto& list = std::get<std::vector<float>>(attribute);
        return absl::StrCat(list.empty() ? "floats" : "", "[",
                            absl::StrJoin(list, ", ",
                                          [](std::string* out, float value) {
                                            absl::StrAppend(out, FormatFloat(value));
                                          }),
                            "]");
      }
      case AttributeKind::kStrings: {
        const auto& list = std::get<std::vector<std::string>>(attribute);
        return absl::StrCat(list.empty() ? "strings" : "", "[",
                            absl::StrJoin(list, ", ",
                                          [](std::string* out, const std::string& value) {
                                            absl::StrAppend(out, Quote(value));
                                          }),
                            "]");
      }
      case AttributeKind::kTensor: {
        const Tensor& tensor = std::get<Tensor>(attribute);
        return absl::StrCat(ToString(tensor.type()), " ", Contents(tensor));
      }
      case AttributeKind::kGraph:
        return Write(*std::get<std::shared_ptr<const Graph>>(attribute), indent + "  ");
    }
    return "";
  }

  std::string Contents(const Tensor& tensor) {
    if (tensor.num_elements() > options_.max_elements) {
      const Digest digest = Digest::Of(tensor.bytes());
      if (options_.elided != nullptr) options_.elided->emplace(digest.hex(), tensor);
      return absl::StrCat("#", digest.ToString());
    }
    if (tensor.dtype() == DataType::kString) {
      return absl::StrCat("{",
                          absl::StrJoin(StringsIn(tensor), ", ",
                                        [](std::string* out, absl::string_view string) {
                                          absl::StrAppend(out, Quote(string));
                                        }),
                          "}");
    }
    const int64_t element_bytes = ByteSize(tensor.dtype());
    if (!text_internal::HasNumericText(tensor.dtype())) {
      return absl::StrCat("hex \"", absl::BytesToHexString(tensor.bytes()), "\"");
    }
    if (IsSplat(tensor, element_bytes)) {
      return absl::StrCat("splat ",
                          FormatElement(tensor.dtype(), tensor.bytes().substr(0, element_bytes)));
    }
    std::string out = "{";
    for (int64_t at = 0; at < tensor.byte_size(); at += element_bytes) {
      if (at != 0) out += ", ";
      out += FormatElement(tensor.dtype(), tensor.bytes().substr(at, element_bytes));
    }
    return out + "}";
  }

  const PrintOptions& options_;
};

}  // namespace

std::string Print(const Graph& graph, const PrintOptions& options) {
  return absl::StrCat(Printer(options).Write(graph, ""), "\n");
}

}  // namespace slipway
