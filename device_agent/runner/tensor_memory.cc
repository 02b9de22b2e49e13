#include "device_agent/runner/tensor_memory.h"

#include <sys/resource.h>

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/mapped_bytes.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Smaller ones malloc keeps.
constexpr int64_t kLargeBytes = 4 << 20;
constexpr int64_t kMostKeptBytes = int64_t{1} << 30;

// Blocks are matrices of bytes: an extent may be less than 2^31.
constexpr int64_t kRowBytes = 1 << 20;

// Whether a block of `kept` bytes is taken for so many: not for much less.
bool Fits(int64_t kept, int64_t wanted) { return kept >= wanted && kept - wanted <= wanted / 4; }

// Of the address space that this process may have.
bool HalfIsFree() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0) return false;
  if (limit.rlim_cur == RLIM_INFINITY) return true;
  const absl::StatusOr<int64_t> mapped = MappedBytes();
  return mapped.ok() && static_cast<rlim_t>(*mapped) <= limit.rlim_cur / 2;
}

}  // namespace

struct TensorMemory::Kept {
  std::vector<Tensor> blocks;
  int64_t bytes = 0;

  Tensor Take(int64_t wanted) {
    for (Tensor& block : blocks) {
      if (!Fits(block.byte_size(), wanted)) continue;
      std::swap(block, blocks.back());
      Tensor taken = std::move(blocks.back());
      blocks.pop_back();
      bytes -= taken.byte_size();
      return taken;
    }
    return Tensor();
  }
  void Keep(Tensor block) {
    if (bytes + block.byte_size() > kMostKeptBytes) return;
    bytes += block.byte_size();
    blocks.push_back(std::move(block));
  }
};

TensorMemory::TensorMemory() : kept_(std::make_shared<Kept>()) {}

void TensorMemory::Release() {
  kept_->blocks.clear();
  kept_->bytes = 0;
}

void TensorMemory::MakeRoom() {
  if (kept_->bytes > 0 && !HalfIsFree()) Release();
}

int64_t TensorMemory::kept_bytes() const { return kept_->bytes; }

absl::StatusOr<Tensor> TensorMemory::Make(TensorType type, Contents contents) {
  // Of these any byte is an element.
  const bool takes_any = BitSize(type.dtype) >= 8;
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t bytes, CheckShape(type.shape, ByteSize(type.dtype)));
  if (bytes < kLargeBytes) return Tensor::Create(std::move(type));
  Tensor block = kept_->Take(bytes);
  if (!block.is_set()) {
    const int64_t rows = (bytes + kRowBytes - 1) / kRowBytes;
    absl::StatusOr<Tensor> fresh = Tensor::Create({DataType::kUint8, {rows, kRowBytes}});
    if (!fresh.ok()) {
      Release();
      return Tensor::Create(std::move(type));
    }
    block = *std::move(fresh);
  } else if (contents == Contents::kZero || !takes_any) {
    std::memset(block.mutable_bytes(), 0, static_cast<size_t>(bytes));
  }
  const absl::string_view part = block.bytes().substr(0, static_cast<size_t>(bytes));
  std::shared_ptr<const void> owner(part.data(),
                                    [kept = kept_, block = std::move(block)](const void*) mutable {
                                      kept->Keep(std::move(block));
                                    });
  return Tensor::Borrow(std::move(type), part, std::move(owner));
}

}  // namespace slipway
