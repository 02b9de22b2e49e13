// MemoryMap: which bytes of a program's memory hold what, while its steps are
// followed in order.
#ifndef SLIPWAY_CORE_ARTIFACT_MEMORY_MAP_H_
#define SLIPWAY_CORE_ARTIFACT_MEMORY_MAP_H_

#include <cstdint>
#include <map>

#include "absl/container/flat_hash_map.h"

namespace slipway {

// Memory is made of spaces (the arena, every external buffer) with byte ranges.
// A written range belongs to the buffer it was written through; writing through
// another buffer that overlaps it takes the bytes away, so that reading through
// the first is found out. Not thread-safe.
class MemoryMap {
 public:
  // Bytes [begin, end) of `space` were written through `buffer`.
  // REQUIRES: begin <= end.
  void Write(int space, int64_t begin, int64_t end, uint32_t buffer);

  // Whether all bytes of [begin, end) were last written through `buffer`.
  bool Holds(int space, int64_t begin, int64_t end, uint32_t buffer) const;

 private:
  struct Range {
    int64_t end;
    uint32_t buffer;
  };
  // Ranges of a space by begin, disjoint.
  absl::flat_hash_map<int, std::map<int64_t, Range>> spaces_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_MEMORY_MAP_H_
