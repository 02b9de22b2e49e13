#include "core/runtime/memory_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {

MemoryPool::~MemoryPool() {
  for (const std::unique_ptr<Block>& block : blocks_) device_.Free(block->memory);
}

absl::StatusOr<MemoryPool::Block*> MemoryPool::Take(int64_t bytes) {
  if (static_cast<uint64_t>(bytes) > kLargestBlockBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("no buffer can have ", bytes, " bytes"));
  }
  const int size_class = SizeClassOf(static_cast<uint64_t>(bytes));
  Block*& list = free_[static_cast<size_t>(size_class)];
  if (list == nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory memory,
                             Allocate(static_cast<int64_t>(BytesOfSizeClass(size_class))));
    blocks_.push_back(std::make_unique<Block>(Block{this, memory, size_class}));
    list = blocks_.back().get();
  }
  Block* block = list;
  list = block->next_free;
  block->next_free = nullptr;
  block->holders = 1;
  ++blocks_held_;
  return block;
}

void MemoryPool::GiveUp(Block& block) {
  if (--block.holders > 0) return;
  --blocks_held_;
  Block*& list = free_[static_cast<size_t>(block.size_class)];
  block.next_free = list;
  list = &block;
}

absl::StatusOr<DeviceMemory> MemoryPool::Allocate(int64_t bytes) {
  if (bytes > limit_bytes_ - size_bytes_) GiveBackFreeBlocks();
  if (bytes > limit_bytes_ - size_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a buffer of ", bytes, " bytes does not fit: buffers hold ", size_bytes_,
                     " of the ", limit_bytes_, " allowed; allow more with --dynamic-bytes"));
  }
  absl::StatusOr<DeviceMemory> memory = device_.Allocate(bytes, kind_);
  if (absl::IsResourceExhausted(memory.status())) {
    GiveBackFreeBlocks();
    memory = device_.Allocate(bytes, kind_);
  }
  if (memory.ok()) size_bytes_ += bytes;
  return memory;
}

void MemoryPool::GiveBackFreeBlocks() {
  free_ = {};
  const auto is_free = [this](const std::unique_ptr<Block>& block) {
    if (block->holders > 0) return false;
    size_bytes_ -= static_cast<int64_t>(BytesOfSizeClass(block->size_class));
    device_.Free(block->memory);
    return true;
  };
  blocks_.erase(std::remove_if(blocks_.begin(), blocks_.end(), is_free), blocks_.end());
}

}  // namespace slipway
