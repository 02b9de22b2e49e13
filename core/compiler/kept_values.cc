#include "core/compiler/kept_values.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/base/wildcard.h"
#include "core/graph/edit.h"

namespace slipway {
namespace {

absl::Status CheckOutputs(const Graph& graph) {
  const auto limit = static_cast<size_t>(ReaderLimits().bindings);
  if (graph.outputs.size() <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("with the values that are kept the program has ", graph.outputs.size(),
                   " outputs, more than the limit of ", limit, "; keep fewer at a time"));
}

}  // namespace

absl::Status KeepValues(absl::Span<const std::string> patterns, Graph& graph) {
  std::vector<bool> is_output = OutputFlags(graph);
  std::vector<bool> is_used(patterns.size(), false);
  // What hangs on no input is the same in every call.
  std::vector<bool> hangs_on_input(graph.values.size(), false);
  for (const ValueId id : graph.inputs) hangs_on_input[id] = true;
  for (const Node& node : graph.nodes) {
    const bool hangs = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id != kNoValue && hangs_on_input[id];
    });
    if (!hangs) continue;
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      hangs_on_input[id] = true;
      bool is_kept = false;
      for (size_t i = 0; i < patterns.size(); ++i) {
        if (!MatchesPattern(patterns[i], graph.values[id].name)) continue;
        is_used[i] = true;
        is_kept = true;
      }
      if (!is_kept || is_output[id]) continue;
      is_output[id] = true;
      graph.outputs.push_back(id);
    }
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (is_used[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("nothing that the model computes of its inputs is called \"",
                     absl::Utf8SafeCEscape(patterns[i]), "\", which should be kept"));
  }
  return patterns.empty() ? absl::OkStatus() : CheckOutputs(graph);
}

absl::Status KeepValues(absl::Span<const ValueId> values, Graph& graph) {
  std::vector<bool> is_there = OutputFlags(graph);
  for (const ValueId id : graph.inputs) is_there[id] = true;
  for (const ValueId id : values) {
    if (is_there[id]) continue;
    is_there[id] = true;
    graph.outputs.push_back(id);
  }
  return CheckOutputs(graph);
}

}  // namespace slipway
