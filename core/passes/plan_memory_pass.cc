#include "core/passes/plan_memory_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"
#include "core/operators/control.h"
#include "core/passes/arena_plan.h"
#include "core/passes/function_bodies.h"
#include "core/passes/placed_parts.h"

namespace slipway {
namespace {

constexpr int kNever = -1;

class Planner {
 public:
  // Of a body: its outputs stay where they are.
  Planner(const Graph& graph, const OperatorRegistry& registry, bool is_body,
          std::vector<int> device_of = {})
      : graph_(graph),
        is_body_(is_body),
        registry_(registry),
        device_of_(std::move(device_of)),
        root_(graph.values.size()),
        offset_(graph.values.size(), 0),
        first_(graph.values.size(), kNever),
        last_(graph.values.size(), kNever),
        buffer_(graph.values.size(), kNoBuffer),
        dynamic_(graph.values.size(), false) {
    device_of_.resize(graph.values.size(), 0);
    for (const ValueId id : graph.inputs) {
      for (const Dimension& dimension : graph.values[id].type->dimensions()) {
        if (dimension.symbol() != nullptr) given_.push_back({*dimension.symbol()});
      }
    }
  }

  absl::StatusOr<MemoryPlan> Run();

 private:
  // A buffer for the value.
  int AddBuffer(PlannedBuffer::Kind kind, int index, ValueId id) {
    PlannedBuffer buffer{kind, index};
    buffer.device = device_of_[id];
    if (IsOpen(id)) {
      buffer.open_size = OpenBytes(id).expression();
    } else {
      buffer.size_bytes = Bytes(id);
    }
    plan_.buffers.push_back(std::move(buffer));
    return static_cast<int>(plan_.buffers.size()) - 1;
  }
  bool IsOpen(ValueId id) const { return !graph_.values[id].type->is_static(); }
  int64_t Bytes(ValueId id) const { return graph_.values[id].type->byte_size(); }
  Dimension OpenBytes(ValueId id) const {
    const ValueType& type = *graph_.values[id].type;
    return NumElements(type.dimensions()) * ByteSize(type.dtype());
  }
  // Whether the value's size follows from the extents of the graph's inputs.
  bool IsKnownAtCall(ValueId id) const;
  absl::Status CheckSizes() const;

  // Concats and Splits that FuseOps left.
  absl::Status PlaceParts();
  void FindLifetimes();
  void PlaceInputs();
  void PlaceOutputs();
  void PlaceConstants();
  void PlaceDynamic();
  absl::Status PlanBodies();
  absl::Status PlaceArena(int device);

  const Graph& graph_;
  const bool is_body_;
  const OperatorRegistry& registry_;
  std::vector<int> device_of_;  // By value: in whose memory it lies.
  // By value: the one in whose buffer it lies, and where there.
  std::vector<ValueId> root_;
  std::vector<int64_t> offset_;
  // By root: the nodes from which to which it is needed.
  std::vector<int> first_;
  std::vector<int> last_;
  // By root: its buffer.
  std::vector<int> buffer_;
  std::vector<bool> dynamic_;  // By root: whether the runtime places it, though its size be known.
  std::vector<Symbol> given_;  // Those that extents of inputs give.
  MemoryPlan plan_;
};

absl::Status Planner::PlaceParts() {
  const std::vector<bool> placed = PlacedParts(graph_, registry_);
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    if (!MovesParts(registry_.MovementOf(node.op)) || placed[n]) continue;
    return absl::InternalError(absl::StrCat("node \"", DisplayName(graph_, node), "\" (", node.op,
                                            ") is not fused, but needs a kernel"));
  }
  const std::vector<Place> places = PlacesOf(graph_, registry_, placed);
  for (size_t id = 0; id < places.size(); ++id) {
    root_[id] = places[id].whole;
    offset_[id] = places[id].offset;
  }
  return absl::OkStatus();
}

void Planner::FindLifetimes() {
  const auto touch = [this](ValueId id, int node) {
    if (id == kNoValue) return;
    const ValueId root = root_[id];
    if (first_[root] == kNever) first_[root] = node;
    last_[root] = node;
  };
  const int count = static_cast<int>(graph_.nodes.size());
  for (int n = 0; n < count; ++n) {
    if (LiesInPlace(registry_.MovementOf(graph_.nodes[n].op))) continue;
    for (const ValueId id : graph_.nodes[n].inputs) touch(id, n);
    for (const ValueId id : graph_.nodes[n].outputs) touch(id, n);
  }
  // Copies to outputs come last.
  for (const ValueId id : graph_.outputs) touch(id, count);
}

void Planner::PlaceInputs() {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const ValueId id = graph_.inputs[i];
    buffer_[id] = AddBuffer(PlannedBuffer::Kind::kInput, static_cast<int>(i), id);
  }
}

