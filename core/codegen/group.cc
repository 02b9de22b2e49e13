#include "core/codegen/group.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/limits.h"
#include "core/codegen/merge_dimensions.h"
#include "core/graph/graph_digest.h"
#include "core/tensor/dtype.h"
#include "core/tensor/finite.h"

namespace slipway {
namespace {

absl::Status CheckValue(const Value& value) {
  if (!value.type.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("value \"", value.name, "\" of the group has no type; infer types first"));
  }
  if (value.type->is_static() && value.type->byte_size() > kMaxKernelTensorBytes) {
    return absl::UnimplementedError(absl::StrCat("value \"", value.name, "\" of type ",
                                                 ToString(*value.type),
                                                 " has 2^31 bytes or more: no kernel can hold it"));
  }
  SLIPWAY_RETURN_IF_ERROR_WITH(HalideType(value.type->dtype()).status(),
                               absl::StrCat("value \"", value.name, "\""));
  return absl::OkStatus();
}

// Kernels are the same whatever their symbols are called: these get numbers in the order of their first use.
void RenameSymbols(Graph& body) {
  SymbolExpressions renamed;
  const std::function<void(const Expression&)> collect = [&](const Expression& expression) {
    if (expression.kind() == Expression::Kind::kSymbol) {
      renamed.try_emplace(expression.symbol(),
                          Expression::Symbol(absl::StrCat("s", renamed.size())).value());
    }
    for (const Expression& operand : expression.operands()) collect(operand);
  };
  for (const Value& value : body.values) {
    if (value.type->is_static()) continue;
    for (const Dimension& dimension : value.type->dimensions()) collect(dimension.expression());
  }
  std::vector<Symbol> symbols;
  for (const auto& [name, symbol] : renamed) symbols.push_back({symbol.symbol()});
  std::sort(symbols.begin(), symbols.end(),
            [](const Symbol& a, const Symbol& b) { return a.name < b.name; });
  body.symbols = std::move(symbols);
  for (Value& value : body.values) {
    if (value.type->is_static()) continue;
    Dimensions dimensions = value.type->dimensions();
    for (Dimension& dimension : dimensions) {
      dimension = Substitute(dimension.expression(), renamed).value();
    }
    value.type = ValueType(value.type->dtype(), dimensions);
  }
}

void EraseNames(Graph& body) {
  body.name.clear();
  for (size_t i = 0; i < body.values.size(); ++i) body.values[i].name = absl::StrCat("v", i);
  for (Node& node : body.nodes) node.name.clear();
}

std::string BodyAndTarget(const Graph& normalized_body, const DeviceTarget& target,
                          Precision products) {
  std::string text = absl::StrCat(DigestOf(normalized_body, DigestNames::kIgnored).ToString(), "\n",
                                  target.ToString(), "\n");
  if (products != Precision::kFloat32) absl::StrAppend(&text, "products ", Name(products), "\n");
  return text;
}

}  // namespace

absl::Status CheckGroup(const Graph& body, const OperatorRegistry& registry,
                        const Lowerings& lowerings) {
  if (body.nodes.size() > kMaxGroupNodes) {
    return absl::UnimplementedError(absl::StrCat("a group of ", body.nodes.size(),
                                                 " nodes; at most ", kMaxGroupNodes,
                                                 " become one kernel"));
  }
  if (body.inputs.size() + body.outputs.size() > kMaxKernelArguments) {
    return absl::UnimplementedError(
        absl::StrCat("a group of ", body.inputs.size() + body.outputs.size(),
                     " inputs and outputs; a kernel takes at most ", kMaxKernelArguments));
  }
  for (const Node& node : body.nodes) {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(body, node, registry));
    SLIPWAY_RETURN_IF_ERROR(CheckLowered(lowerings, view, TypesOf(body, node.outputs)));
    for (const std::vector<ValueId>* ids : {&node.inputs, &node.outputs}) {
      for (const ValueId id : *ids) {
        if (id != kNoValue) {
          SLIPWAY_RETURN_IF_ERROR_WITH(CheckValue(body.value(id)), DisplayName(body, node));
        }
      }
    }
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || !body.value(id).constant.has_value()) continue;
      if (body.value(id).constant->byte_size() > kMaxBakedConstantBytes) {
        return view.Unimplemented(absl::StrCat("constant \"", body.value(id).name, "\" of ",
                                               body.value(id).constant->byte_size(),
                                               " bytes is inside the group; make it an input"));
      }
      if (!AllFinite(*body.value(id).constant)) {
        return view.Unimplemented(absl::StrCat("constant \"", body.value(id).name,
                                               "\" is not finite and inside the group, whose "
                                               "code would take it for finite; make it an input"));
      }
    }
  }
  return absl::OkStatus();
}

Graph NormalizeGroup(const Graph& body, const OperatorRegistry& registry) {
  Graph normalized = body;
  EraseNames(normalized);
  RenameSymbols(normalized);
  MergeDimensions(normalized, registry);
  return normalized;
}

std::string KernelName(const Graph& normalized_body, const DeviceTarget& target,
                       Precision products) {
  return Digest::Of(BodyAndTarget(normalized_body, target, products)).hex().substr(0, 16);
}

Digest KernelKey(const Graph& normalized_body, const DeviceTarget& target,
                 const Lowerings& lowerings, absl::string_view generator,
                 absl::string_view recorded_schedule, Precision products) {
  std::string text =
      absl::StrCat(BodyAndTarget(normalized_body, target, products), generator, "\n");
  std::set<absl::string_view> revisions;
  for (const Node& node : normalized_body.nodes) {
    const Lowering* lowering = lowerings.Find(node.op);
    if (lowering != nullptr && !lowering->revision.empty()) revisions.insert(lowering->revision);
  }
  for (const absl::string_view revision : revisions) absl::StrAppend(&text, revision, "\n");
  if (!recorded_schedule.empty()) absl::StrAppend(&text, "schedule ", recorded_schedule, "\n");
  return Digest::Of(text);
}

std::string KernelFunction(const Digest& key) {
  return absl::StrCat("slipway_kernel_", key.hex().substr(0, 16));
}

std::string KernelSymbol(const Digest& key) { return absl::StrCat(KernelFunction(key), "_argv"); }

std::string DescribeGroup(const Graph& body) {
  std::string text;
  std::string last;
  for (const Node& node : body.nodes) {
    if (node.op == last) continue;
    absl::StrAppend(&text, text.empty() ? "" : "+", node.op);
    last = node.op;
  }
  return text;
}

}  // namespace slipway
