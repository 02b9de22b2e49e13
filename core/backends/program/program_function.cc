#include "core/backends/program/program_function.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/artifact/limits.h"
#include "core/backends/program/program_manifest.h"
#include "core/backends/program/symbol_tables.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/operators/control.h"
#include "core/operators/fused.h"
#include "core/passes/node_cost.h"
#include "core/wire/precision_proto.h"

namespace slipway {
namespace {

using Kind = PlannedBuffer::Kind;

// Names what a kernel computes.
void AddOperators(const Graph& computed, v1::Step& step) {
  for (const Node& inner : computed.nodes) {
    step.add_operators(std::string(absl::StripPrefix(inner.op, "slipway.")));
  }
}

class FunctionBuilder {
 public:
  FunctionBuilder(const Graph& graph, const MemoryPlan& memory, int64_t arena_base, bool is_entry,
                  FunctionContext& context)
      : graph_(graph),
        memory_(memory),
        arena_base_(arena_base),
        is_entry_(is_entry),
        context_(context),
        value_ids_(graph.values.size(), -1),
        symbols_(graph.symbols, context.manifest) {}

  absl::StatusOr<uint32_t> Run(absl::string_view name);

 private:
  struct BodyFunction {
    uint32_t index = 0;
    bool has_condition = false;
  };

  absl::Status AddBodies(absl::string_view name);
  absl::Status AddBuffers();
  absl::StatusOr<uint32_t> ValueIndex(ValueId id);
  absl::StatusOr<uint32_t> ScalarIndex(ValueId id);
  absl::StatusOr<uint32_t> AddValue(const ValueType& type, int buffer, int64_t offset);
  absl::Status AddAll(absl::Span<const ValueId> ids,
                      google::protobuf::RepeatedField<uint32_t>& list);
  absl::Status AddKernelStep(const Node& node);
  absl::Status AddLaunchSteps(const Node& node, const LaunchedKernel& kernel);
  // Of the steps that come next.
  void AddVendorStep(const LaunchedKernel& kernel, absl::Span<const uint32_t> tensors);
  absl::StatusOr<uint32_t> ScratchIndex(int64_t bytes, int64_t arena_offset);
  absl::Status AddDeviceCopyStep(const Node& node);
  // Null unless device 1 computes it.
  const LaunchedKernel* LaunchedBy(const Node& node) const;
  // A step of the device, which begins when those before it have ended.
  v1::Step& AddStep(absl::string_view name, uint32_t device = 0);
  absl::Status SetCost(const Node& node, v1::ProgramNotes::StepCost& cost) const;
  void SetCopyCost(ValueId from, v1::ProgramNotes::StepCost& cost) const;
  absl::Status AddBindSymbolsStep(const Node& node);
  absl::Status AddControlStep(NodeId n);
  absl::Status CheckNeedsNoStep(const Node& node) const;
  absl::Status AddSteps();
  absl::Status AddBindings();
  absl::Status AddConstraints();

