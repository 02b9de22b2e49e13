#include "core/passes/fold_constant_pass.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/passes/constant_node.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/limits.h"

namespace slipway {
namespace {

// Absent where an output's extents are not known.
std::optional<int64_t> OutputBytes(const Graph& graph, const Node& node) {
  int64_t bytes = 0;
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    if (!graph.values[id].type->is_static()) return std::nullopt;
    bytes += graph.values[id].type->byte_size();
  }
  return bytes;
}

int64_t ConstantElements(const Graph& graph) {
  int64_t elements = 0;
  for (const Value& value : graph.values) {
    if (value.constant.has_value()) elements += value.type->num_elements();
  }
  return elements;
}

// One graph's folding.
class Folding {
 public:
  Folding(Graph graph, const PassContext& context, bool quantized_too)
      : graph_(std::move(graph)),
        context_(context),
        quantized_too_(quantized_too),
        most_work_(kMaxFoldedWork + kFoldedWorkAnElement * ConstantElements(graph_)) {}

  absl::StatusOr<Graph> Run() {
    std::vector<Node> kept;
    for (Node& node : graph_.nodes) {
      SLIPWAY_ASSIGN_OR_RETURN(const bool is_folded, FoldNode(node));
      if (!is_folded) kept.push_back(std::move(node));
    }
    graph_.nodes = std::move(kept);
    return std::move(graph_);
  }

 private:
  // Whether the node is gone.
  absl::StatusOr<bool> FoldNode(const Node& node) {
    if (!IsConstantNode(graph_, node, context_.registry) ||
        (!quantized_too_ && IsDequantizedConstant(graph_, node))) {
      return false;
    }
    const int64_t work_left = std::max<int64_t>(most_work_ - ledger_->folded_work, 0);
    if (std::optional<Tensor> moved = MovedConstant(graph_, node, context_)) {
      // Done when somebody asks for the bytes, and paid for here.
      const int64_t work = moved->num_elements();
      if (work > work_left) {
        Note(node, absl::StrCat("it moves ", work, " elements, more than the ", work_left,
                                " steps that are left"));
        return false;
      }
      ledger_->folded_work += work;
      MakeOutputsConstant(node, {*std::move(moved)}, graph_);
      return true;
    }
    const std::optional<int64_t> bytes = OutputBytes(graph_, node);
    if (bytes.value_or(INT64_MAX) > bytes_left_) {
      if (bytes.has_value()) {
        Note(node, absl::StrCat("it makes ", *bytes, " bytes, more than the ", bytes_left_,
                                " that are left"));
      }
      return false;
    }
    const int64_t most = std::min(work_left, kMaxFoldWork);
    int64_t left = most;
    absl::StatusOr<std::vector<Tensor>> results =
        EvaluateConstantNode(graph_, node, context_, left);
    ledger_->folded_work += most - left;
    if (absl::IsResourceExhausted(results.status())) Note(node, results.status().message());
    if (IsLeftToRunTime(results.status())) return false;
    SLIPWAY_RETURN_IF_ERROR(results.status());
    bytes_left_ -= *bytes;
    MakeOutputsConstant(node, *std::move(results), graph_);
    return true;
  }

  void Note(const Node& node, absl::string_view why) {
    ledger_->notes.push_back(absl::StrCat("\"", DisplayName(graph_, node), "\" (", node.op,
                                          ") of constants is computed in each call: ", why));
  }

  Graph graph_;
  const PassContext& context_;
  const bool quantized_too_;
  const int64_t most_work_;
  int64_t bytes_left_ = kMaxFoldedBytes;
  PassLedger own_ledger_;
  PassLedger* const ledger_ = context_.ledger != nullptr ? context_.ledger : &own_ledger_;
};

absl::StatusOr<Graph> Fold(Graph graph, const PassContext& context, bool quantized_too) {
  // What is dead must not be evaluated.
  SLIPWAY_ASSIGN_OR_RETURN(graph, DeadCode(std::move(graph), context));
  SLIPWAY_ASSIGN_OR_RETURN(graph, Folding(std::move(graph), context, quantized_too).Run());
  return DeadCode(std::move(graph), context);
}

}  // namespace

absl::StatusOr<Graph> FoldConstant(Graph graph, const PassContext& context) {
  return Fold(std::move(graph), context, /*quantized_too=*/true);
}

absl::StatusOr<Graph> FoldConstantButQuantized(Graph graph, const PassContext& context) {
  return Fold(std::move(graph), context, /*quantized_too=*/false);
}

}  // namespace slipway
