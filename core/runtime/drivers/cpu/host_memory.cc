#include "core/runtime/drivers/cpu/host_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"

namespace slipway {
namespace {

// From here on memory is mapped, on large pages where there are some.
constexpr int64_t kLargePageBytes = 2 << 20;

void* Map(size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  // Advice; where it is not taken, the memory is as good.
  madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

}  // namespace

absl::StatusOr<DeviceMemory> AllocateHostMemory(int64_t bytes) {
  const auto size = static_cast<size_t>(std::max(bytes, kBufferAlignment));
  void* data = nullptr;
  if (bytes > std::numeric_limits<ptrdiff_t>::max()) {
    // Pointers may have 32 bits.
  } else if (bytes >= kLargePageBytes) {
    data = Map(size);
  } else if (posix_memalign(&data, kBufferAlignment, size) != 0) {
    data = nullptr;
  }
  if (data == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot get ", bytes, " bytes of memory"));
  }
  return DeviceMemory{0, static_cast<uint8_t*>(data), bytes};
}

void FreeHostMemory(const DeviceMemory& memory) {
  if (memory.bytes >= kLargePageBytes) {
    munmap(memory.host, static_cast<size_t>(memory.bytes));
  } else {
    free(memory.host);
  }
}

}  // namespace slipway
