#include "core/base/kept_memory.h"

#include <malloc.h>

#include <algorithm>
#include <thread>

namespace slipway {
namespace {

// Of each arena: what a session has under way.
constexpr int kKeptBytes = 8 << 20;
// Larger blocks are mapped, and unmapped when they are freed. Above what one message takes.
constexpr int kMappedBytes = 4 << 20;
// An arena grows by so much.
constexpr int kGrowthBytes = 1 << 20;

}  // namespace

void KeepFreedMemory() {
  // Advice: malloc is right without.
  mallopt(M_ARENA_MAX, static_cast<int>(std::max(1u, std::thread::hardware_concurrency() / 2)));
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  mallopt(M_TOP_PAD, kGrowthBytes);
}

void GiveBackFreedMemory() { malloc_trim(0); }

}  // namespace slipway