  const Graph& graph_;
  const MemoryPlan& memory_;
  const int64_t arena_base_;
  const bool is_entry_;
  FunctionContext& context_;
  const ReaderLimits limits_;
  std::vector<int> value_ids_;  // By value of the graph: that of the manifest, once it has one.
  uint32_t first_buffer_ = 0;   // Of the manifest: this plan's first.
  SymbolTables symbols_;
  std::map<std::pair<NodeId, std::string>, BodyFunction> functions_;
  v1::Function* function_ = nullptr;
  std::vector<v1::ProgramNotes::StepCost> costs_;  // Of the function's steps.
  // By device: its last step and the last one of another device that it awaited, or -1.
  std::array<int, 2> last_step_ = {-1, -1};
  std::array<int, 2> awaited_ = {-1, -1};
  int64_t scratch_base_ = 0;  // Where the arena of device 1 ends.
};

absl::Status FunctionBuilder::AddBodies(absl::string_view name) {
  for (const PlannedBody& body : memory_.bodies) {
    const std::string body_name =
        absl::StrCat(name, "/", DisplayName(graph_, graph_.nodes[body.node]), "/", body.attribute);
    SLIPWAY_ASSIGN_OR_RETURN(
        const uint32_t index,
        FunctionBuilder(body.graph, body.plan, arena_base_ + memory_.arena_bytes, false, context_)
            .Run(body_name));
    functions_[{body.node, body.attribute}] = {index, body.has_condition};
  }
  return absl::OkStatus();
}

absl::Status FunctionBuilder::AddBuffers() {
  for (const PlannedBuffer& planned : memory_.buffers) {
    v1::Buffer& buffer = *context_.manifest.add_buffers();
    buffer.set_space(static_cast<uint32_t>(planned.device));
    if (planned.open_size.has_value()) {
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t size, symbols_.ExpressionIndex(*planned.open_size));
      buffer.mutable_size()->set_expression(size);
    } else {
      buffer.mutable_size()->set_constant(planned.size_bytes);
    }
    switch (planned.kind) {
      case Kind::kArena:
        if (planned.device == 1) {
          scratch_base_ = std::max(scratch_base_, planned.arena_offset + planned.size_bytes);
        }
        buffer.set_class_(v1::Buffer::CLASS_STATIC);
        buffer.set_arena_offset(planned.arena_offset + (planned.device == 0 ? arena_base_ : 0));
        break;
      case Kind::kInput:
      case Kind::kOutput:
        buffer.set_class_(v1::Buffer::CLASS_EXTERNAL);
        break;
      case Kind::kConstant:
        buffer.set_class_(v1::Buffer::CLASS_CONSTANT);
        buffer.set_constant(context_.next_constant++);
        break;
      case Kind::kDynamic:
        buffer.set_class_(v1::Buffer::CLASS_DYNAMIC);
        break;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> FunctionBuilder::AddValue(const ValueType& type, int buffer,
                                                   int64_t offset) {
  v1::Value value;
  value.set_dtype(static_cast<v1::DataType>(type.dtype()));
  for (const Dimension& extent : type.dimensions()) {
    if (extent.is_known()) {
      value.add_shape()->set_value(extent.extent());
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t expression,
                             symbols_.ExpressionIndex(extent.expression()));
    value.add_shape()->set_expression(expression);
  }
  value.set_buffer(first_buffer_ + static_cast<uint32_t>(buffer));
  value.set_offset(offset);
  *context_.manifest.add_values() = std::move(value);
  return static_cast<uint32_t>(context_.manifest.values_size()) - 1;
}

absl::StatusOr<uint32_t> FunctionBuilder::ValueIndex(ValueId id) {
  if (value_ids_[id] < 0) {
    const PlannedValue& place = memory_.values[id];
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t index,
                             AddValue(*graph_.values[id].type, place.buffer, place.offset));
    value_ids_[id] = static_cast<int>(index);
  }
  return static_cast<uint32_t>(value_ids_[id]);
}

v1::Step& FunctionBuilder::AddStep(absl::string_view name, uint32_t device) {
  const int index = function_->steps_size();
  v1::Step& step = *function_->add_steps();
  step.set_name(Shortened(name, limits_.step_name_bytes));
  step.set_device(device);
  const int others = last_step_[1 - device];
  if (others > awaited_[device]) {
    step.add_after(static_cast<uint32_t>(others));
    awaited_[device] = others;
  }
  last_step_[device] = index;
  return step;
}

absl::Status FunctionBuilder::AddBindSymbolsStep(const Node& node) {
  v1::Step& step = AddStep(DisplayName(graph_, node));
  v1::Step::BindSymbols& bind = *step.mutable_bind_symbols();
  SLIPWAY_ASSIGN_OR_RETURN(const uint32_t numbers, ValueIndex(node.inputs[0]));
  bind.set_value(numbers);
  for (const std::string& name :
       *node.attributes.FindAs<std::vector<std::string>>(absl::string_view(kBoundSymbols))) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t symbol, symbols_.SymbolIndex(name));
    bind.add_symbols(symbol);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> FunctionBuilder::ScratchIndex(int64_t bytes, int64_t arena_offset) {
  v1::Buffer& buffer = *context_.manifest.add_buffers();
  buffer.set_class_(v1::Buffer::CLASS_STATIC);
  buffer.set_space(1);
  buffer.mutable_size()->set_constant(bytes);
  buffer.set_arena_offset(arena_offset);
  const int own = context_.manifest.buffers_size() - 1 - static_cast<int>(first_buffer_);
  return AddValue(TensorType{DataType::kUint8, {bytes}}, own, 0);
}

void FunctionBuilder::AddVendorStep(const LaunchedKernel& kernel,
                                    absl::Span<const uint32_t> tensors) {
  v1::ProgramNotes::VendorStep& step = *context_.notes.add_vendor_steps();
  step = *kernel.vendor_step;
  // Functions in bodies are there already.
  step.set_first_step(static_cast<uint32_t>(context_.notes.steps_size() + function_->steps_size()));
  step.set_steps(static_cast<uint32_t>(kernel.launches.size()));
  if (step.has_product()) {
    for (auto* const matrix :
         {step.mutable_product()->mutable_left(), step.mutable_product()->mutable_right()}) {
      matrix->set_value(tensors[matrix->value()]);
    }
  } else {
    v1::ProgramNotes::VendorStep::Convolution& convolution = *step.mutable_convolution();
    convolution.set_planes(tensors[convolution.planes()]);
    convolution.set_weights(tensors[convolution.weights()]);
  }
  step.set_result(tensors[step.result()]);
  if (step.has_bias()) step.set_bias(tensors[step.bias()]);
  if (step.has_added()) step.set_added(tensors[step.added()]);
}

// One kernel's scratch memory is another's: the steps of a device are one after the other.
absl::Status FunctionBuilder::AddLaunchSteps(const Node& node, const LaunchedKernel& kernel) {
  std::vector<uint32_t> tensors;
  for (const std::vector<ValueId>* ids : {&node.inputs, &node.outputs}) {
    for (const ValueId id : *ids) {
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t index, ValueIndex(id));
      tensors.push_back(index);
    }
  }
  int64_t scratch = scratch_base_;
  for (const int64_t bytes : kernel.scratch_bytes) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t index, ScratchIndex(bytes, scratch));
    tensors.push_back(index);
    scratch += bytes;
  }
  if (kernel.vendor_step.has_value()) AddVendorStep(kernel, tensors);
  const std::string name = DisplayName(graph_, node);
  for (size_t i = 0; i < kernel.launches.size(); ++i) {
    const LaunchedEntry& launched = kernel.launches[i];
    v1::Step& step = AddStep(kernel.launches.size() == 1
                                 ? name
                                 : absl::StrCat(name, ", ", i + 1, " of ", kernel.launches.size()),
                             1);
    AddOperators(*ComputedBy(node), step);
    v1::Step::Kernel& call = *step.mutable_kernel();
    call.set_code(1);
    call.set_kernel(launched.entry);
    for (const int tensor : launched.reads)
      call.add_inputs(tensors.at(static_cast<size_t>(tensor)));
    for (const int tensor : launched.writes) {
      call.add_outputs(tensors.at(static_cast<size_t>(tensor)));
    }
    for (size_t d = 0; d < 3; ++d) {
      call.mutable_launch()->add_groups()->set_constant(launched.groups[d]);
      call.mutable_launch()->add_group(launched.group[d]);
    }
    call.mutable_launch()->set_shared_bytes(launched.shared_bytes);
    costs_.emplace_back();
    // What it costs is said once, of the last one, which makes the output.
    if (i + 1 == kernel.launches.size()) SLIPWAY_RETURN_IF_ERROR(SetCost(node, costs_.back()));
  }
  return absl::OkStatus();
}

