// From MXNet's operators on tensors to ours. What each means is told in MXNet's operator reference (1.9).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/importers/nnvm_json/mxnet_node.h"

namespace slipway {
namespace {

using Values = std::vector<ValueId>;

// Operators that take the same inputs here and there, by name.
struct Renamed {
  const char* theirs;
  const char* ours;
};
constexpr Renamed kRenamed[] = {
    {"BlockGrad", "Identity"},
    {"Dropout", "Identity"},
    {"ElementWiseSum", "Sum"},
    {"LinearRegressionOutput", "Identity"},
    {"LogisticRegressionOutput", "Sigmoid"},
    {"MAERegressionOutput", "Identity"},
    {"_Div", "Div"},
    {"_Minus", "Sub"},
    {"_Mul", "Mul"},
    {"_Plus", "Add"},
    {"_copy", "Identity"},
    {"_div", "Div"},
    {"_maximum", "Max"},
    {"_minimum", "Min"},
    {"_minus", "Sub"},
    {"_mul", "Mul"},
    {"_plus", "Add"},
    {"_power", "Pow"},
    {"abs", "Abs"},
    {"add_n", "Sum"},
    {"arccos", "Acos"},
    {"arccosh", "Acosh"},
    {"arcsin", "Asin"},
    {"arcsinh", "Asinh"},
    {"arctan", "Atan"},
    {"arctanh", "Atanh"},
    {"broadcast_add", "Add"},
    {"broadcast_div", "Div"},
    {"broadcast_maximum", "Max"},
    {"broadcast_minimum", "Min"},
    {"broadcast_minus", "Sub"},
    {"broadcast_mul", "Mul"},
    {"broadcast_plus", "Add"},
    {"broadcast_power", "Pow"},
    {"broadcast_sub", "Sub"},
    {"ceil", "Ceil"},
    {"cos", "Cos"},
    {"cosh", "Cosh"},
    {"elemwise_add", "Add"},
    {"elemwise_div", "Div"},
    {"elemwise_mul", "Mul"},
    {"elemwise_sub", "Sub"},
    {"erf", "Erf"},
    {"exp", "Exp"},
    {"floor", "Floor"},
    {"identity", "Identity"},
    {"log", "Log"},
    {"negative", "Neg"},
    {"reciprocal", "Reciprocal"},
    {"relu", "Relu"},
    {"rint", "Round"},
    {"sigmoid", "Sigmoid"},
    {"sign", "Sign"},
    {"sin", "Sin"},
    {"sinh", "Sinh"},
    {"softsign", "Softsign"},
    {"sqrt", "Sqrt"},
    {"stop_gradient", "Identity"},
    {"tan", "Tan"},
    {"tanh", "Tanh"},
};

// Those that hand on input 0 have further inputs (labels) and attributes of training.
bool HandsOnFirst(const std::string& op) {
  return op == "Dropout" || op == "LinearRegressionOutput" || op == "LogisticRegressionOutput" ||
         op == "MAERegressionOutput";
}

Values ConvertRenamed(MxnetNode& node) {
  const auto* row = std::find_if(std::begin(kRenamed), std::end(kRenamed),
                                 [&node](const Renamed& r) { return node.op() == r.theirs; });
  if (!HandsOnFirst(node.op())) return {node.Add(row->ours, node.inputs())};
  node.Float("p", 0);
  node.Text("axes", "");
  if (node.Text("mode", "training") == "always") node.Lack("\"mode\" = always");
  return {node.Add(row->ours, {node.input(0)})};
}

// Comparisons make numbers of the operands' type.
Values ConvertComparison(MxnetNode& node) {
  constexpr Renamed kComparisons[] = {{"broadcast_equal", "Equal"},
                                      {"broadcast_greater", "Greater"},
                                      {"broadcast_lesser", "Less"},
                                      {"broadcast_greater_equal", "GreaterOrEqual"},
                                      {"broadcast_lesser_equal", "LessOrEqual"}};
  for (const Renamed& row : kComparisons) {
    if (node.op() != row.theirs) continue;
    const ValueId x = node.input(0);
    const ValueId truth = node.Add(row.ours, {x, node.input(1)});
    return {node.Add("Cast", {truth}, {{"to", static_cast<int64_t>(node.dtype(x))}})};
  }
  return {};
}

Values ConvertScalar(MxnetNode& node) {
  struct Row {
    const char* theirs;
    const char* ours;
    bool reversed;
  };
  constexpr Row kRows[] = {{"_plus_scalar", "Add", false},    {"_minus_scalar", "Sub", false},
                           {"_rminus_scalar", "Sub", true},   {"_mul_scalar", "Mul", false},
                           {"_div_scalar", "Div", false},     {"_rdiv_scalar", "Div", true},
                           {"_power_scalar", "Pow", false},   {"_rpower_scalar", "Pow", true},
                           {"_maximum_scalar", "Max", false}, {"_minimum_scalar", "Min", false}};
  const ValueId x = node.input(0);
  const ValueId scalar = node.Scalar(node.Float("scalar", 0), x);
  node.Bool("is_int", true);
  for (const Row& row : kRows) {
    if (node.op() != row.theirs) continue;
    return {node.Add(row.ours, row.reversed ? Values{scalar, x} : Values{x, scalar})};
  }
  return {};
}

Values ConvertSquare(MxnetNode& node) {
  const ValueId x = node.input(0);
  return {node.Add("Mul", {x, x})};
}

Values ConvertRsqrt(MxnetNode& node) {
  return {node.Add("Reciprocal", {node.Add("Sqrt", {node.input(0)})})};
}

Values ConvertFlatten(MxnetNode& node) { return {node.Add("Flatten", {node.input(0)})}; }

Values ConvertConcat(MxnetNode& node) {
  return {node.Add("Concat", node.inputs(), {{"axis", node.Int("dim", 1)}})};
}

// The shape with MXNet's codes resolved: 0 keeps an extent, -2 keeps all that are left, -3 joins two, -4 splits one
// into the two numbers behind it; -1 is left to Reshape.
std::vector<int64_t> ResolvedShape(MxnetNode& node, const std::vector<int64_t>& wanted,
                                   const Shape& from) {
  std::vector<int64_t> to;
  size_t at = 0;
  const auto next = [&]() -> int64_t {
    if (at < from.size()) return from[at++];
    node.Refuse("\"shape\" speaks of more dimensions than there are");
    return 1;
  };
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0) {
      to.push_back(next());
    } else if (wanted[i] == -2) {
      while (at < from.size()) to.push_back(from[at++]);
    } else if (wanted[i] == -3) {
      const int64_t first = next();
      to.push_back(first * next());
    } else if (wanted[i] == -4 && i + 2 < wanted.size()) {
      const int64_t whole = next();
      int64_t first = wanted[i + 1];
      int64_t second = wanted[i + 2];
      if (first == -1 && second > 0) first = whole / second;
      if (second == -1 && first > 0) second = whole / first;
      to.insert(to.end(), {first, second});
      i += 2;
    } else if (wanted[i] >= -1) {
      to.push_back(wanted[i]);
      ++at;
    } else {
      node.Refuse(absl::StrCat("\"shape\" has the code ", wanted[i]));
    }
  }
  return to;
}

