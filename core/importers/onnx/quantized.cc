// Operators of com.microsoft over quantized numbers: between DequantizeLinear and QuantizeLinear, or on integers.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/importers/onnx/composition.h"

namespace slipway {
namespace {

constexpr char kDomain[] = "com.microsoft.";
constexpr auto kFloat32 = static_cast<int64_t>(DataType::kFloat32);

// The real numbers of inputs `x` and, behind it, scale and zero point.
ValueId Real(Composition& node, int x) {
  return node.Make("DequantizeLinear", {node.input(x), node.input(x + 1), node.input(x + 2)});
}

// Makes output 0, quantized with the scale and the zero point at `scale`; without one it is of the type of `like`.
void Quantize(Composition& node, ValueId y, int scale, int like) {
  Attributes attributes;
  if (!node.has_input(scale + 1) && node.IsOfType(node.input(like), DataType::kInt8)) {
    attributes.Set("output_dtype", static_cast<int64_t>(DataType::kInt8));
  }
  node.MakeOutput(0, "QuantizeLinear", {y, node.input(scale), node.input(scale + 1)}, attributes);
}

constexpr char kAdd[] = "Add";
constexpr char kMul[] = "Mul";
template <const char* op>
void Binary(Composition& node) {
  Quantize(node, node.Make(op, {Real(node, 0), Real(node, 3)}), 6, 0);
}

constexpr char kAveragePool[] = "AveragePool";
constexpr char kGlobalAveragePool[] = "GlobalAveragePool";
constexpr char kLeakyRelu[] = "LeakyRelu";
constexpr char kSigmoid[] = "Sigmoid";
// Attributes but "channels_last" are those of the operator.
template <const char* op>
void Unary(Composition& node) {
  if (node.has("channels_last") && node.Int("channels_last") != 0) {
    return node.Unsupported("\"channels_last\" = 1");
  }
  Attributes attributes = node.attributes();
  attributes.Erase("channels_last");
  Quantize(node, node.Make(op, {Real(node, 0)}, attributes), 3, 0);
}

void QLinearSoftmax(Composition& node) {
  // Before opset 13 all dimensions from the axis on were one.
  const int64_t axis = node.Int("axis");
  const bool is_last = axis == -1 || node.RankOf(node.input(0)) == axis + 1;
  if (node.Int("opset") < 13 && !is_last) {
    return node.Unsupported(absl::StrCat("\"axis\" = ", axis, " in opset ", node.Int("opset")));
  }
  Quantize(node, node.Make("Softmax", {Real(node, 0)}, {{"axis", axis}}), 3, 0);
}

void QLinearConcat(Composition& node) {
  std::vector<ValueId> parts;
  for (int i = 2; i + 2 < node.num_inputs(); i += 3) parts.push_back(Real(node, i));
  if (parts.empty() || node.num_inputs() % 3 != 2) {
    return node.Fail(absl::StrCat(node.num_inputs(), " inputs are not 2 and some groups of 3"));
  }
  Quantize(node, node.Make("Concat", parts, node.attributes()), 0, 2);
}

void QLinearWhere(Composition& node) {
  Quantize(node, node.Make("Where", {node.input(0), Real(node, 1), Real(node, 4)}), 7, 1);
}

void QLinearConv(Composition& node) {
  if (node.Int("channels_last") != 0) return node.Unsupported("\"channels_last\" = 1");
  Attributes attributes = node.attributes();
  attributes.Erase("channels_last");
  std::vector<ValueId> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back(node.input(i));
  node.MakeOutput(0, "QLinearConv", inputs, attributes);
}

void QuantizeLinear(Composition& node) {
  node.MakeOutput(0, "QuantizeLinear", {node.input(0), node.input(1), node.input(2)},
                  node.attributes());
}
void DequantizeLinear(Composition& node) {
  node.MakeOutput(0, "DequantizeLinear", {node.input(0), node.input(1), node.input(2)},
                  node.attributes());
}

// Makes output 0: sums of products of integers, as real numbers, with a bias where there is one.
void Rescale(Composition& node, ValueId sums, ValueId a_scale, ValueId b_scale, ValueId bias) {
  const ValueId scale = node.Make("Mul", {a_scale, b_scale});
  const ValueId real = node.Make("Cast", {sums}, {{"to", kFloat32}});
  if (bias == kNoValue) {
    node.MakeOutput(0, "Mul", {real, scale});
  } else {
    node.MakeOutput(0, "Add", {node.Make("Mul", {real, scale}), bias});
  }
}

// Inputs: a, b, the scales of both, their zero points, bias.
void MatMulIntegerToFloat(Composition& node) {
  const ValueId sums =
      node.Make("MatMulInteger", {node.input(0), node.input(1), node.input(4), node.input(5)});
  Rescale(node, sums, node.input(2), node.input(3), node.input(6));
}

// Inputs: a, which is quantized here, b, the scale and zero point of b, bias.
void DynamicQuantizeMatMul(Composition& node) {
  const ValueId a = node.NewValue("a");
  const ValueId scale = node.NewValue("scale");
  const ValueId zero = node.NewValue("zero");
  node.MakeAll({a, scale, zero}, "DynamicQuantizeLinear", {node.input(0)});
  const ValueId sums = node.Make("MatMulInteger", {a, node.input(1), zero, node.input(3)});
  Rescale(node, sums, scale, node.input(2), node.input(4));
}

// Inputs: a, b, each with scale and zero point, c in integers of the product's scale, scale and zero point of the result,
// which is real without them.
void QGemm(Composition& node) {
  const auto operand = [&node](int i, const char* transpose) {
    if (node.Int(transpose) == 0) return node.input(i);
    return node.Make("Transpose", {node.input(i)}, {{"perm", std::vector<int64_t>{1, 0}}});
  };
  ValueId sums = node.Make(
      "MatMulInteger", {operand(0, "transA"), operand(3, "transB"), node.input(2), node.input(5)});
  if (node.has_input(6)) sums = node.Make("Add", {sums, node.input(6)});
  const ValueId scale = node.Make("Mul", {node.input(1), node.input(4)});
  const ValueId all = node.Make("Mul", {scale, node.Float(node.Float("alpha"))});
  const ValueId real = node.Make("Cast", {sums}, {{"to", kFloat32}});
  if (!node.has_input(7)) {
    node.MakeOutput(0, "Mul", {real, all});
  } else {
    Quantize(node, node.Make("Mul", {real, all}), 7, 0);
  }
}

// Unsigned numbers of `bits` that lie in bytes, the lowest ones first; each of the `rows` begins a byte.
std::vector<uint8_t> UnpackBits(const Tensor& packed, int64_t bits, int64_t rows, int64_t columns) {
  const auto bytes = packed.values<uint8_t>();
  const int64_t per_byte = 8 / bits;
  const int64_t row_bytes = (columns + per_byte - 1) / per_byte;
  std::vector<uint8_t> numbers;
  numbers.reserve(rows * columns);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const uint8_t byte = bytes[r * row_bytes + c / per_byte];
      numbers.push_back((byte >> (c % per_byte * bits)) & ((1 << bits) - 1));
    }
  }
  return numbers;
}