const LaunchedKernel* FunctionBuilder::LaunchedBy(const Node& node) const {
  if (!context_.code.accelerator.has_value() || node.op != kFusedOperator) return nullptr;
  const auto found = context_.code.accelerator->kernel_of.find(ComputedBy(node));
  return found == context_.code.accelerator->kernel_of.end() ? nullptr : &found->second;
}

absl::Status FunctionBuilder::AddDeviceCopyStep(const Node& node) {
  v1::Step& step = AddStep(absl::StrCat("Copy ", graph_.values[node.inputs[0]].name), 1);
  step.add_operators("Identity");
  SLIPWAY_ASSIGN_OR_RETURN(const uint32_t from, ValueIndex(node.inputs[0]));
  SLIPWAY_ASSIGN_OR_RETURN(const uint32_t to, ValueIndex(node.outputs[0]));
  step.mutable_copy()->set_from(from);
  step.mutable_copy()->set_to(to);
  SetCopyCost(node.inputs[0], costs_.emplace_back());
  return absl::OkStatus();
}

absl::Status FunctionBuilder::AddKernelStep(const Node& node) {
  v1::Step& step = AddStep(DisplayName(graph_, node));
  const Graph* computed = ComputedBy(node);
  AddOperators(*computed, step);
  v1::Step::Kernel& call = *step.mutable_kernel();
  call.set_kernel(context_.code.kernel_of.at(computed));
  SLIPWAY_RETURN_IF_ERROR(AddAll(node.inputs, *call.mutable_inputs()));
  SLIPWAY_RETURN_IF_ERROR(AddAll(node.outputs, *call.mutable_outputs()));
  const int arguments = call.inputs_size() + call.outputs_size();
  if (arguments > limits_.arguments_per_step) {
    return absl::ResourceExhaustedError(absl::StrCat("node \"", step.name(), "\" has ", arguments,
                                                     " inputs and outputs, more than the limit of ",
                                                     limits_.arguments_per_step));
  }
  return absl::OkStatus();
}

