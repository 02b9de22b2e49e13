// LoopShares: which thread does which index of a parallel loop.
#ifndef SLIPWAY_CORE_RUNTIME_LOOP_SHARES_H_
#define SLIPWAY_CORE_RUNTIME_LOOP_SHARES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace slipway {

// Each thread begins with a share of neighbouring indices, the same in every loop of as many indices: what it wrote in one
// loop lies in its processor's cache in the next. Who has done their own takes from the end of the largest share
// that is left, the place farthest from where its owner is, so that a slow or absent thread costs no loop more than one task.
//
// Work stealing as by Blumofe and Leiserson, "Scheduling Multithreaded Computations by Work Stealing" (JACM 46(5), 1999), with the
// deque as two numbers in one word, since all that is to do is known at the begin. Thread-safe.
class LoopShares {
 public:
  // More threads than this share shares: thread t has that of t % kMost.
  static constexpr size_t kMost = 64;

  // Of the indices 0 to extent - 1.
  // REQUIRES: threads >= 1, extent >= 0.
  LoopShares(size_t threads, int32_t extent);
  LoopShares(const LoopShares&) = delete;
  LoopShares& operator=(const LoopShares&) = delete;

  // The next index for a thread; each index is given once. nullopt when none is left.
  std::optional<int32_t> Take(size_t thread);

  bool is_empty() const;

 private:
  // A cache line each, as each is its owner's most of the time.
  struct alignas(64) Share {
    // The first index that is left in the lower half, the one past the last in the upper.
    std::atomic<uint64_t> left;
  };

  std::optional<int32_t> TakeOwn(Share& share);
  std::optional<int32_t> TakeOthers();

  const size_t count_;
  std::array<Share, kMost> shares_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_LOOP_SHARES_H_
