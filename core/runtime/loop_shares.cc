#include "core/runtime/loop_shares.h"

#include <algorithm>

namespace slipway {
namespace {

uint32_t Begin(uint64_t left) { return static_cast<uint32_t>(left); }
uint32_t End(uint64_t left) { return static_cast<uint32_t>(left >> 32); }
uint64_t Left(uint32_t begin, uint32_t end) { return uint64_t{end} << 32 | begin; }
uint32_t Count(uint64_t left) { return End(left) - Begin(left); }

}  // namespace

LoopShares::LoopShares(size_t threads, int32_t extent)
    : count_(std::min({threads, kMost, static_cast<size_t>(std::max(extent, 1))})) {
  const auto bound = [&](size_t i) {
    return static_cast<uint32_t>(uint64_t{static_cast<uint32_t>(extent)} * i / count_);
  };
  for (size_t i = 0; i < count_; ++i) {
    shares_[i].left.store(Left(bound(i), bound(i + 1)), std::memory_order_relaxed);
  }
}

std::optional<int32_t> LoopShares::Take(size_t thread) {
  if (thread >= count_ && count_ < kMost) return TakeOthers();
  const std::optional<int32_t> own = TakeOwn(shares_[thread % count_]);
  return own.has_value() ? own : TakeOthers();
}

bool LoopShares::is_empty() const {
  return std::all_of(shares_.begin(), shares_.begin() + count_, [](const Share& share) {
    return Count(share.left.load(std::memory_order_relaxed)) == 0;
  });
}

std::optional<int32_t> LoopShares::TakeOwn(Share& share) {
  uint64_t left = share.left.load(std::memory_order_relaxed);
  while (Count(left) > 0) {
    if (share.left.compare_exchange_weak(left, Left(Begin(left) + 1, End(left)),
                                         std::memory_order_relaxed)) {
      return static_cast<int32_t>(Begin(left));
    }
  }
  return std::nullopt;
}

std::optional<int32_t> LoopShares::TakeOthers() {
  while (true) {
    size_t most = 0;
    uint64_t left = shares_[0].left.load(std::memory_order_relaxed);
    for (size_t i = 1; i < count_; ++i) {
      const uint64_t other = shares_[i].left.load(std::memory_order_relaxed);
      if (Count(other) > Count(left)) {
        most = i;
        left = other;
      }
    }
    if (Count(left) == 0) return std::nullopt;
    if (shares_[most].left.compare_exchange_strong(left, Left(Begin(left), End(left) - 1),
                                                   std::memory_order_relaxed)) {
      return static_cast<int32_t>(End(left) - 1);
    }
  }
}

}  // namespace slipway
