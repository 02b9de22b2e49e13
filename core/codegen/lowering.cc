#include "core/codegen/lowering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/quantization.h"
#include "core/tensor/dtype.h"

namespace slipway {

absl::StatusOr<Halide::Type> HalideType(DataType dtype) {
  switch (dtype) {
    case DataType::kBfloat16:
      return Halide::BFloat(16);
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

std::vector<int> HalideExtents(const ValueType& type) {
  std::vector<int> extents;
  for (int d = type.rank() - 1; d >= 0; --d) {
    const Dimension& extent = type.dimension(d);
    extents.push_back(extent.is_known() ? static_cast<int>(extent.extent()) : kOpen);
  }
  return extents;
}

std::vector<Extent> Extents(const ValueType& type, const OpenExtent& open_extent) {
  std::vector<Extent> extents;
  for (int d = type.rank() - 1; d >= 0; --d) {
    const Dimension extent = type.dimension(d);
    if (extent.is_known()) {
      extents.emplace_back(static_cast<int>(extent.extent()));
    } else {
      extents.emplace_back(kOpen, open_extent(extent));
    }
  }
  return extents;
}

std::vector<int> KnownExtents(const std::vector<Extent>& extents) {
  std::vector<int> known;
  for (const Extent& extent : extents) known.push_back(extent.known);
  return known;
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

absl::Status ServesFloat32(const NodeView& node, absl::Span<const ValueType> outputs) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!node.has_input(i) || node.input_type(i).dtype() == DataType::kFloat32) continue;
    return node.Unimplemented(absl::StrCat("no kernel can be generated for input ", i, " of type ",
                                           Name(node.input_type(i).dtype()), " yet, only f32"));
  }
  for (const ValueType& type : outputs) {
    if (type.dtype() == DataType::kInvalid || type.dtype() == DataType::kFloat32) continue;
    return node.Unimplemented(absl::StrCat("no kernel can be generated for an output of type ",
                                           Name(type.dtype()), " yet, only f32"));
  }
  return absl::OkStatus();
}

absl::Status ServesEveryType(const NodeView& node, absl::Span<const ValueType> outputs) {
  const auto check = [&node](DataType dtype) {
    if (dtype == DataType::kBfloat16) {
      return node.Unimplemented("no kernels for arithmetic on elements of type bf16 yet");
    }
    const absl::Status known = HalideType(dtype).status();
    return known.ok() ? known : node.Unimplemented(known.message());
  };
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (node.has_input(i)) SLIPWAY_RETURN_IF_ERROR(check(node.input_type(i).dtype()));
  }
  for (const ValueType& type : outputs) {
    if (type.dtype() != DataType::kInvalid) SLIPWAY_RETURN_IF_ERROR(check(type.dtype()));
  }
  return absl::OkStatus();
}

bool MakesNothing(absl::Span<const ValueType> outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const ValueType& type) {
    return type.dtype() == DataType::kInvalid || NumElements(type.dimensions()) == Dimension(0);
  });
}

namespace {

// Of operators that broadcast each extent must be seen to be 1 or the output's: kernels check nothing.
absl::Status CheckBroadcast(const NodeView& node, const ValueType& output) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!node.has_input(i)) continue;
    const ValueType& input = node.input_type(i);
    const int offset = output.rank() - input.rank();
    for (int d = 0; d < input.rank(); ++d) {
      const Dimension extent = input.dimension(d);
      if (extent == Dimension(1) || SameExtent(extent, output.dimension(d + offset))) continue;
      return node.Unimplemented(
          absl::StrCat("no kernel can be generated where only running tells how ", ToString(input),
                       " broadcasts to ", ToString(output)));
    }
  }
  return absl::OkStatus();
}

// A kernel knows the extents of its inputs, and what follows from them.
absl::Status CheckTold(const NodeView& node, absl::Span<const ValueType> outputs) {
  Dimensions told;
  std::vector<Symbol> symbols;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!node.has_input(i)) continue;
    for (const Dimension& extent : node.input_type(i).dimensions()) {
      if (extent.is_known()) continue;
      if (extent.is_unknown()) {
        return node.Unimplemented(absl::StrCat("no kernel can be generated for input ", i, " of ",
                                               ToString(node.input_type(i)),
                                               ", whose extents nothing names"));
      }
      told.push_back(extent);
      if (extent.symbol() != nullptr) symbols.push_back({*extent.symbol()});
    }
  }
  for (const ValueType& output : outputs) {
    for (const Dimension& extent : output.dimensions()) {
      if (extent.is_known()) continue;
      const bool is_told =
          !extent.is_unknown() && (std::find(told.begin(), told.end(), extent) != told.end() ||
                                   CheckSymbolsKnown(extent.expression(), symbols).ok());
      if (is_told) continue;
      return node.Unimplemented(absl::StrCat("no kernel can be generated for ", ToString(output),
                                             ", which its inputs do not tell"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckExtents(const Lowering& lowering, const NodeView& node,
                          absl::Span<const ValueType> outputs) {
  bool is_static = true;
  for (int i = 0; i < node.num_inputs(); ++i) {
    is_static = is_static && (!node.has_input(i) || node.input_type(i).is_static());
  }
  for (const ValueType& type : outputs) is_static = is_static && type.is_static();
  if (is_static) return absl::OkStatus();
  if (lowering.open) {
    SLIPWAY_RETURN_IF_ERROR(CheckTold(node, outputs));
    const bool broadcasts =
        node.schema().pattern == Pattern::kElementwise ||
        (node.schema().layout.role == LayoutRole::kElementwise && !HasScalesAlongAxis(node));
    return broadcasts ? CheckBroadcast(node, outputs[0]) : absl::OkStatus();
  }
  return node.Unimplemented("no kernel can be generated for extents that are not known yet");
}

}  // namespace

absl::Status CheckLowered(const Lowerings& lowerings, const NodeView& node,
                          absl::Span<const ValueType> outputs) {
  if (MakesNothing(outputs)) return absl::OkStatus();
  const Lowering* lowering = lowerings.Find(node.op());
  if (lowering == nullptr) {
    return node.Unimplemented("no kernel can be generated for this operator yet");
  }
  SLIPWAY_RETURN_IF_ERROR(CheckExtents(*lowering, node, outputs));
  return lowering->serves(node, outputs);
}

}  // namespace slipway