// Left unset where extents are open.
absl::Status FunctionBuilder::SetCost(const Node& node, v1::ProgramNotes::StepCost& cost) const {
  const absl::StatusOr<int64_t> flops = ProductFlops(graph_, node, context_.registry);
  if (absl::IsUnimplemented(flops.status())) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(flops.status());
  const absl::StatusOr<NodeTraffic> traffic = TrafficOf(graph_, node);
  if (absl::IsUnimplemented(traffic.status())) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(traffic.status());
  cost.set_flops(*flops);
  cost.set_bytes(traffic->bytes);
  cost.set_constant_bytes(traffic->constant_bytes);
  cost.set_product_type(static_cast<v1::DataType>(ProductType(graph_, node)));
  cost.set_product_precision(ToProto(ProductsOfNode(node)));
  return absl::OkStatus();
}

void FunctionBuilder::SetCopyCost(ValueId from, v1::ProgramNotes::StepCost& cost) const {
  const Value& value = graph_.values[from];
  if (!value.type->is_static()) return;
  const int64_t bytes = value.type->byte_size();
  cost.set_flops(0);
  cost.set_bytes(2 * bytes);
  cost.set_constant_bytes(value.constant.has_value() ? bytes : 0);
}

absl::Status FunctionBuilder::AddAll(absl::Span<const ValueId> ids,
                                     google::protobuf::RepeatedField<uint32_t>& list) {
  for (const ValueId id : ids) {
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t index, ValueIndex(id));
    list.Add(index);
  }
  return absl::OkStatus();
}

// One element as a value of rank 0, whatever its rank is.
absl::StatusOr<uint32_t> FunctionBuilder::ScalarIndex(ValueId id) {
  if (graph_.values[id].type->rank() == 0) return ValueIndex(id);
  const PlannedValue& place = memory_.values[id];
  return AddValue(TensorType{graph_.values[id].type->dtype(), {}}, place.buffer, place.offset);
}

