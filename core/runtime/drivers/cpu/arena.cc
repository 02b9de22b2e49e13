#include "core/runtime/drivers/cpu/arena.h"

#include <errno.h>
#include <sys/mman.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"

namespace slipway {
namespace {

constexpr int64_t kPageBytes = 4096;
constexpr size_t kLargePageBytes = 2 << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(int64_t bytes) {
  // Never empty, so that tensors without elements have an address too.
  const auto size = static_cast<size_t>(std::max(bytes, kPageBytes));
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return ErrnoStatus(errno, absl::StrCat("cannot get ", bytes, " bytes for the arena"));
  }
  // Advice; where it is not taken, the arena is as good.
  if (size >= kLargePageBytes) madvise(data, size, MADV_HUGEPAGE);
  return std::unique_ptr<Arena>(new Arena(static_cast<uint8_t*>(data), size));
}

Arena::~Arena() { munmap(data_, bytes_); }

}  // namespace slipway
