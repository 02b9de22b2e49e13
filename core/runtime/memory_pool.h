// MemoryPool: memory of a device for buffers whose size is known only when a program runs.
#ifndef SLIPWAY_CORE_RUNTIME_MEMORY_POOL_H_
#define SLIPWAY_CORE_RUNTIME_MEMORY_POOL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/runtime/device.h"
#include "core/runtime/size_class.h"

namespace slipway {

// Blocks go back to lists by size and stay there, so that a call whose sizes were seen before asks the device for
// nothing. When the limit or the device's memory is reached, blocks that wait in the lists are given back first.
// Not thread-safe.
class MemoryPool {
 public:
  // A piece of memory with holders; the pool's own.
  struct Block {
    MemoryPool* pool = nullptr;
    DeviceMemory memory;
    int size_class = 0;
    int holders = 0;
    Block* next_free = nullptr;
  };

  // Takes at most `limit_bytes` from `device`, which must outlive the pool.
  MemoryPool(ComputeDevice& device, MemoryKind kind, int64_t limit_bytes)
      : device_(device), kind_(kind), limit_bytes_(limit_bytes) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // A block of at least `bytes`, held once. RESOURCE_EXHAUSTED says how much there is.
  absl::StatusOr<Block*> Take(int64_t bytes);
  static void Share(Block& block) { ++block.holders; }
  // One holder less; without holders the block waits for the next Take. No queued work uses it then.
  static void Return(Block& block) { block.pool->GiveUp(block); }

  // Bytes taken from the device, and blocks that somebody holds.
  int64_t size_bytes() const { return size_bytes_; }
  int blocks_held() const { return blocks_held_; }

 private:
  void GiveUp(Block& block);
  absl::StatusOr<DeviceMemory> Allocate(int64_t bytes);
  void GiveBackFreeBlocks();

  ComputeDevice& device_;
  const MemoryKind kind_;
  const int64_t limit_bytes_;
  std::array<Block*, kSizeClasses> free_ = {};
  std::vector<std::unique_ptr<Block>> blocks_;
  int64_t size_bytes_ = 0;
  int blocks_held_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_MEMORY_POOL_H_
