// Scratch: memory that kernels borrow for the length of a call.
#ifndef SLIPWAY_CORE_RUNTIME_SCRATCH_H_
#define SLIPWAY_CORE_RUNTIME_SCRATCH_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/runtime/size_class.h"

namespace slipway {

// Blocks go back to lists by size and stay there: after the first run of a program its kernels get
// what others released, and the system's allocator is not asked. All of it is freed with the object,
// whether it was released or not. Thread-safe.
class Scratch {
 public:
  // Gives out at most `limit_bytes` at a time, blocks that wait in the lists included.
  explicit Scratch(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // 64-byte aligned; null when there is none left.
  void* Allocate(uint64_t bytes);
  // Whether Allocate returned null since the last ForgetRefusals.
  bool has_refused() const { return refused_.load(std::memory_order_relaxed); }
  void ForgetRefusals() { refused_.store(false, std::memory_order_relaxed); }
  int64_t limit_bytes() const { return limit_bytes_; }
  // Null is allowed.
  void Release(void* memory);

  // Bytes taken from the system.
  int64_t size_bytes() const;

 private:
  // In front of every block.
  struct alignas(64) Header {
    Header* next_free;
    Header* next_block;
    int size_class;
  };

  void* Find(uint64_t bytes);

  const int64_t limit_bytes_;
  std::atomic<bool> refused_ = false;
  mutable std::mutex mutex_;
  std::array<Header*, kSizeClasses> free_ = {};
  Header* blocks_ = nullptr;
  int64_t size_bytes_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_SCRATCH_H_