void Planner::PlaceOutputs() {
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ValueId id = graph_.outputs[i];
    if (is_body_ || !IsKnownAtCall(id)) {
      plan_.outputs.push_back({id, kNoBuffer, false});  // Its own, once it has one.
      continue;
    }
    const int buffer = AddBuffer(PlannedBuffer::Kind::kOutput, static_cast<int>(i), id);
    const ValueId root = root_[id];
    const bool is_ours =
        !graph_.values[root].constant.has_value() && buffer_[root] == kNoBuffer && !dynamic_[root];
    if (is_ours) buffer_[root] = buffer;
    plan_.outputs.push_back({id, buffer, !is_ours});
  }
}

void Planner::PlaceConstants() {
  for (size_t id = 0; id < root_.size(); ++id) {
    if (!graph_.values[id].constant.has_value() || last_[id] == kNever) continue;
    buffer_[id] =
        AddBuffer(PlannedBuffer::Kind::kConstant, static_cast<int>(id), static_cast<ValueId>(id));
  }
}

bool Planner::IsKnownAtCall(ValueId id) const {
  if (!IsOpen(id)) return true;
  for (const Dimension& dimension : graph_.values[id].type->dimensions()) {
    if (!dimension.is_known() && !CheckSymbolsKnown(dimension.expression(), given_).ok()) {
      return false;
    }
  }
  return true;
}

absl::Status Planner::CheckSizes() const {
  std::vector<bool> has_buffer(graph_.values.size());
  for (size_t id = 0; id < has_buffer.size(); ++id) has_buffer[id] = last_[root_[id]] != kNever;
  for (const ValueId id : graph_.inputs) has_buffer[id] = true;  // Those that nobody reads too.
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    if (!IsOpen(static_cast<ValueId>(id)) || !has_buffer[id]) continue;
    if (!OpenBytes(static_cast<ValueId>(id)).is_unknown()) continue;
    return absl::UnimplementedError(absl::StrCat("value \"", graph_.values[id].name, "\" is ",
                                                 ToString(*graph_.values[id].type),
                                                 ", whose size cannot be told before it is made"));
  }
  return absl::OkStatus();
}

void Planner::PlaceDynamic() {
  for (size_t id = 0; id < root_.size(); ++id) {
    if (buffer_[id] != kNoBuffer || first_[id] == kNever || root_[id] != static_cast<ValueId>(id) ||
        !(IsOpen(static_cast<ValueId>(id)) || dynamic_[id])) {
      continue;
    }
    buffer_[id] = AddBuffer(PlannedBuffer::Kind::kDynamic, 0, static_cast<ValueId>(id));
  }
}

absl::Status Planner::PlanBodies() {
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const OperatorSchema* schema = registry_.Find(graph_.nodes[n].op);
    if (schema == nullptr || schema->body_rule == nullptr) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(graph_, graph_.nodes[n], registry_));
    SLIPWAY_ASSIGN_OR_RETURN(std::vector<FunctionBody> functions, FunctionBodiesOf(view));
    for (FunctionBody& function : functions) {
      PlannedBody body{static_cast<NodeId>(n),
                       function.attribute,
                       function.has_condition,
                       std::move(function.graph),
                       {}};
      SLIPWAY_ASSIGN_OR_RETURN_WITH(body.plan, Planner(body.graph, registry_, true).Run(),
                                    view.display_name());
      if (body.has_condition) {
        // How many slices are collected, running tells; they lie where there is room for any number.
        SLIPWAY_ASSIGN_OR_RETURN(const LoopView loop, DecodeLoop(view));
        for (size_t i = loop.carried; i < graph_.nodes[n].outputs.size(); ++i) {
          dynamic_[graph_.nodes[n].outputs[i]] = true;
        }
      }
      plan_.bodies.push_back(std::move(body));
    }
  }
  return absl::OkStatus();
}

