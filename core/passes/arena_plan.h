// PlanArena: pieces of memory that are alive for a while, laid into one arena so that no two that
// are alive at one time overlap. Plain numbers in, plain numbers out.
#ifndef SLIPWAY_CORE_PASSES_ARENA_PLAN_H_
#define SLIPWAY_CORE_PASSES_ARENA_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace slipway {

// Needed from step `first` to step `last`, both included.
struct ArenaPiece {
  int first = 0;
  int last = 0;
  int64_t bytes = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // One for each piece; multiples of the alignment.
  int64_t arena_bytes = 0;       // The end of the last piece, rounded up to the alignment.
  // The most bytes (each piece rounded up) alive at one step: no plan can do with less.
  int64_t lower_bound_bytes = 0;
};

// Greedy: the pieces in some order, each into the lowest gap that holds it. The orders by size and by breadth (Pisarchyk and
// Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5) are tried; each is improved on, until the
// plan reaches the lower bound or enough has been tried, by moving forward what lies above the bound (Joslin and Clements,
// "Squeaky Wheel Optimization", JAIR 10, 1999). Deterministic; O(n^2), and a fixed number of steps more where that does not
// suffice. INVALID_ARGUMENT for a piece that ends before it begins, or of negative size; RESOURCE_EXHAUSTED when the arena
// exceeds 2^62 bytes. REQUIRES: alignment is a power of two.
absl::StatusOr<ArenaPlan> PlanArena(const std::vector<ArenaPiece>& pieces, int64_t alignment);

// For people: a line a piece in the order of offsets, with a bar over the steps it is alive:
//   [       0,      512) 0..2  |###...|
std::string DumpArena(const std::vector<ArenaPiece>& pieces, const ArenaPlan& plan);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_ARENA_PLAN_H_
