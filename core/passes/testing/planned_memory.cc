// EvaluateInPlannedMemory: memory as a MemoryPlan lays it out, with bounds.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/fused.h"
#include "core/passes/testing/pass_tester.h"

namespace slipway::testing {
namespace {

// All bits set: a NaN wherever something is read that nobody wrote.
constexpr char kUnwritten = '\xff';

class PlannedMemory {
 public:
  PlannedMemory(const Graph& graph, const MemoryPlan& plan)
      : graph_(graph), plan_(plan), arena_(plan.arena_bytes, kUnwritten) {
    for (const PlannedBuffer& buffer : plan.buffers) {
      const bool in_arena = buffer.kind == PlannedBuffer::Kind::kArena;
      external_.emplace_back(in_arena ? 0 : buffer.size_bytes, kUnwritten);
    }
  }

  absl::StatusOr<Tensor> Read(ValueId id) {
    const TensorType& type = graph_.values[id].type->tensor();
    SLIPWAY_ASSIGN_OR_RETURN(char* at, Place(id));
    return Tensor::FromBytes(type, absl::string_view(at, type.byte_size()));
  }
  absl::Status Write(ValueId id, const Tensor& tensor) {
    SLIPWAY_ASSIGN_OR_RETURN(char* at, Place(id));
    std::memcpy(at, tensor.bytes().data(), tensor.bytes().size());
    return absl::OkStatus();
  }
  absl::StatusOr<Tensor> ReadBuffer(int buffer, const TensorType& type) const {
    return Tensor::FromBytes(type, external_[buffer]);
  }

 private:
  absl::StatusOr<char*> Place(ValueId id) {
    const PlannedValue& place = plan_.values[id];
    const int64_t bytes = graph_.values[id].type->byte_size();
    if (place.buffer == kNoBuffer) {
      return absl::InternalError(absl::StrCat("\"", graph_.values[id].name, "\" has no place"));
    }
    const PlannedBuffer& buffer = plan_.buffers[place.buffer];
    const bool in_arena = buffer.kind == PlannedBuffer::Kind::kArena;
    std::string& memory = in_arena ? arena_ : external_[place.buffer];
    const int64_t begin = place.offset + buffer.arena_offset;
    if (place.offset + bytes > buffer.size_bytes ||
        begin + bytes > static_cast<int64_t>(memory.size()) || begin % kPlanAlignment != 0) {
      return absl::InternalError(
          absl::StrCat("\"", graph_.values[id].name, "\" lies outside of its buffer"));
    }
    return memory.data() + begin;
  }

  const Graph& graph_;
  const MemoryPlan& plan_;
  std::string arena_;
  std::vector<std::string> external_;  // By buffer; empty for those in the arena.
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> EvaluateInPlannedMemory(const Graph& graph,
                                                            const MemoryPlan& plan,
                                                            absl::Span<const Tensor> inputs,
                                                            const Reference& reference) {
  PlannedMemory memory(graph, plan);
  for (size_t i = 0; i < inputs.size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(memory.Write(graph.inputs[i], inputs[i]));
  }
  for (const PlannedBuffer& buffer : plan.buffers) {
    if (buffer.kind != PlannedBuffer::Kind::kConstant) continue;
    SLIPWAY_RETURN_IF_ERROR(memory.Write(buffer.index, *graph.values[buffer.index].constant));
  }
  for (const Node& node : graph.nodes) {
    if (node.op != kFusedOperator && node.op != kCallOperator) continue;
    std::vector<Tensor> read;
    for (const ValueId id : node.inputs) {
      SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, memory.Read(id));
      read.push_back(std::move(tensor));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> made,
                             reference.EvaluateNode(graph, node, read));
    for (size_t i = 0; i < made.size(); ++i) {
      SLIPWAY_RETURN_IF_ERROR(memory.Write(node.outputs[i], made[i]));
    }
  }
  std::vector<Tensor> outputs;
  for (const PlannedOutput& output : plan.outputs) {
    absl::StatusOr<Tensor> tensor =
        output.copy ? memory.Read(output.value)
                    : memory.ReadBuffer(output.buffer, graph.values[output.value].type->tensor());
    SLIPWAY_RETURN_IF_ERROR(tensor.status());
    outputs.push_back(*std::move(tensor));
  }
  return outputs;
}

}  // namespace slipway::testing
