// MemoryMap: which bytes of a program's memory hold what, while the steps of a function are followed.
#ifndef SLIPWAY_CORE_ARTIFACT_MEMORY_MAP_H_
#define SLIPWAY_CORE_ARTIFACT_MEMORY_MAP_H_

#include <cstdint>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "core/artifact/step_order.h"

namespace slipway {

// Bytes [begin, end) of a piece of memory (an arena, or a buffer of its own), reached through a buffer.
struct MemoryRange {
  int memory = 0;
  int64_t begin = 0;
  int64_t end = 0;
  uint32_t buffer = 0;

  bool Overlaps(const MemoryRange& other) const {
    return memory == other.memory && begin < other.end && other.begin < end;
  }
  friend bool operator==(const MemoryRange&, const MemoryRange&) = default;
};

// What stands against touching a range.
enum class MemoryConflict {
  kNone,
  kNotHeld,   // Not all of it was last written through this buffer.
  kUnordered  // A step that touches it may run at the same time.
};

// A written range belongs to the buffer it was written through; writing through another buffer that overlaps it
// takes the bytes away, so that reading through the first is found out. What one step writes and another touches
// must be ordered. Not thread-safe.
class MemoryMap {
 public:
  // Stands for the caller of the function, who wrote the inputs before all steps.
  static constexpr int kCaller = -1;
  // Stands for whoever reads when all steps have ended.
  static constexpr int kEnd = INT32_MAX;

  // `order` must outlive the map.
  explicit MemoryMap(const StepOrder& order) : order_(order) {}

  // Step `step` reads a range, which must be held through its buffer.
  MemoryConflict Read(const MemoryRange& range, int step);

  // Step `step`, or the caller, writes a range.
  MemoryConflict Write(const MemoryRange& range, int step);

  // Step `step` leaves bytes in the range that nobody knows.
  MemoryConflict Clobber(int memory, int64_t begin, int64_t end, int step);

  // Ranges looked at so far: the work done.
  int64_t visits() const { return visits_; }

 private:
  static constexpr int64_t kNobody = -1;

  struct Piece {
    int64_t end;
    int64_t buffer;  // Or kNobody.
    int writer;
    // Steps that read it since; kept only where steps may run at the same time.
    absl::InlinedVector<int, 1> readers;
  };
  // By begin, disjoint.
  using Pieces = std::map<int64_t, Piece>;

  bool IsBefore(int earlier, int later) const {
    return earlier == kCaller || earlier == later || later == kEnd ||
           order_.IsBefore(earlier, later);
  }
  // Cuts the piece that reaches over `at` in two.
  void Cut(Pieces& pieces, int64_t at);
  MemoryConflict Replace(int memory, int64_t begin, int64_t end, int64_t buffer, int step);

  const StepOrder& order_;
  absl::flat_hash_map<int, Pieces> memories_;
  int64_t visits_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_MEMORY_MAP_H_