absl::StatusOr<Tensor> SmallIntegers(int64_t bits, Shape shape,
                                     const std::vector<uint8_t>& numbers) {
  const DataType dtype = bits == 2   ? DataType::kUint2
                         : bits == 4 ? DataType::kUint4
                                     : DataType::kUint8;
  return Tensor::FromBytes(
      {dtype, shape},
      absl::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size()));
}

// Inputs: a [.., K], the rows of b^T in blocks [N, blocks, bytes], a scale for each block, zero points, order, bias.
void MatMulNBits(Composition& node) {
  const int64_t bits = node.Int("bits");
  const int64_t block = node.Int("block_size");
  const int64_t rows = node.Int("N");
  const int64_t columns = node.Int("K");
  const Tensor* packed = node.constant(node.input(1));
  const Tensor* zeros = node.constant(node.input(3));
  if ((bits != 2 && bits != 4 && bits != 8) || block < 16 || block > (1 << 20) || rows < 1 ||
      columns < 1) {
    return node.Unsupported(
        absl::StrCat(bits, " bits, blocks of ", block, ", N = ", rows, " and K = ", columns));
  }
  if (node.has_input(4)) return node.Unsupported("an order of rows (input 4)");
  if (packed == nullptr || packed->dtype() != DataType::kUint8 ||
      (node.has_input(3) && (zeros == nullptr || zeros->dtype() != DataType::kUint8))) {
    return node.Unsupported("a matrix or zero points that are not constant and u8");
  }
  const int64_t blocks = (columns - 1) / block + 1;
  const auto fits = [rows](const Tensor& tensor, int64_t row_bytes) {
    return tensor.num_elements() / row_bytes == rows && tensor.num_elements() % row_bytes == 0;
  };
  const int64_t zero_bytes = (blocks * bits + 7) / 8;
  if (blocks > packed->num_elements() || !fits(*packed, blocks * (block * bits / 8)) ||
      (zeros != nullptr && !fits(*zeros, zero_bytes))) {
    return node.Fail(absl::StrCat("a matrix of ", packed->num_elements(), " bytes for N = ", rows,
                                  ", K = ", columns, " and blocks of ", block));
  }
  const auto weights =
      SmallIntegers(bits, {rows, blocks * block}, UnpackBits(*packed, bits, rows, blocks * block));
  const std::vector<uint8_t> middle(rows * blocks, static_cast<uint8_t>(1 << (bits - 1)));
  const auto points = SmallIntegers(
      bits, {rows, blocks}, zeros == nullptr ? middle : UnpackBits(*zeros, bits, rows, blocks));
  if (!weights.ok() || !points.ok()) return node.Fail("the packed matrix cannot be read");
  const ValueId scales = node.Make("Reshape", {node.input(2), node.Ints({rows, blocks})});
  ValueId b =
      node.Make("DequantizeLinear", {node.Constant(*weights), scales, node.Constant(*points)},
                {{"axis", int64_t{1}}, {"block_size", block}});
  if (blocks * block != columns) {
    b = node.Make("Slice", {b, node.Ints({0}), node.Ints({columns}), node.Ints({1})});
  }
  const ValueId transposed = node.Make("Transpose", {b}, {{"perm", std::vector<int64_t>{1, 0}}});
  if (node.has_input(5)) {
    node.MakeOutput(0, "Add", {node.Make("MatMul", {node.input(0), transposed}), node.input(5)});
  } else {
    node.MakeOutput(0, "MatMul", {node.input(0), transposed});
  }
}

}  // namespace

