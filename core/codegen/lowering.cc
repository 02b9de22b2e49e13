#include "core/codegen/lowering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/dtype.h"

namespace slipway {

absl::StatusOr<Halide::Type> HalideType(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
      return Halide::Float(32);
    case DataType::kFloat64:
      return Halide::Float(64);
    case DataType::kInt8:
      return Halide::Int(8);
    case DataType::kInt16:
      return Halide::Int(16);
    case DataType::kInt32:
      return Halide::Int(32);
    case DataType::kInt64:
      return Halide::Int(64);
    case DataType::kUint8:
      return Halide::UInt(8);
    case DataType::kUint16:
      return Halide::UInt(16);
    case DataType::kUint32:
      return Halide::UInt(32);
    case DataType::kUint64:
      return Halide::UInt(64);
    case DataType::kBool:
      return Halide::UInt(8);
    default:
      return absl::UnimplementedError(
          absl::StrCat("no kernels for elements of type ", Name(dtype), " yet"));
  }
}

std::vector<int> HalideExtents(absl::Span<const int64_t> shape) {
  return std::vector<int>(shape.rbegin(), shape.rend());
}

std::vector<Halide::Var> FreshVars(int rank) {
  std::vector<Halide::Var> vars;
  vars.reserve(rank);
  for (int i = 0; i < rank; ++i) vars.emplace_back();
  return vars;
}

std::vector<Halide::Expr> AsExprs(const std::vector<Halide::Var>& vars) {
  return std::vector<Halide::Expr>(vars.begin(), vars.end());
}

absl::Status ServesFloat32(const NodeView& node, absl::Span<const TensorType> outputs) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!node.has_input(i) || node.input_type(i).dtype() == DataType::kFloat32) continue;
    return node.Unimplemented(absl::StrCat("no kernel can be generated for input ", i, " of type ",
                                           Name(node.input_type(i).dtype()), " yet, only f32"));
  }
  for (const TensorType& type : outputs) {
    if (type.dtype == DataType::kInvalid || type.dtype == DataType::kFloat32) continue;
    return node.Unimplemented(absl::StrCat("no kernel can be generated for an output of type ",
                                           Name(type.dtype), " yet, only f32"));
  }
  return absl::OkStatus();
}

absl::Status ServesEveryType(const NodeView& node, absl::Span<const TensorType> outputs) {
  const auto check = [&node](DataType dtype) {
    const absl::Status known = HalideType(dtype).status();
    return known.ok() ? known : node.Unimplemented(known.message());
  };
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (node.has_input(i)) SLIPWAY_RETURN_IF_ERROR(check(node.input_type(i).dtype()));
  }
  for (const TensorType& type : outputs) {
    if (type.dtype != DataType::kInvalid) SLIPWAY_RETURN_IF_ERROR(check(type.dtype));
  }
  return absl::OkStatus();
}

bool MakesNothing(absl::Span<const TensorType> outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const TensorType& type) {
    return type.dtype == DataType::kInvalid || type.num_elements() == 0;
  });
}

absl::Status CheckLowered(const Lowerings& lowerings, const NodeView& node,
                          absl::Span<const TensorType> outputs) {
  if (MakesNothing(outputs)) return absl::OkStatus();
  const Lowering* lowering = lowerings.Find(node.op());
  if (lowering == nullptr) {
    return node.Unimplemented("no kernel can be generated for this operator yet");
  }
  return lowering->serves(node, outputs);
}

}  // namespace slipway