absl::Status FunctionBuilder::AddControlStep(NodeId n) {
  const Node& node = graph_.nodes[n];
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph_, node, context_.registry));
  v1::Step& step = AddStep(DisplayName(graph_, node));
  step.add_operators(node.op);
  const absl::Span<const ValueId> inputs = node.inputs;
  const absl::Span<const ValueId> outputs = node.outputs;
  if (node.op == kIfOperator) {
    v1::Step::If& branch = *step.mutable_branch();
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t condition, ScalarIndex(inputs[0]));
    branch.set_condition(condition);
    branch.set_then_function(functions_.at({n, kThenBody}).index);
    branch.set_else_function(functions_.at({n, kElseBody}).index);
    SLIPWAY_RETURN_IF_ERROR(AddAll(inputs.subspan(1), *branch.mutable_inputs()));
    SLIPWAY_RETURN_IF_ERROR(AddAll(outputs, *branch.mutable_outputs()));
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
    const BodyFunction& body = functions_.at({n, kLoopBody});
    v1::Step::Loop& proto = *step.mutable_loop();
    proto.set_body(body.index);
    if (!loop.is_scan && inputs[0] != kNoValue) {
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t turns, ScalarIndex(inputs[0]));
      proto.set_max_turns(turns);
    }
    // Without conditions after turns the one before the first is known to hold.
    if (!loop.is_scan && inputs[1] != kNoValue && body.has_condition) {
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t first, ScalarIndex(inputs[1]));
      proto.set_first_condition(first);
    }
    proto.set_has_condition(body.has_condition);
    const size_t carried = loop.carried;
    SLIPWAY_RETURN_IF_ERROR(
        AddAll(inputs.subspan(loop.first_carried, carried), *proto.mutable_initial()));
    SLIPWAY_RETURN_IF_ERROR(AddAll(inputs.subspan(loop.first_scanned(), loop.scanned.size()),
                                   *proto.mutable_scanned()));
    SLIPWAY_RETURN_IF_ERROR(
        AddAll(inputs.subspan(loop.first_captured()), *proto.mutable_captured()));
    SLIPWAY_RETURN_IF_ERROR(AddAll(outputs.subspan(0, carried), *proto.mutable_results()));
    SLIPWAY_RETURN_IF_ERROR(AddAll(outputs.subspan(carried), *proto.mutable_collected()));
  }
  return absl::OkStatus();
}

absl::Status FunctionBuilder::CheckNeedsNoStep(const Node& node) const {
  const Movement movement = context_.registry.MovementOf(node.op);
  const bool is_split = movement == Movement::kSplit;
  const PlannedValue& whole = memory_.values[is_split ? node.inputs[0] : node.outputs[0]];
  int64_t offset = whole.offset;
  for (const ValueId id : is_split ? node.outputs : node.inputs) {
    const PlannedValue& part = memory_.values[id];
    if (part.buffer != whole.buffer || part.offset != offset) {
      return absl::InternalError(absl::StrCat("node \"", DisplayName(graph_, node), "\" (", node.op,
                                              ") is not fused, but has to move data"));
    }
    // A view's further inputs say its shape.
    if (!MovesParts(movement)) break;
    offset += graph_.values[id].type->byte_size();
  }
  return absl::OkStatus();
}

absl::Status FunctionBuilder::AddSteps() {
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    if (node.op == kBindSymbolsOperator) {
      SLIPWAY_RETURN_IF_ERROR(AddBindSymbolsStep(node));
      costs_.emplace_back();
    } else if (IsDeviceCopy(node)) {
      SLIPWAY_RETURN_IF_ERROR(AddDeviceCopyStep(node));
    } else if (const LaunchedKernel* launched = LaunchedBy(node); launched != nullptr) {
      SLIPWAY_RETURN_IF_ERROR(AddLaunchSteps(node, *launched));
    } else if (context_.registry.Find(node.op)->pattern == Pattern::kKernel) {
      SLIPWAY_RETURN_IF_ERROR(AddKernelStep(node));
      SLIPWAY_RETURN_IF_ERROR(SetCost(node, costs_.emplace_back()));
    } else if (context_.registry.Find(node.op)->body_rule != nullptr) {
      SLIPWAY_RETURN_IF_ERROR(AddControlStep(static_cast<NodeId>(n)));
      costs_.emplace_back();
    } else {
      SLIPWAY_RETURN_IF_ERROR(CheckNeedsNoStep(node));
    }
  }
  for (size_t i = 0; i < memory_.outputs.size(); ++i) {
    const PlannedOutput& output = memory_.outputs[i];
    if (!output.copy) continue;
    v1::Step& step = AddStep(absl::StrCat("Copy ", graph_.values[output.value].name));
    step.add_operators("Identity");
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t from, ValueIndex(output.value));
    step.mutable_copy()->set_from(from);
    step.mutable_copy()->set_to(function_->outputs(static_cast<int>(i)).value());
    SetCopyCost(output.value, costs_.emplace_back());
  }
  return absl::OkStatus();
}

