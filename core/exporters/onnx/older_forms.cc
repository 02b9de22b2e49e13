#include "core/exporters/onnx/older_forms.h"

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

// The first opset whose form of the operator means what ours does, where that is none of the first.
struct FirstOpset {
  const char* op;
  int opset;
};
constexpr FirstOpset kFirstOpsets[] = {
    {"AffineGrid", 20},
    {"Attention", 24},
    {"AveragePool", 19},
    {"BitCast", 26},
    {"CausalConvWithState", 27},
    {"CumProd", 26},
    {"DFT", 20},
    {"DeformConv", 19},
    {"Gelu", 20},
    {"GridSample", 20},
    {"GroupNormalization", 21},
    {"ImageDecoder", 20},
    {"LinearAttention", 27},
    {"RMSNormalization", 23},
    {"RegexFullMatch", 20},
    {"Resize", 19},
    {"RotaryEmbedding", 23},
    {"StringConcat", 20},
    {"StringSplit", 20},
    {"SwiGLU", 28},
    {"Swish", 24},
    {"TensorScatter", 24},
};

// Attributes that came later than their operator.
struct LaterAttribute {
  const char* op;
  const char* attribute;
  int opset;
};
constexpr LaterAttribute kLaterAttributes[] = {
    {"Attention", "left_window_size", 25},
    {"Attention", "right_window_size", 25},
    {"Cast", "round_mode", 24},
    {"Cast", "saturate", 19},
    {"CastLike", "round_mode", 24},
    {"CastLike", "saturate", 19},
    {"DequantizeLinear", "block_size", 21},
    {"DequantizeLinear", "output_dtype", 23},
    {"QuantizeLinear", "block_size", 21},
    {"QuantizeLinear", "output_dtype", 21},
    {"QuantizeLinear", "precision", 23},
    {"QuantizeLinear", "saturate", 19},
    {"Range", "stash_type", 27},
    {"SpaceToDepth", "mode", 28},
};

const Attribute* DefaultOf(const OperatorSchema& schema, const std::string& name) {
  for (const AttributeSchema& attribute : schema.attributes) {
    if (attribute.name != name) continue;
    return attribute.default_value.has_value() ? &*attribute.default_value : nullptr;
  }
  return nullptr;
}

}  // namespace

std::string LackedBy(int opset, const Node& node, const OperatorSchema& schema) {
  for (const FirstOpset& row : kFirstOpsets) {
    if (node.op == row.op && opset < row.opset) {
      return absl::StrCat("the operator as it is since opset ", row.opset);
    }
  }
  for (const LaterAttribute& row : kLaterAttributes) {
    if (node.op != row.op || opset >= row.opset) continue;
    const Attribute* value = node.attributes.Find(row.attribute);
    const Attribute* neutral = DefaultOf(schema, row.attribute);
    if (value != nullptr && (neutral == nullptr || !Equal(*value, *neutral))) {
      return absl::StrCat("the attribute \"", row.attribute, "\", which came with opset ",
                          row.opset);
    }
  }
  return "";
}

bool IsOmitted(int opset, const std::string& op, const std::string& attribute) {
  for (const LaterAttribute& row : kLaterAttributes) {
    if (op == row.op && attribute == row.attribute) return opset < row.opset;
  }
  return false;
}

bool HasType(int opset, DataType dtype) {
  switch (dtype) {
    case DataType::kFloat8E4M3Fn:
    case DataType::kFloat8E4M3FnUz:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FnUz:
      return opset >= 19;
    case DataType::kUint4:
    case DataType::kInt4:
      return opset >= 21;
    case DataType::kFloat4E2M1:
      return opset >= 23;
    case DataType::kFloat8E8M0:
      return opset >= 24;
    case DataType::kUint2:
    case DataType::kInt2:
      return opset >= 25;
    case DataType::kFloat6E2M3:
    case DataType::kFloat6E3M2:
      return opset >= 28;
    default:
      return true;
  }
}

int IrVersion(int opset) {
  if (opset <= 18) return 8;
  if (opset <= 20) return 9;
  if (opset <= 22) return 10;
  if (opset <= 23) return 11;
  if (opset <= 24) return 12;
  return opset <= 27 ? 13 : 14;
}

}  // namespace slipway