Values ConvertReshape(MxnetNode& node) {
  if (node.Bool("reverse", false)) node.Lack("\"reverse\"");
  const ValueId x = node.input(0);
  const std::vector<int64_t> to = ResolvedShape(node, node.Ints("shape", {}), node.shape(x));
  return {node.Add("Reshape", {x, node.Constant(to)})};
}

Values ConvertTranspose(MxnetNode& node) {
  const std::vector<int64_t> axes = node.Ints("axes", {});
  return {node.Add("Transpose", {node.input(0)},
                   axes.empty() ? Attributes{} : Attributes{{"perm", Ints(axes)}})};
}

int64_t Wrapped(MxnetNode& node, int64_t axis, size_t rank) {
  const int64_t extent = static_cast<int64_t>(rank);
  if (axis >= -extent && axis < extent) return axis < 0 ? axis + extent : axis;
  node.Refuse(absl::StrCat("axis ", axis, " of ", rank, " dimensions"));
  return 0;
}

Values ConvertSwapAxis(MxnetNode& node) {
  const ValueId x = node.input(0);
  std::vector<int64_t> perm(node.shape(x).size());
  std::iota(perm.begin(), perm.end(), 0);
  const int64_t a = Wrapped(node, node.Int("dim1", 0), perm.size());
  const int64_t b = Wrapped(node, node.Int("dim2", 0), perm.size());
  if (!node.ok()) return {kNoValue};
  std::swap(perm[a], perm[b]);
  return {node.Add("Transpose", {x}, {{"perm", Ints(perm)}})};
}

