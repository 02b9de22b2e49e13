#include "core/codegen/group_pipeline.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/element_function.h"
#include "core/codegen/float_math.h"
#include "core/codegen/limits.h"
#include "core/graph/edit.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;

// A value of the body in the pipeline.
struct Stage {
  Func func;
  int terms = 1;  // Size of the expression that reading it inlines.
  bool inlined = false;
  std::optional<Anchor> anchor;  // Of the operator that made it.
  NodeId producer = kNoNode;
};

bool IsExtentOf(const Expr& expr, const Expr& extent) {
  const auto* variable = expr.as<Halide::Internal::Variable>();
  const auto* own = extent.as<Halide::Internal::Variable>();
  return variable != nullptr && own != nullptr && variable->name == own->name;
}

// Dense memory of these extents, innermost first.
template <typename Parameter>
void FixBounds(Parameter parameter, const std::vector<Extent>& extents) {
  Extent stride(1);
  for (size_t i = 0; i < extents.size(); ++i) {
    const Extent& extent = extents[i];
    auto dimension = parameter.dim(static_cast<int>(i));
    if (IsExtentOf(extent.expr, dimension.extent())) {
      dimension.set_min(0);  // The one that tells it.
    } else {
      dimension.set_bounds(0, extent.expr);
    }
    dimension.set_stride(stride.expr);
    stride = stride.known == kOpen || extent.known == kOpen
                 ? Extent(kOpen, stride.expr * extent.expr)
                 : Extent(stride.known * std::max(extent.known, 1));
  }
}

class Builder {
 public:
  Builder(const Graph& body, const OperatorRegistry& registry, const Lowerings& lowerings,
          int lanes, const ScheduleFunction& schedule)
      : body_(body),
        registry_(registry),
        lowerings_(lowerings),
        lanes_(lanes),
        schedule_(schedule),
        stages_(body.values.size()) {}

  absl::StatusOr<GroupPipeline> Build() {
    SLIPWAY_RETURN_IF_ERROR(AddParameters());
    SLIPWAY_RETURN_IF_ERROR(LearnExtents());
    AddInputs();
    SLIPWAY_RETURN_IF_ERROR(AddConstants());
    for (size_t i = 0; i < body_.nodes.size(); ++i) {
      SLIPWAY_RETURN_IF_ERROR(AddNode(static_cast<NodeId>(i)));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Func> outputs, TakeOutputs());
    SLIPWAY_RETURN_IF_ERROR(ScheduleAnchors(outputs));
    result_.pipeline = Halide::Pipeline(outputs);
    result_.pipeline.add_custom_lowering_pass(new WriteOutElementFunctions(ElementFunctions()));
    return std::move(result_);
  }

