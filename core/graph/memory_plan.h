// MemoryPlan: where every value of a fused graph lies. Made by
// core/passes/plan_memory_pass, read by backends; it stands here because
// neither of the two may see the other.
#ifndef SLIPWAY_CORE_GRAPH_MEMORY_PLAN_H_
#define SLIPWAY_CORE_GRAPH_MEMORY_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/symbolic/expression.h"

namespace slipway {

inline constexpr int kNoBuffer = -1;
inline constexpr int64_t kPlanAlignment = 64;  // Bytes; of arena offsets, sizes and value offsets.

struct PlannedBuffer {
  enum class Kind {
    kArena,     // [arena_offset, arena_offset + size_bytes) of the arena.
    kInput,     // Brought by the caller: graph input number `index`.
    kOutput,    // Brought by the caller: graph output number `index`.
    kConstant,  // The bytes of the constant value number `index` (a ValueId).
    kDynamic,   // Placed by the runtime: of a size that is known only when the program runs.
  };
  Kind kind = Kind::kArena;
  int index = 0;           // See Kind; 0 for kArena and kDynamic.
  int64_t size_bytes = 0;  // kArena: a multiple of kPlanAlignment; else the tensor's own size.
  // Instead of size_bytes where an extent is open. Not of kArena and kConstant.
  std::optional<Expression> open_size = std::nullopt;
  int64_t arena_offset = 0;  // kArena only; a multiple of kPlanAlignment.
  int device = 0;            // In whose memory it lies; each has an arena of its own.
};

struct PlannedValue {
  int buffer = kNoBuffer;  // Index into MemoryPlan::buffers; kNoBuffer when
                           // nothing reads or makes it.
  int64_t offset = 0;      // Bytes into the buffer; a multiple of kPlanAlignment.
};

// Graph output number i. `value` is graph.outputs[i]; `buffer` is the kOutput
// buffer that the caller reads. With `copy` the value lies elsewhere (an input,
// a constant, the buffer of an earlier output) and has to be copied there after
// the last node. An output whose size is not known when a call begins has no such buffer: `buffer` is the one it lies in.
struct PlannedOutput {
  ValueId value = kNoValue;
  int buffer = kNoBuffer;
  bool copy = false;
};

struct PlannedBody;

// A node that is no kernel (Pattern::kKernel) moves nothing and needs no step: a view lies where its input lies, a
// Concat's inputs lie in its output. (A kernel's outputs overlap none of its inputs.)
struct MemoryPlan {
  std::vector<PlannedBuffer>
      buffers;  // Inputs, outputs, constants in use, dynamic ones, then the arena's.
  std::vector<PlannedValue> values;    // One a value of the graph.
  std::vector<PlannedOutput> outputs;  // One a graph output.
  int64_t arena_bytes = 0;             // Of the host's.
  // No plan can do with less: the most bytes alive at one time.
  int64_t arena_lower_bound_bytes = 0;
  // What runs as functions of its own, in the order of the nodes. Their arenas lie behind this one, each at its end.
  std::vector<PlannedBody> bodies;
};

// A body of a node as a function, and its plan. Its outputs have no buffers of their own: each is the value as it lies.
struct PlannedBody {
  NodeId node = kNoNode;
  std::string attribute;
  bool has_condition = false;  // Of a loop: output 0 says whether there is another turn.
  Graph graph;
  MemoryPlan plan;
};

// The arena of a plan with those of all bodies.
int64_t WholeArenaBytes(const MemoryPlan& plan);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_MEMORY_PLAN_H_