absl::Status FunctionBuilder::AddBindings() {
  for (const ValueId id : graph_.inputs) {
    v1::Binding& input = *function_->add_inputs();
    // Names are for callers of entries.
    input.set_name(is_entry_ ? graph_.values[id].name
                             : absl::StrCat("input ", function_->inputs_size() - 1));
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t value, ValueIndex(id));
    input.set_value(value);
  }
  for (const PlannedOutput& planned : memory_.outputs) {
    v1::Binding& output = *function_->add_outputs();
    output.set_name(is_entry_ ? graph_.values[planned.value].name
                              : absl::StrCat("output ", function_->outputs_size() - 1));
    SLIPWAY_ASSIGN_OR_RETURN(const uint32_t value,
                             planned.copy
                                 ? AddValue(*graph_.values[planned.value].type, planned.buffer, 0)
                                 : ValueIndex(planned.value));
    output.set_value(value);
  }
  return absl::OkStatus();
}

// Those of symbols that nothing gives a value, since what needed them is gone, need not hold.
absl::Status FunctionBuilder::AddConstraints() {
  for (const ValueId id : graph_.inputs) symbols_.Bind(*graph_.values[id].type);
  for (const Node& node : graph_.nodes) {
    if (node.op == kBindSymbolsOperator) {
      for (const std::string& name :
           *node.attributes.FindAs<std::vector<std::string>>(absl::string_view(kBoundSymbols))) {
        symbols_.Bind(name);
      }
    } else if (context_.registry.Find(node.op)->body_rule != nullptr) {
      for (const ValueId id : node.outputs) {
        if (id != kNoValue) symbols_.Bind(*graph_.values[id].type);
      }
    }
  }
  for (const Constraint& constraint : graph_.constraints) {
    const auto is_bound = [this](const Equality& equality) {
      return symbols_.IsBound(equality.left) && symbols_.IsBound(equality.right);
    };
    if (!std::all_of(constraint.any_of.begin(), constraint.any_of.end(), is_bound)) continue;
    v1::Constraint& proto = *function_->add_constraints();
    proto.set_user(Shortened(constraint.user, limits_.step_name_bytes));
    for (const Equality& equality : constraint.any_of) {
      v1::Constraint::Equality& equal = *proto.add_any_of();
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t left, symbols_.ExpressionIndex(equality.left));
      SLIPWAY_ASSIGN_OR_RETURN(const uint32_t right, symbols_.ExpressionIndex(equality.right));
      equal.set_left(left);
      equal.set_right(right);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> FunctionBuilder::Run(absl::string_view name) {
  SLIPWAY_RETURN_IF_ERROR(AddBodies(name));
  for (const ValueId id : graph_.inputs) {
    for (const Dimension& extent : graph_.values[id].type->dimensions()) {
      if (!extent.is_known()) SLIPWAY_RETURN_IF_ERROR(symbols_.AddInputExtent(extent.expression()));
    }
  }
  first_buffer_ = static_cast<uint32_t>(context_.manifest.buffers_size());
  SLIPWAY_RETURN_IF_ERROR(AddBuffers());
  const auto index = static_cast<uint32_t>(context_.manifest.functions_size());
  v1::Function function;
  function.set_name(Shortened(name, limits_.name_bytes));
  function_ = &function;
  SLIPWAY_RETURN_IF_ERROR(AddBindings());
  SLIPWAY_RETURN_IF_ERROR(AddSteps());
  SLIPWAY_RETURN_IF_ERROR(AddConstraints());
  *context_.manifest.add_functions() = std::move(function);
  for (v1::ProgramNotes::StepCost& cost : costs_) *context_.notes.add_steps() = std::move(cost);
  return index;
}

}  // namespace

std::string Shortened(absl::string_view name, int max_bytes) {
  return std::string(Utf8Prefix(name, static_cast<size_t>(max_bytes)));
}

absl::StatusOr<uint32_t> AddFunction(const Graph& graph, const MemoryPlan& memory,
                                     absl::string_view name, int64_t arena_base,
                                     FunctionContext& context) {
  return FunctionBuilder(graph, memory, arena_base, true, context).Run(name);
}

}  // namespace slipway
