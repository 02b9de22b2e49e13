// DynamicMemory: memory for buffers that the runtime places while a program runs.
#ifndef SLIPWAY_CORE_RUNTIME_DYNAMIC_MEMORY_H_
#define SLIPWAY_CORE_RUNTIME_DYNAMIC_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/runtime/memory_pool.h"
#include "core/runtime/resident_program.h"
#include "core/runtime/value_table.h"

namespace slipway {

// A pool for each memory space, and the block that each buffer has now. Blocks that queued work may still use wait
// until SetIdle; where all devices are synchronous, nothing waits. Not thread-safe.
class DynamicMemory {
 public:
  using Block = MemoryPool::Block;

  // All outlive this. Pools hold at most `limit_bytes` each.
  DynamicMemory(const ResidentProgram& program, ValueTable& values, int64_t limit_bytes);

  // A block held for the caller. RESOURCE_EXHAUSTED.
  absl::StatusOr<Block*> Take(uint32_t space, int64_t bytes) { return pools_[space]->Take(bytes); }
  // Ends one hold.
  void Return(Block& block);

  // Gives a buffer a new block. RESOURCE_EXHAUSTED.
  absl::Status Place(uint32_t buffer, int64_t bytes);
  // Gives a buffer a block that exists, and one more hold on it.
  void Adopt(uint32_t buffer, Block& block, int64_t bytes);
  // Notes the block behind memory that a buffer was given, if any, with one more hold on it.
  void Note(uint32_t buffer, Block* block) {
    if (block != nullptr) MemoryPool::Share(*block);
    Release(buffer);
    blocks_[buffer] = block;
  }
  // The buffer has no block any more.
  void Release(uint32_t buffer) {
    if (blocks_[buffer] != nullptr) Return(*std::exchange(blocks_[buffer], nullptr));
  }
  // Null where the buffer's memory is not the pool's.
  Block* block(uint32_t buffer) const { return blocks_[buffer]; }

  // No work is queued.
  void SetIdle() {
    for (Block* const block : waiting_) MemoryPool::Return(*block);
    waiting_.clear();
  }

  // Blocks that somebody holds, in all pools.
  int blocks_held() const;

 private:
  const ResidentProgram& program_;
  ValueTable& values_;
  bool is_synchronous_ = true;
  std::vector<std::unique_ptr<MemoryPool>> pools_;  // By space.
  std::vector<Block*> blocks_;                      // By buffer.
  std::vector<Block*> waiting_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DYNAMIC_MEMORY_H_
