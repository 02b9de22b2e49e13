#include "server/web/model_graph.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"

namespace slipway::web {
namespace {

constexpr int64_t kMaxSplatBytes = 1 << 20;

void Describe(const Value& value, v1::ModelGraph::Value& described) {
  described.set_name(value.name);
  if (value.type.has_value()) described.set_type(ToString(*value.type));
}

}  // namespace

absl::StatusOr<v1::ModelGraph> DescribeGraph(absl::string_view text) {
  if (text.size() > kMaxShownGraphBytes) {
    return absl::FailedPreconditionError(absl::StrCat("has ", text.size(), " bytes, and at most ",
                                                      kMaxShownGraphBytes, " are drawn"));
  }
  const absl::StatusOr<Graph> graph =
      ParseGraph(text, {.zeros_for_unknown = true, .max_splat_bytes = kMaxSplatBytes});
  if (!graph.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("is not one graph and nothing else: ", graph.status().message()));
  }
  v1::ModelGraph described;
  for (const ValueId input : graph->inputs) {
    Describe(graph->values[input], *described.add_inputs());
  }
  for (const Node& node : graph->nodes) {
    v1::ModelGraph::Node& one = *described.add_nodes();
    one.set_op(node.op);
    one.set_name(node.name);
    for (const ValueId input : node.inputs) {
      if (input == kNoValue) continue;
      const Value& value = graph->values[input];
      if (value.constant.has_value()) {
        Describe(value, *one.add_constants());
      } else {
        one.add_inputs(value.name);
      }
    }
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      const Value& value = graph->values[output];
      Describe(value, *one.add_outputs());
      if (one.name().empty()) one.set_name(value.name);
    }
  }
  for (const ValueId output : graph->outputs) described.add_outputs(graph->values[output].name);
  return described;
}

}  // namespace slipway::web