absl::Status Planner::PlaceArena(int device) {
  std::vector<ValueId> values;
  std::vector<ArenaPiece> intervals;
  for (size_t id = 0; id < root_.size(); ++id) {
    if (buffer_[id] != kNoBuffer || first_[id] == kNever || device_of_[id] != device) continue;
    values.push_back(static_cast<ValueId>(id));
    // Kernels are handed a pointer for tensors without elements too.
    const int64_t bytes = std::max<int64_t>(Bytes(static_cast<ValueId>(id)), 1);
    intervals.push_back({first_[id], last_[id], bytes});
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ArenaPlan arena, PlanArena(intervals, kPlanAlignment));
  for (size_t i = 0; i < values.size(); ++i) {
    buffer_[values[i]] = AddBuffer(PlannedBuffer::Kind::kArena, 0, values[i]);
    plan_.buffers.back().size_bytes = RoundUp(intervals[i].bytes, kPlanAlignment);
    plan_.buffers.back().arena_offset = arena.offsets[i];
  }
  if (device == 0) {
    plan_.arena_bytes = arena.arena_bytes;
    plan_.arena_lower_bound_bytes = arena.lower_bound_bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<MemoryPlan> Planner::Run() {
  for (const Value& value : graph_.values) {
    if (value.type.has_value()) continue;
    return absl::InternalError(absl::StrCat("value \"", value.name, "\" has no type"));
  }
  SLIPWAY_RETURN_IF_ERROR(PlanBodies());
  SLIPWAY_RETURN_IF_ERROR(PlaceParts());
  FindLifetimes();
  SLIPWAY_RETURN_IF_ERROR(CheckSizes());
  PlaceInputs();
  PlaceOutputs();
  PlaceConstants();
  PlaceDynamic();
  int last_device = 0;
  for (const int device : device_of_) last_device = std::max(last_device, device);
  for (int device = 0; device <= last_device; ++device) {
    SLIPWAY_RETURN_IF_ERROR(PlaceArena(device));
  }
  for (size_t id = 0; id < root_.size(); ++id) {
    plan_.values.push_back({buffer_[root_[id]], offset_[id]});
  }
  for (PlannedOutput& output : plan_.outputs) {
    if (output.buffer == kNoBuffer) output.buffer = plan_.values[output.value].buffer;
  }
  return std::move(plan_);
}

}  // namespace

absl::StatusOr<MemoryPlan> PlanMemory(const Graph& graph, const OperatorRegistry& registry,
                                      const std::vector<int>& device_of) {
  return Planner(graph, registry, false, device_of).Run();
}

std::string DumpMemory(const Graph& graph, const MemoryPlan& plan) {
  std::string text = absl::StrFormat("arena %d bytes, lower bound %d\n", plan.arena_bytes,
                                     plan.arena_lower_bound_bytes);
  for (size_t id = 0; id < plan.values.size(); ++id) {
    if (plan.values[id].buffer == kNoBuffer) continue;
    const PlannedBuffer& buffer = plan.buffers[plan.values[id].buffer];
    std::string place;
    switch (buffer.kind) {
      case PlannedBuffer::Kind::kArena: {
        const int64_t begin = buffer.arena_offset + plan.values[id].offset;
        place =
            absl::StrFormat("arena [%d, %d)", begin, begin + graph.values[id].type->byte_size());
        break;
      }
      case PlannedBuffer::Kind::kInput:
        place = absl::StrCat("input ", buffer.index);
        break;
      case PlannedBuffer::Kind::kOutput:
        place = absl::StrCat("output ", buffer.index);
        break;
      case PlannedBuffer::Kind::kConstant:
        place = "constant";
        break;
      case PlannedBuffer::Kind::kDynamic:
        place = absl::StrCat("dynamic, ", ToString(*buffer.open_size), " bytes");
        break;
    }
    absl::StrAppend(&text, "%", graph.values[id].name, ": ", place, "\n");
  }
  return text;
}

}  // namespace slipway