absl::Status AddQuantizedExpansions(Expansions& expansions) {
  const auto row = [](const char* op, Arity inputs, void (*expand)(Composition&),
                      std::vector<AttributeSchema> attributes = {}) {
    return ExpansionOf(absl::StrCat(kDomain, op), inputs, expand, std::move(attributes));
  };
  const AttributeSchema channels_last = IntAttribute("channels_last", 0);
  const AttributeSchema auto_pad = StringAttribute("auto_pad", "NOTSET");
  const auto required = [](const char* name) { return Required(IntAttribute(name, std::nullopt)); };
  return AddAll(
      expansions,
      {row("DequantizeLinear", {2, 3}, DequantizeLinear, {IntAttribute("axis", 1)}),
       row("DynamicQuantizeMatMul", {3, 5}, DynamicQuantizeMatMul),
       row("MatMulIntegerToFloat", {4, 7}, MatMulIntegerToFloat),
       row("MatMulNBits", {3, 6}, MatMulNBits,
           {IntAttribute("accuracy_level", 0), IntAttribute("bits", 4), required("block_size"),
            required("K"), required("N"), IntAttribute("weight_prepacked", 0)}),
       row("QGemm", {6, 9}, QGemm,
           {FloatAttribute("alpha", 1), IntAttribute("transA", 0), IntAttribute("transB", 0)}),
       row("QLinearAdd", {7, 8}, Binary<kAdd>),
       row("QLinearAveragePool", {4, 5}, Unary<kAveragePool>,
           {auto_pad, IntAttribute("ceil_mode", 0), channels_last,
            IntAttribute("count_include_pad", 0), Required(IntsAttribute("kernel_shape")),
            IntsAttribute("pads"), IntsAttribute("strides")}),
       row("QLinearConcat", {5, kVariadic}, QLinearConcat, {required("axis")}),
       row("QLinearConv", {8, 9}, QLinearConv,
           {auto_pad, channels_last, IntsAttribute("dilations"), IntAttribute("group", 1),
            IntsAttribute("kernel_shape"), IntsAttribute("pads"), IntsAttribute("strides")}),
       row("QLinearGlobalAveragePool", 5, Unary<kGlobalAveragePool>, {channels_last}),
       row("QLinearLeakyRelu", {4, 5}, Unary<kLeakyRelu>, {FloatAttribute("alpha", 0.01f)}),
       row("QLinearMul", {7, 8}, Binary<kMul>), row("QLinearSigmoid", {4, 5}, Unary<kSigmoid>),
       row("QLinearSoftmax", 5, QLinearSoftmax, {IntAttribute("axis", -1), required("opset")}),
       row("QLinearWhere", 9, QLinearWhere),
       row("QuantizeLinear", {2, 3}, QuantizeLinear, {IntAttribute("axis", 1)})});
}

}  // namespace slipway