Values ConvertSliceAxis(MxnetNode& node) {
  const ValueId axis = node.Constant({node.Int("axis", 0)});
  const ValueId begin = node.Constant({node.Int("begin", 0)});
  const ValueId end = node.Constant({node.Int("end", std::numeric_limits<int64_t>::max())});
  return {node.Add("Slice", {node.input(0), begin, end, axis})};
}

Values ConvertSlice(MxnetNode& node) {
  const std::vector<int64_t> steps = node.Ints("step", {}, 1);
  if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step < 1; })) {
    node.Lack("a \"step\" below 1");
  }
  const std::vector<int64_t> begins = node.Ints("begin", {});
  const std::vector<int64_t> ends = node.Ints("end", {}, std::numeric_limits<int64_t>::max());
  std::vector<int64_t> axes(begins.size());
  std::iota(axes.begin(), axes.end(), 0);
  Values inputs = {node.input(0), node.Constant(begins), node.Constant(ends), node.Constant(axes)};
  if (!steps.empty()) inputs.push_back(node.Constant(steps));
  return {node.Add("Slice", inputs)};
}

Values ConvertSplit(MxnetNode& node) {
  const ValueId x = node.input(0);
  const int64_t parts = node.Int("num_outputs", 1);
  const Shape shape = node.shape(x);
  const int64_t axis = Wrapped(node, node.Int("axis", 1), shape.size());
  const bool squeezes = node.Bool("squeeze_axis", false);
  if (node.ok() && (parts < 1 || parts > kMaxNodeArity || shape[axis] % parts != 0)) {
    node.Refuse(absl::StrCat(ToString(shape), " cannot be split into ", parts, " equal parts"));
  }
  if (!node.ok()) return {kNoValue};
  Values outputs = node.builder().AddMany("Split", {x}, static_cast<int>(parts),
                                          {{"axis", axis}, {"num_outputs", parts}});
  for (ValueId& output : outputs) {
    if (squeezes) output = node.Add("Squeeze", {output, node.Constant({axis})});
  }
  return outputs;
}

Values ConvertStack(MxnetNode& node) {
  const int64_t axis = node.Int("axis", 0);
  Values parts;
  for (const ValueId x : node.inputs()) {
    parts.push_back(node.Add("Unsqueeze", {x, node.Constant({axis})}));
  }
  return {node.Add("Concat", parts, {{"axis", axis}})};
}

Values ConvertExpandDims(MxnetNode& node) {
  return {node.Add("Unsqueeze", {node.input(0), node.Constant({node.Int("axis", 0)})})};
}

Values ConvertSqueeze(MxnetNode& node) {
  const std::vector<int64_t> axes = node.Ints("axis", {});
  if (axes.empty()) return {node.Add("Squeeze", {node.input(0)})};
  return {node.Add("Squeeze", {node.input(0), node.Constant(axes)})};
}

// Rows of `table` along an axis; what is out of range is the first or last, as there.
ValueId Take(MxnetNode& node, ValueId table, ValueId places, int64_t axis) {
  const Shape shape = node.shape(table);
  axis = Wrapped(node, axis, shape.size());
  if (!node.ok()) return kNoValue;
  const ValueId index =
      node.Add("Cast", {places}, {{"to", static_cast<int64_t>(DataType::kInt64)}});
  const ValueId low = node.Scalar(0, index);
  const ValueId high = node.Scalar(static_cast<double>(shape[axis] - 1), index);
  return node.Add("Gather", {table, node.Add("Clip", {index, low, high})}, {{"axis", axis}});
}