 private:
  // The extents that inputs tell. Each is that of the first dimension that has it.
  absl::Status LearnExtents() {
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      const ValueType& type = *body_.value(body_.inputs[i]).type;
      for (int d = 0; d < type.rank(); ++d) {
        if (type.dimension(d).is_known()) continue;
        told_.try_emplace(ToString(type.dimension(d)),
                          parameters_[i].dim(type.rank() - 1 - d).extent());
      }
    }
    for (const Value& value : body_.values) {
      for (const Dimension& dimension : value.type->dimensions()) {
        if (dimension.is_known()) continue;
        if (!dimension.is_unknown() && Tell(dimension.expression()).defined()) continue;
        return absl::UnimplementedError(
            absl::StrCat("value \"", value.name, "\" is ", ToString(*value.type),
                         ", which the inputs of its kernel do not tell"));
      }
    }
    return absl::OkStatus();
  }
  // Undefined where they do not tell it.
  Expr Tell(const Expression& expression) const {
    if (expression.is_constant()) return Expr(static_cast<int>(expression.constant()));
    const auto found = told_.find(ToString(expression));
    if (found != told_.end()) return found->second;
    Expr result;
    for (const Expression& operand : expression.operands()) {
      const Expr next = Tell(operand);
      if (!next.defined()) return Expr();
      result = result.defined() ? Combined(expression.kind(), result, next) : next;
    }
    return result;
  }
  // Extents are never negative, and Halide rounds down.
  static Expr Combined(Expression::Kind kind, const Expr& a, const Expr& b) {
    switch (kind) {
      case Expression::Kind::kProduct:
        return a * b;
      case Expression::Kind::kSum:
        return a + b;
      case Expression::Kind::kFloorDivide:
        return a / b;
      case Expression::Kind::kCeilDivide:
        return (a + b - 1) / b;
      case Expression::Kind::kMin:
        return Halide::min(a, b);
      case Expression::Kind::kMax:
        return Halide::max(a, b);
      default:
        return Expr();
    }
  }

  absl::Status AddParameters() {
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      const ValueType& type = *body_.value(body_.inputs[i]).type;
      SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type element, HalideType(type.dtype()));
      parameters_.emplace_back(element, type.rank(), absl::StrCat("input", i));
      result_.arguments.push_back(parameters_.back());
    }
    return absl::OkStatus();
  }

  void AddInputs() {
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      const ValueId id = body_.inputs[i];
      Halide::ImageParam& param = parameters_[i];
      FixBounds(param, Extents(*body_.value(id).type, open_extent_));
      const std::vector<Halide::Var> vars = FreshVars(param.dimensions());
      Func read("read");
      if (NumElements(body_.value(id).type->dimensions()) == Dimension(0)) {
        // There is nothing behind its pointer, and operators may clamp indices to its edge.
        read(vars) = Halide::Internal::make_zero(param.type());
      } else {
        read(vars) = param(AsExprs(vars));
      }
      stages_[id].func = read;
    }
  }

  absl::Status AddConstants() {
    for (size_t id = 0; id < body_.values.size(); ++id) {
      const Value& value = body_.values[id];
      if (!value.constant.has_value()) continue;
      if (value.constant->byte_size() > kMaxBakedConstantBytes) continue;  // See CheckGroup.
      SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(value.type->dtype()));
      const std::vector<int> extents = HalideExtents(*value.type);
      Halide::Buffer<> buffer(type, extents);
      std::memcpy(buffer.data(), value.constant->bytes().data(), value.constant->byte_size());
      const std::vector<Halide::Var> vars = FreshVars(static_cast<int>(extents.size()));
      Func read("constant");
      if (value.constant->num_elements() == 1) {
        read(vars) = ScalarOf(type, value.constant->bytes().data());
      } else {
        read(vars) = buffer(AsExprs(vars));
      }
      stages_[id].func = read;
    }
    return absl::OkStatus();
  }

  static Expr ScalarOf(Halide::Type type, const char* bytes) {
    const auto load = [bytes](auto value) {
      std::memcpy(&value, bytes, sizeof(value));
      return value;
    };
    if (type == Halide::Float(32)) return Expr(load(float{}));
    if (type == Halide::Float(64)) return Expr(load(double{}));
    if (type == Halide::Int(8)) return Expr(load(int8_t{}));
    if (type == Halide::Int(16)) return Expr(load(int16_t{}));
    if (type == Halide::Int(32)) return Expr(load(int32_t{}));
    if (type == Halide::Int(64)) return Expr(load(int64_t{}));
    if (type == Halide::UInt(8)) return Expr(load(uint8_t{}));
    if (type == Halide::UInt(16)) return Expr(load(uint16_t{}));
    if (type == Halide::UInt(32)) return Expr(load(uint32_t{}));
    return Expr(load(uint64_t{}));
  }

  absl::Status AddNode(NodeId id) {
    const Node& node = body_.nodes[id];
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(body_, node, registry_));
    std::vector<Func> inputs;
    int terms = 1;
    for (const ValueId input : node.inputs) {
      inputs.push_back(input == kNoValue ? Func() : stages_[input].func);
      if (input != kNoValue) terms += stages_[input].terms;
    }
    const std::vector<ValueType> types = TypesOf(body_, node.outputs);
    if (MakesNothing(types)) return AddEmpty(id, types);
    LoweringContext context{view, lanes_, inputs, types, open_extent_, schedule_};
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<Func> outputs, lowerings_.Find(node.op)->lower(context));

    const bool anchor = context.anchor.has_value();
    // An anchor reads its inputs many times over; a reduction as often as there are elements.
    if (anchor && view.schema().pattern != Pattern::kReduction) {
      for (const ValueId input : node.inputs) {
        if (input != kNoValue && stages_[input].inlined) {
          SLIPWAY_RETURN_IF_ERROR(Materialize(input));
        }
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      Stage& stage = stages_[node.outputs[i]];
      stage.func = outputs[i];
      stage.producer = id;
      stage.inlined = !anchor;
      stage.terms = anchor ? 1 : terms;
      if (anchor) stage.anchor = context.anchor;
      if (stage.terms > kMaxInlinedTerms) {
        SLIPWAY_RETURN_IF_ERROR(Materialize(node.outputs[i]));
      }
    }
    return absl::OkStatus();
  }

  // A node that makes no element: its schedule would divide by extents of 0.
  absl::Status AddEmpty(NodeId id, const std::vector<ValueType>& types) {
    for (size_t i = 0; i < types.size(); ++i) {
      const ValueId output = body_.nodes[id].outputs[i];
      if (output == kNoValue) continue;
      SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(types[i].dtype()));
      Func empty("empty");
      empty(FreshVars(static_cast<int>(types[i].rank()))) = Halide::Internal::make_zero(type);
      stages_[output].func = empty;
      stages_[output].producer = id;
      stages_[output].inlined = true;
    }
    return absl::OkStatus();
  }

  // Makes an expression a stage of its own.
  absl::Status Materialize(ValueId id) {
    stages_[id].inlined = false;
    stages_[id].terms = 1;
    return ScheduleInjective(stages_[id].func, id);
  }

  absl::Status ScheduleInjective(const Func& func, ValueId id) const {
    int element_bytes = 1;
    for (const Halide::Type& type : func.output_types()) {
      element_bytes = std::max(element_bytes, type.bytes());
    }
    return schedule_({AnchorKind::kInjective,
                      InjectiveStages{HalideExtents(*body_.value(id).type), element_bytes}},
                     func);
  }

  // The Funcs of the group's outputs, each a Func of its own, with their memory's layout fixed.
  absl::StatusOr<std::vector<Func>> TakeOutputs() {
    std::vector<Func> outputs;
    for (size_t i = 0; i < body_.outputs.size(); ++i) {
      const ValueId id = body_.outputs[i];
      bool own = stages_[id].producer != kNoNode;
      for (size_t j = 0; j < i; ++j) own = own && body_.outputs[j] != id;
      Func func = stages_[id].func;
      if (!own) {
        const std::vector<Halide::Var> vars = FreshVars(func.dimensions());
        func = Func("copy");
        func(vars) = stages_[id].func(AsExprs(vars));
        SLIPWAY_RETURN_IF_ERROR(ScheduleInjective(func, id));
      } else if (stages_[id].inlined) {
        // The tail of an anchor is scheduled with it instead.
        if (TailAnchor() == kNoValue) SLIPWAY_RETURN_IF_ERROR(ScheduleInjective(func, id));
      }
      FixBounds(func.output_buffer(), Extents(*body_.value(id).type, open_extent_));
      outputs.push_back(func);
    }
    return outputs;
  }

  absl::Status ScheduleAnchors(const std::vector<Func>& outputs) {
    const ValueId tail_anchor = TailAnchor();
    for (size_t id = 0; id < stages_.size(); ++id) {
      Stage& stage = stages_[id];
      if (!stage.anchor.has_value()) continue;
      // The operator's other outputs are scheduled with the first.
      if (body_.nodes[stage.producer].outputs[0] != static_cast<ValueId>(id)) continue;
      if (static_cast<ValueId>(id) == tail_anchor) {
        SLIPWAY_RETURN_IF_ERROR(schedule_(*stage.anchor, outputs[0]));
      } else {
        stage.func.compute_root();
        SLIPWAY_RETURN_IF_ERROR(schedule_(*stage.anchor, stage.func));
      }
    }
    return absl::OkStatus();
  }

  // The anchor's value that only elementwise nodes of its shape lead to the group's one output, which
  // all of them do; kNoValue when there is none.
  ValueId TailAnchor() const {
    if (body_.outputs.size() != 1 || stages_[body_.outputs[0]].producer == kNoNode) return kNoValue;
    if (!stages_[body_.outputs[0]].inlined) return kNoValue;
    ValueId anchor = kNoValue;
    for (size_t id = 0; id < stages_.size(); ++id) {
      const std::optional<Anchor>& candidate = stages_[id].anchor;
      if (!candidate.has_value() || !candidate->takes_epilogue) continue;
      // Later anchors have later producers.
      if (anchor == kNoValue || stages_[id].producer > stages_[anchor].producer) {
        anchor = static_cast<ValueId>(id);
      }
    }
    if (anchor == kNoValue) return kNoValue;
    const std::vector<std::vector<NodeId>> users = Users(body_);
    std::vector<ValueId> pending = {anchor};
    std::vector<bool> seen(body_.values.size(), false);
    while (!pending.empty()) {
      const ValueId id = pending.back();
      pending.pop_back();
      if (id == body_.outputs[0] || seen[id]) continue;
      seen[id] = true;
      if (users[id].empty()) return kNoValue;
      for (const NodeId user : users[id]) {
        for (const ValueId output : body_.nodes[user].outputs) {
          if (output == kNoValue || !stages_[output].inlined) return kNoValue;
          const OperatorSchema* schema = registry_.Find(body_.nodes[user].op);
          if (schema == nullptr || !IsElementwise(schema->pattern) ||
              !SameExtents(body_.value(output).type->dimensions(),
                           body_.value(anchor).type->dimensions())) {
            return kNoValue;
          }
          pending.push_back(output);
        }
      }
    }
    return anchor;
  }

  const Graph& body_;
  const OperatorRegistry& registry_;
  const Lowerings& lowerings_;
  const int lanes_;
  const ScheduleFunction& schedule_;
  std::vector<Halide::ImageParam> parameters_;  // The inputs.
  std::map<std::string, Expr> told_;            // By extent, as written.
  const OpenExtent open_extent_ = [this](const Dimension& extent) {
    return Tell(extent.expression());
  };
  std::vector<Stage> stages_;
  GroupPipeline result_;
};

}  // namespace

absl::StatusOr<GroupPipeline> BuildGroupPipeline(const Graph& body,
                                                 const OperatorRegistry& registry,
                                                 const Lowerings& lowerings, int lanes,
                                                 const ScheduleFunction& schedule) {
  return Builder(body, registry, lowerings, lanes, schedule).Build();
}

}  // namespace slipway
