// Elements that belong together: sets that are joined and never parted.
#ifndef SLIPWAY_CORE_PASSES_DISJOINT_SETS_H_
#define SLIPWAY_CORE_PASSES_DISJOINT_SETS_H_

#include <cstddef>
#include <numeric>
#include <vector>

namespace slipway {

// Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm" (JACM 1975), with paths halved. Not thread-safe.
class DisjointSets {
 public:
  // Elements 0 to `count` - 1, each in a set of its own.
  explicit DisjointSets(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  // The element that stands for the set.
  size_t Find(size_t element) {
    while (parent_[element] != element) {
      element = parent_[element] = parent_[parent_[element]];
    }
    return element;
  }
  // That of the first stands for both. REQUIRES: each of the two stands for its set.
  void Join(size_t first, size_t second) { parent_[second] = first; }

 private:
  std::vector<size_t> parent_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_DISJOINT_SETS_H_