Values ConvertEmbedding(MxnetNode& node) {
  for (const char* name : {"input_dim", "output_dim"}) node.Int(name, 0);
  node.Text("dtype", "");
  return {Take(node, node.input(1), node.input(0), 0)};
}

Values ConvertTake(MxnetNode& node) {
  const std::string mode = node.Text("mode", "clip");
  if (mode != "clip") node.Lack(absl::StrCat("\"mode\" = ", mode));
  return {Take(node, node.input(0), node.input(1), node.Int("axis", 0))};
}

Values ConvertClip(MxnetNode& node) {
  const ValueId x = node.input(0);
  const ValueId low = node.Scalar(node.Float("a_min", 0), x);
  return {node.Add("Clip", {x, low, node.Scalar(node.Float("a_max", 0), x)})};
}

Values ConvertReduction(MxnetNode& node) {
  constexpr Renamed kReductions[] = {{"max", "ReduceMax"},      {"max_axis", "ReduceMax"},
                                     {"mean", "ReduceMean"},    {"min", "ReduceMin"},
                                     {"min_axis", "ReduceMin"}, {"prod", "ReduceProd"},
                                     {"sum", "ReduceSum"},      {"sum_axis", "ReduceSum"}};
  const ValueId x = node.input(0);
  std::vector<int64_t> axes = node.Ints("axis", {});
  if (node.Bool("exclude", false)) {
    const size_t rank = node.shape(x).size();
    std::vector<int64_t> rest;
    for (int64_t& axis : axes) axis = Wrapped(node, axis, rank);
    for (size_t d = 0; d < rank; ++d) {
      const int64_t axis = static_cast<int64_t>(d);
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) rest.push_back(axis);
    }
    axes = rest;
  }
  Values inputs = {x};
  if (!axes.empty()) inputs.push_back(node.Constant(axes));
  const Attributes keep = {{"keepdims", int64_t{node.Bool("keepdims", false)}}};
  for (const Renamed& row : kReductions) {
    if (node.op() == row.theirs) return {node.Add(row.ours, inputs, keep)};
  }
  return {};
}

Values ConvertPad(MxnetNode& node) {
  const ValueId x = node.input(0);
  const std::string mode = node.Text("mode", "");
  const std::vector<int64_t> widths = node.Ints("pad_width", {});  // Begin and end, by dimension.
  std::vector<int64_t> pads;
  for (const size_t first : {0, 1}) {
    for (size_t i = first; i < widths.size(); i += 2) pads.push_back(widths[i]);
  }
  const ValueId value = node.Scalar(node.Float("constant_value", 0), x);
  return {node.Add("Pad", {x, node.Constant(pads), value}, {{"mode", mode}})};
}

// The last two dimensions exchanged.
ValueId Transposed(MxnetNode& node, ValueId x) {
  std::vector<int64_t> perm(node.shape(x).size());
  std::iota(perm.begin(), perm.end(), 0);
  if (perm.size() >= 2) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return node.Add("Transpose", {x}, {{"perm", Ints(perm)}});
}

Values ConvertDot(MxnetNode& node) {
  ValueId a = node.input(0);
  ValueId b = node.input(1);
  if (node.op() == "dot" && (node.shape(a).size() > 2 || node.shape(b).size() > 2)) {
    node.Lack("operands of more than two dimensions");
  }
  if (node.Bool("transpose_a", false)) a = Transposed(node, a);
  if (node.Bool("transpose_b", false)) b = Transposed(node, b);
  return {node.Add("MatMul", {a, b})};
}

Values ConvertTile(MxnetNode& node) {
  const ValueId x = node.input(0);
  const std::vector<int64_t> reps = node.Ints("reps", {});
  if (reps.size() != node.shape(x).size()) node.Lack("\"reps\" of another length than the shape");
  return {node.Add("Tile", {x, node.Constant(reps)})};
}

