// SplitMix64: numbers that look random and are the same everywhere (G. L. Steele Jr., D. Lea, C. H. Flood, Fast
// Splittable Pseudorandom Number Generators, OOPSLA 2014).
#ifndef SLIPWAY_CORE_BASE_SPLIT_MIX_H_
#define SLIPWAY_CORE_BASE_SPLIT_MIX_H_

#include <cstdint>

namespace slipway {

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t state) : state_(state) {}
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_SPLIT_MIX_H_
