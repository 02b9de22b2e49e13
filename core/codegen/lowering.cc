#include "core/codegen/lowering.h"

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

absl::Status RequireFloat32(const LoweringContext& context) {
  for (int i = 0; i < context.node.num_inputs(); ++i) {
    if (!context.node.has_input(i)) continue;
    const DataType dtype = context.node.input_type(i).dtype();
    if (dtype != DataType::kFloat32) {
      return context.node.Unimplemented(
          absl::StrCat("no kernel for input ", i, " of type ", Name(dtype), " yet, only f32"));
    }
  }
  for (const TensorType& type : context.output_types) {
    if (type.dtype != DataType::kFloat32) {
      return context.node.Unimplemented(
          absl::StrCat("no kernel for an output of type ", Name(type.dtype), " yet, only f32"));
    }
  }
  return absl::OkStatus();
}

}  // namespace slipway