Values ConvertCast(MxnetNode& node) {
  constexpr std::pair<const char*, DataType> kTypes[] = {
      {"float32", DataType::kFloat32}, {"float64", DataType::kFloat64},
      {"float16", DataType::kFloat16}, {"uint8", DataType::kUint8},
      {"int8", DataType::kInt8},       {"int32", DataType::kInt32},
      {"int64", DataType::kInt64},     {"bool", DataType::kBool}};
  const std::string name = node.Text("dtype", "");
  for (const auto& [text, dtype] : kTypes) {
    if (name == text)
      return {node.Add("Cast", {node.input(0)}, {{"to", static_cast<int64_t>(dtype)}})};
  }
  node.Lack(absl::StrCat("\"dtype\" = ", name));
  return {kNoValue};
}

Values ConvertArgMax(MxnetNode& node) {
  const ValueId place = node.Add(
      node.op() == "argmax" ? "ArgMax" : "ArgMin", {node.input(0)},
      {{"axis", node.Int("axis", 0)}, {"keepdims", int64_t{node.Bool("keepdims", false)}}});
  return {node.Add("Cast", {place}, {{"to", static_cast<int64_t>(DataType::kFloat32)}})};
}

constexpr MxnetRow kRows[] = {
    {"Cast", ConvertCast},
    {"Concat", ConvertConcat},
    {"Embedding", ConvertEmbedding},
    {"Flatten", ConvertFlatten},
    {"Pad", ConvertPad},
    {"Reshape", ConvertReshape},
    {"SliceChannel", ConvertSplit},
    {"SwapAxis", ConvertSwapAxis},
    {"_div_scalar", ConvertScalar},
    {"_maximum_scalar", ConvertScalar},
    {"_minimum_scalar", ConvertScalar},
    {"_minus_scalar", ConvertScalar},
    {"_mul_scalar", ConvertScalar},
    {"_plus_scalar", ConvertScalar},
    {"_power_scalar", ConvertScalar},
    {"_rdiv_scalar", ConvertScalar},
    {"_rminus_scalar", ConvertScalar},
    {"_rpower_scalar", ConvertScalar},
    {"argmax", ConvertArgMax},
    {"argmin", ConvertArgMax},
    {"batch_dot", ConvertDot},
    {"broadcast_equal", ConvertComparison},
    {"broadcast_greater", ConvertComparison},
    {"broadcast_greater_equal", ConvertComparison},
    {"broadcast_lesser", ConvertComparison},
    {"broadcast_lesser_equal", ConvertComparison},
    {"cast", ConvertCast},
    {"clip", ConvertClip},
    {"concat", ConvertConcat},
    {"dot", ConvertDot},
    {"expand_dims", ConvertExpandDims},
    {"flatten", ConvertFlatten},
    {"max", ConvertReduction},
    {"max_axis", ConvertReduction},
    {"mean", ConvertReduction},
    {"min", ConvertReduction},
    {"min_axis", ConvertReduction},
    {"pad", ConvertPad},
    {"prod", ConvertReduction},
    {"reshape", ConvertReshape},
    {"rsqrt", ConvertRsqrt},
    {"slice", ConvertSlice},
    {"slice_axis", ConvertSliceAxis},
    {"split", ConvertSplit},
    {"square", ConvertSquare},
    {"squeeze", ConvertSqueeze},
    {"stack", ConvertStack},
    {"sum", ConvertReduction},
    {"sum_axis", ConvertReduction},
    {"swapaxes", ConvertSwapAxis},
    {"take", ConvertTake},
    {"tile", ConvertTile},
    {"transpose", ConvertTranspose},
};

}  // namespace

MxnetConversion FindMxnetConversion(absl::string_view op) {
  for (const absl::Span<const MxnetRow> rows : {absl::MakeConstSpan(kRows), MxnetLayers()}) {
    for (const MxnetRow& row : rows) {
      if (op == row.op) return row.convert;
    }
  }
  for (const Renamed& row : kRenamed) {
    if (op == row.theirs) return ConvertRenamed;
  }
  return nullptr;
}

}  // namespace slipway
