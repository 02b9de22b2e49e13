#include "core/runtime/dynamic_memory.h"

#include "core/base/status_macros.h"

namespace slipway {

DynamicMemory::DynamicMemory(const ResidentProgram& program, ValueTable& values,
                             int64_t limit_bytes)
    : program_(program),
      values_(values),
      blocks_(static_cast<size_t>(program.manifest().proto().buffers_size())) {
  for (uint32_t i = 0; i < program.device_count(); ++i) {
    is_synchronous_ &= program.device(i)->is_synchronous();
  }
  for (uint32_t i = 0; i < program.manifest().spaces().size(); ++i) {
    pools_.push_back(std::make_unique<MemoryPool>(*program.place_of_space(i).device,
                                                  program.place_of_space(i).kind, limit_bytes));
  }
}

void DynamicMemory::Return(Block& block) {
  if (is_synchronous_) {
    MemoryPool::Return(block);
  } else {
    waiting_.push_back(&block);
  }
}

absl::Status DynamicMemory::Place(uint32_t buffer, int64_t bytes) {
  const uint32_t space = program_.plan().buffer_spaces[buffer];
  SLIPWAY_ASSIGN_OR_RETURN(Block* const block, Take(space, bytes));
  Release(buffer);
  blocks_[buffer] = block;
  DeviceMemory memory = block->memory;
  memory.bytes = bytes;
  values_.SetBuffer(buffer, memory);
  return absl::OkStatus();
}

void DynamicMemory::Adopt(uint32_t buffer, Block& block, int64_t bytes) {
  Note(buffer, &block);
  DeviceMemory memory = block.memory;
  memory.bytes = bytes;
  values_.SetBuffer(buffer, memory);
}

int DynamicMemory::blocks_held() const {
  int count = 0;
  for (const std::unique_ptr<MemoryPool>& pool : pools_) count += pool->blocks_held();
  return count;
}

}  // namespace slipway
