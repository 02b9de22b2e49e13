#include "core/passes/plan_memory_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/graph/bind_symbols.h"
#include "core/passes/arena_plan.h"
#include "core/passes/placed_concats.h"

namespace slipway {
namespace {

constexpr int kNever = -1;

class Planner {
 public:
  Planner(const Graph& graph, const OperatorRegistry& registry)
      : graph_(graph),
        registry_(registry),
        root_(ViewRoots(graph, registry)),
        offset_(graph.values.size(), 0),
        first_(graph.values.size(), kNever),
        last_(graph.values.size(), kNever),
        buffer_(graph.values.size(), kNoBuffer) {}

  absl::StatusOr<MemoryPlan> Run();

 private:
  int AddBuffer(PlannedBuffer::Kind kind, int index, int64_t size_bytes) {
    plan_.buffers.push_back({kind, index, size_bytes, 0});
    return static_cast<int>(plan_.buffers.size()) - 1;
  }
  int64_t Bytes(ValueId id) const { return graph_.values[id].type->byte_size(); }

  // Concats that FuseOps left: their inputs lie in their result.
  absl::Status PlaceConcats();
  void FindLifetimes();
  void PlaceInputs();
  void PlaceOutputs();
  void PlaceConstants();
  absl::Status PlaceArena();

  const Graph& graph_;
  const OperatorRegistry& registry_;
  // By value: the one in whose buffer it lies, and where there.
  std::vector<ValueId> root_;
  std::vector<int64_t> offset_;
  // By root: the nodes from which to which it is needed.
  std::vector<int> first_;
  std::vector<int> last_;
  // By root: its buffer.
  std::vector<int> buffer_;
  MemoryPlan plan_;
};

absl::Status Planner::PlaceConcats() {
  const std::vector<bool> placed = PlacedConcats(graph_, registry_);
  std::vector<ValueId> host(graph_.values.size(), kNoValue);  // By root.
  std::vector<int64_t> begin(graph_.values.size(), 0);
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    if (registry_.MovementOf(node.op) != Movement::kConcat) continue;
    if (!placed[n]) {
      return absl::InternalError(absl::StrCat("node \"", DisplayName(graph_, node), "\" (", node.op,
                                              ") is not fused, but needs a kernel"));
    }
    int64_t offset = 0;
    for (const ValueId id : node.inputs) {
      host[root_[id]] = node.outputs[0];
      begin[root_[id]] = offset;
      offset += Bytes(id);
    }
  }
  for (ValueId& root : root_) {
    const size_t id = &root - root_.data();
    if (host[root] == kNoValue) continue;
    offset_[id] = begin[root];
    root = host[root];
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
    const Movement movement = registry_.MovementOf(graph_.nodes[n].op);
    if (movement == Movement::kConcat || movement == Movement::kView) continue;
    for (const ValueId id : graph_.nodes[n].inputs) touch(id, n);
    for (const ValueId id : graph_.nodes[n].outputs) touch(id, n);
  }
  // Copies to outputs come last.
  for (const ValueId id : graph_.outputs) touch(id, count);
}

void Planner::PlaceInputs() {
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const ValueId id = graph_.inputs[i];
    buffer_[id] = AddBuffer(PlannedBuffer::Kind::kInput, static_cast<int>(i), Bytes(id));
  }
}

void Planner::PlaceOutputs() {
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ValueId id = graph_.outputs[i];
    const int buffer = AddBuffer(PlannedBuffer::Kind::kOutput, static_cast<int>(i), Bytes(id));
    const ValueId root = root_[id];
    const bool is_ours = !graph_.values[root].constant.has_value() && buffer_[root] == kNoBuffer;
    if (is_ours) buffer_[root] = buffer;
    plan_.outputs.push_back({id, buffer, !is_ours});
  }
}

void Planner::PlaceConstants() {
  for (size_t id = 0; id < root_.size(); ++id) {
    if (!graph_.values[id].constant.has_value() || last_[id] == kNever) continue;
    buffer_[id] = AddBuffer(PlannedBuffer::Kind::kConstant, static_cast<int>(id),
                            Bytes(static_cast<ValueId>(id)));
  }
}

absl::Status Planner::PlaceArena() {
  std::vector<ValueId> values;
  std::vector<ArenaPiece> intervals;
  for (size_t id = 0; id < root_.size(); ++id) {
    if (buffer_[id] != kNoBuffer || first_[id] == kNever) continue;
    values.push_back(static_cast<ValueId>(id));
    // Kernels are handed a pointer for tensors without elements too.
    const int64_t bytes = std::max<int64_t>(Bytes(static_cast<ValueId>(id)), 1);
    intervals.push_back({first_[id], last_[id], bytes});
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ArenaPlan arena, PlanArena(intervals, kPlanAlignment));
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t size =
        (intervals[i].bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
    buffer_[values[i]] = AddBuffer(PlannedBuffer::Kind::kArena, 0, size);
    plan_.buffers.back().arena_offset = arena.offsets[i];
  }
  plan_.arena_bytes = arena.arena_bytes;
  plan_.arena_lower_bound_bytes = arena.lower_bound_bytes;
  return absl::OkStatus();
}

absl::StatusOr<MemoryPlan> Planner::Run() {
  for (const Value& value : graph_.values) {
    if (value.type.has_value()) continue;
    return absl::InternalError(absl::StrCat("value \"", value.name, "\" has no type"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph_, "planning memory"));
  SLIPWAY_RETURN_IF_ERROR(PlaceConcats());
  FindLifetimes();
  PlaceInputs();
  PlaceOutputs();
  PlaceConstants();
  SLIPWAY_RETURN_IF_ERROR(PlaceArena());
  for (size_t id = 0; id < root_.size(); ++id) {
    plan_.values.push_back({buffer_[root_[id]], offset_[id]});
  }
  return std::move(plan_);
}

}  // namespace

absl::StatusOr<MemoryPlan> PlanMemory(const Graph& graph, const OperatorRegistry& registry) {
  return Planner(graph, registry).Run();
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
    }
    absl::StrAppend(&text, "%", graph.values[id].name, ": ", place, "\n");
  }
  return text;
}

}  // namespace slipway
