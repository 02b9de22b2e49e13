#include "core/passes/gradient_pass.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/bind_symbols.h"
#include "core/graph/edit.h"
#include "core/operators/checks.h"
#include "core/passes/dead_code_pass.h"

namespace slipway {
namespace {

bool IsFloat(const Value& value) { return Contains(TypeSet::kAnyFloat, value.type->dtype()); }

// Its bytes, whatever value holds them.
bool IsSame(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.bytes().data() == b.bytes().data();
}

class Differentiator {
 public:
  // `constants` are those by which is derived around a body.
  Differentiator(Graph graph, const GradientColumn& rules, const PassContext& context,
                 std::vector<Tensor> constants = {})
      : graph_(std::move(graph)),
        rules_(rules),
        context_(context),
        constants_(std::move(constants)),
        names_(graph_) {}

  absl::StatusOr<Graph> Run(const GradientOptions& options) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId loss, FindLoss(options.loss));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<ValueId> sources,
                             FindSources(options.with_respect_to));
    for (const ValueId source : sources) {
      const std::optional<Tensor>& constant = graph_.values[source].constant;
      if (constant.has_value()) constants_.push_back(*constant);
    }
    MarkDependents(sources);
    if (depends_[loss]) partial_[loss] = {Ones(loss)};
    SLIPWAY_RETURN_IF_ERROR(WalkBack());
    for (const ValueId source : sources) {
      SLIPWAY_ASSIGN_OR_RETURN(ValueId gradient, Total(source));
      if (gradient == kNoValue) gradient = Zeros(source);
      AddOutput(gradient, absl::StrCat(graph_.values[source].name, "_gradient"));
    }
    return std::move(graph_);
  }

  // See BodyGradient.
  absl::StatusOr<Graph> RunBody(const std::vector<bool>& flows, const std::vector<bool>& wanted) {
    SLIPWAY_RETURN_IF_ERROR(CheckHoldsNoSource());
    std::vector<ValueId> sources;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i]) sources.push_back(graph_.inputs[i]);
    }
    MarkDependents(sources);
    for (size_t o = 0; o < flows.size(); ++o) {
      if (!flows[o]) continue;
      const ValueId made = graph_.outputs[o];
      const ValueId gradient =
          graph_.AddInput(names_.Make(absl::StrCat(graph_.values[made].name, "_gradient")),
                          graph_.values[made].type);
      if (depends_[made]) partial_[made].push_back(gradient);
    }
    SLIPWAY_RETURN_IF_ERROR(WalkBack());
    graph_.outputs.clear();
    for (const ValueId source : sources) {
      SLIPWAY_ASSIGN_OR_RETURN(const ValueId gradient, Total(source));
      graph_.outputs.push_back(gradient == kNoValue ? Zeros(source) : gradient);
    }
    return std::move(graph_);
  }

 private:
  // A body has constants of its own: what it reads of one around it nobody would notice.
  absl::Status CheckHoldsNoSource() const {
    for (const Value& value : graph_.values) {
      const bool is_source =
          value.constant.has_value() &&
          std::any_of(constants_.begin(), constants_.end(),
                      [&](const Tensor& c) { return IsSame(c, *value.constant); });
      if (!is_source) continue;
      return absl::UnimplementedError(
          absl::StrCat("no gradient by a constant that a body reads (\"", value.name,
                       "\" there); make an input of it"));
    }
    return absl::OkStatus();
  }

  absl::Status WalkBack() {
    for (size_t n = graph_.nodes.size(); n > 0; --n) {
      SLIPWAY_RETURN_IF_ERROR(Back(static_cast<NodeId>(n - 1)));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ValueId> FindLoss(const std::string& name) const {
    for (const ValueId id : graph_.outputs) {
      if (!name.empty() && graph_.values[id].name != name) continue;
      if (!IsFloat(graph_.values[id])) break;
      return id;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the graph has no output \"", name, "\" of floating point to derive"));
  }

  absl::StatusOr<std::vector<ValueId>> FindSources(const std::vector<std::string>& names) const {
    std::vector<ValueId> all;
    absl::flat_hash_map<std::string, ValueId> by_name;
    const std::vector<NodeId> producers = Producers(graph_);
    for (ValueId id = 0; id < static_cast<ValueId>(graph_.values.size()); ++id) {
      if (producers[id] != kNoNode || !IsFloat(graph_.values[id])) continue;
      all.push_back(id);
      by_name.emplace(graph_.values[id].name, id);
    }
    if (names.empty()) return all;
    std::vector<ValueId> wanted;
    for (const std::string& name : names) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", name, "\" is no input or constant of floating point to derive by"));
      }
      wanted.push_back(found->second);
    }
    return wanted;
  }

  // Which values change with the sources.
  void MarkDependents(const std::vector<ValueId>& sources) {
    depends_.assign(graph_.values.size(), false);
    for (const ValueId source : sources) depends_[source] = true;
    for (const Node& node : graph_.nodes) {
      const bool depends = std::any_of(node.inputs.begin(), node.inputs.end(), [this](ValueId id) {
        return id != kNoValue && depends_[id];
      });
      for (const ValueId id : node.outputs) {
        if (id != kNoValue) depends_[id] = depends && IsFloat(graph_.values[id]);
      }
    }
  }

  absl::Status Back(NodeId n) {
    const Node node = graph_.nodes[n];
    std::vector<ValueId> gradients;
    for (const ValueId id : node.outputs) {
      ValueId gradient = kNoValue;
      if (id != kNoValue) {
        SLIPWAY_ASSIGN_OR_RETURN(gradient, Total(id));
      }
      gradients.push_back(gradient);
    }
    const bool flows = std::any_of(gradients.begin(), gradients.end(),
                                   [](ValueId gradient) { return gradient != kNoValue; });
    if (!flows) return absl::OkStatus();
    const std::string context =
        absl::StrCat("node \"", DisplayName(graph_, node), "\" (", node.op, ")");
    const GradientRule* rule = rules_.Find(node.op);
    if (rule == nullptr) {
      return absl::UnimplementedError(absl::StrCat(context, ": the operator has no gradient"));
    }
    std::vector<bool> wanted;
    for (const ValueId id : node.inputs) wanted.push_back(id != kNoValue && depends_[id]);
    const BodyGradient of_body = [this](const Graph& body, const std::vector<bool>& flowing,
                                        const std::vector<bool>& asked) -> absl::StatusOr<Graph> {
      SLIPWAY_RETURN_IF_ERROR(CheckStatic(body, "Gradient"));
      SLIPWAY_ASSIGN_OR_RETURN(
          Graph back, Differentiator(body, rules_, context_, constants_).RunBody(flowing, asked));
      return DeadCode(std::move(back), context_);
    };
    GradientNode view(graph_, names_, context_.registry, n, gradients, wanted, of_body);
    (*rule)(view);
    SLIPWAY_RETURN_IF_ERROR_WITH(view.status(), context);
    SLIPWAY_RETURN_IF_ERROR(view.CheckAllAsked());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (view.given()[i] != kNoValue) partial_[node.inputs[i]].push_back(view.given()[i]);
    }
    return absl::OkStatus();
  }

  // The sum of what flows back to the value; kNoValue where nothing does.
  absl::StatusOr<ValueId> Total(ValueId id) {
    const auto found = partial_.find(id);
    if (found == partial_.end()) return kNoValue;
    if (found->second.size() == 1) return found->second[0];
    return AddNode("Sum", found->second, absl::StrCat(graph_.values[id].name, "_sum"));
  }

  // The value itself under the name, or a copy where it is the gradient of something else as well.
  void AddOutput(ValueId gradient, absl::string_view name) {
    const auto& outputs = graph_.outputs;
    const bool is_own = gradient >= static_cast<ValueId>(depends_.size()) &&
                        std::find(outputs.begin(), outputs.end(), gradient) == outputs.end();
    if (is_own) {
      graph_.values[gradient].name = names_.Make(name);
      graph_.outputs.push_back(gradient);
    } else {
      graph_.outputs.push_back(AddNode("Identity", {gradient}, name));
    }
  }

  ValueId AddNode(absl::string_view op, std::vector<ValueId> inputs, absl::string_view name) {
    const ValueId made = graph_.AddValue(names_.Make(name), graph_.values[inputs[0]].type);
    graph_.nodes.push_back({"", std::string(op), std::move(inputs), {made}, {}});
    return made;
  }

  ValueId Ones(ValueId like) { return Filled(like, 1); }
  ValueId Zeros(ValueId like) { return Filled(like, 0); }
  ValueId Filled(ValueId like, double value) {
    const ValueType type = *graph_.values[like].type;
    const ValueId number = graph_.AddConstant(names_.Make("seed"), Tensor::Scalar<double>(value));
    ValueType cast(type.dtype(), Dimensions());
    const ValueId scalar = graph_.AddValue(names_.Make("seed"), cast);
    graph_.nodes.push_back(
        {"", "Cast", {number}, {scalar}, {{"to", static_cast<int64_t>(type.dtype())}}});
    const Shape& shape = type.shape();
    const ValueId extents = graph_.AddConstant(
        names_.Make("seed"), Tensor::Of<int64_t>({static_cast<int64_t>(shape.size())},
                                                 std::vector<int64_t>(shape.begin(), shape.end())));
    const ValueId filled = graph_.AddValue(names_.Make("seed"), TensorType{type.dtype(), shape});
    graph_.nodes.push_back({"", "Expand", {scalar, extents}, {filled}, {}});
    return filled;
  }

  Graph graph_;
  const GradientColumn& rules_;
  const PassContext& context_;
  std::vector<Tensor> constants_;  // By which is derived, here or around.
  UniqueNames names_;
  std::vector<bool> depends_;                                   // By value of the graph as it came.
  absl::flat_hash_map<ValueId, std::vector<ValueId>> partial_;  // What flows back, by value.
};

}  // namespace

absl::StatusOr<Graph> Gradient(Graph graph, const GradientOptions& options,
                               const GradientColumn& rules, const PassContext& context) {
  SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph, "Gradient"));
  SLIPWAY_ASSIGN_OR_RETURN(graph, Differentiator(std::move(graph), rules, context).Run(options));
  // Rules make more than turns out to be read.
  return DeadCode(std::move(graph), context);
}

}  // namespace slipway
