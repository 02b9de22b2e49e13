#include "core/runtime/scratch.h"

#include <cstdlib>

#include "core/runtime/size_class.h"

namespace slipway {
Scratch::~Scratch() {
  while (blocks_ != nullptr) {
    Header* next = blocks_->next_block;
    std::free(blocks_);
    blocks_ = next;
  }
}

void* Scratch::Allocate(uint64_t bytes) {
  void* const memory = Find(bytes);
  if (memory == nullptr) refused_.store(true, std::memory_order_relaxed);
  return memory;
}

void* Scratch::Find(uint64_t bytes) {
  if (bytes > kLargestBlockBytes) return nullptr;
  const int size_class = SizeClassOf(bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  if (Header* header = free_[static_cast<size_t>(size_class)]) {
    free_[static_cast<size_t>(size_class)] = header->next_free;
    return header + 1;
  }
  const uint64_t total = sizeof(Header) + BytesOfSizeClass(size_class);
  if (static_cast<int64_t>(total) > limit_bytes_ - size_bytes_) return nullptr;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Header), total) != 0) return nullptr;
  auto* header = static_cast<Header*>(memory);
  header->size_class = size_class;
  header->next_block = blocks_;
  blocks_ = header;
  size_bytes_ += static_cast<int64_t>(total);
  return header + 1;
}

void Scratch::Release(void* memory) {
  if (memory == nullptr) return;
  Header* header = static_cast<Header*>(memory) - 1;
  std::lock_guard<std::mutex> lock(mutex_);
  Header*& list = free_[static_cast<size_t>(header->size_class)];
  header->next_free = list;
  list = header;
}

int64_t Scratch::size_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return size_bytes_;
}

}  // namespace slipway
