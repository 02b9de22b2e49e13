#include "core/tensor/tensor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <mutex>
#include <new>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/tensor/string_layout.h"

namespace slipway {
namespace {

constexpr size_t kAlignment = 64;
// From here on calloc takes fresh pages from the kernel, which are zero already and cost no memory
// until they are touched.
constexpr int64_t kLargeBytes = 1 << 20;

// The first touch of a large tensor costs as much as filling it, where that is a fault for every 4 KiB. Advice: it is
// as good without.
void AskForHugePages(char* block, size_t bytes) {
  constexpr uintptr_t kHugePage = 2 << 20;
  const uintptr_t begin =
      (reinterpret_cast<uintptr_t>(block) + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(block) + bytes) / kHugePage * kHugePage;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

// Zeroed memory, kAlignment-aligned; null when there is none. Never null for 0 bytes.
std::shared_ptr<char> AllocateZeroed(int64_t bytes) {
  const size_t padded =
      (static_cast<size_t>(bytes) + kAlignment) / kAlignment * kAlignment;  // At least one line.
  if (bytes >= kLargeBytes) {
    char* const block = static_cast<char*>(calloc(padded + kAlignment, 1));
    if (block == nullptr) return nullptr;
    char* const aligned =
        block + (kAlignment - reinterpret_cast<uintptr_t>(block) % kAlignment) % kAlignment;
    AskForHugePages(block, padded + kAlignment);
    return std::shared_ptr<char>(aligned, [block](char*) { free(block); });
  }
  char* const block = static_cast<char*>(aligned_alloc(kAlignment, padded));
  if (block == nullptr) return nullptr;
  memset(block, 0, padded);
  return std::shared_ptr<char>(block, [](char* pointer) { free(pointer); });
}

// The number of bytes a tensor of this type has, of strings without their contents, if there can be one.
absl::StatusOr<int64_t> CheckType(const TensorType& type) {
  const bool is_string = type.dtype == DataType::kString;
  const int64_t element_bytes = is_string ? kPlaceBytes : ByteSize(type.dtype);
  if (element_bytes == 0) return absl::InvalidArgumentError("a tensor has no data type");
  return CheckShape(type.shape, element_bytes);
}

[[noreturn]] void EndOutOfMemory() {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

// Checks bytes from anywhere against the type that they claim to be of.
absl::Status CheckBytes(const TensorType& type, absl::string_view bytes) {
  // Nothing is allocated before this: the type may be a lie of gigabytes.
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t expected, CheckType(type));
  if (type.dtype == DataType::kString) {
    return Annotate(CheckStringLayout(type.num_elements(), bytes),
                    absl::StrCat("a tensor ", ToString(type)));
  }
  if (static_cast<int64_t>(bytes.size()) != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor ", ToString(type), " has ", expected, " bytes, not ", bytes.size()));
  }
  // Reading any other byte as a bool is undefined behaviour; kernels rely on the others.
  int64_t bad = 0;
  if (AreElements(type.dtype, bytes, &bad)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "element ", bad, " of a tensor ", ToString(type), " is the byte ",
      static_cast<int>(static_cast<unsigned char>(bytes[bad])),
      type.dtype == DataType::kBool ? ", not 0 or 1" : ", which stands for no element"));
}

}  // namespace

class Tensor::DeferredBytes {
 public:
  DeferredBytes(TensorType type, std::function<absl::StatusOr<Tensor>()> make)
      : type_(std::move(type)), make_(std::move(make)) {}

  Tensor Make() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (kept_.is_set()) return kept_;
    }
    absl::StatusOr<Tensor> made = make_();
    if (absl::IsResourceExhausted(made.status())) EndOutOfMemory();
    SLIPWAY_CHECK(made.ok(), made.status().message());
    SLIPWAY_CHECK(made->type() == type_, "a deferred tensor's bytes are of another type");
    return made->Loaded();
  }
  char* Keep() {
    Tensor made = Make();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!kept_.is_set()) kept_ = std::move(made);
    return kept_.data_;
  }

 private:
  const TensorType type_;
  const std::function<absl::StatusOr<Tensor>()> make_;
  std::mutex mutex_;
  Tensor kept_;  // Guarded by mutex_. Set once; never unset.
};

std::string ToString(const TensorType& type) {
  return absl::StrCat(Name(type.dtype), ToString(type.shape));
}

absl::StatusOr<Tensor> Tensor::Create(TensorType type) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t bytes, CheckType(type));
  return Allocate(std::move(type), bytes);
}

absl::StatusOr<Tensor> Tensor::Allocate(TensorType type, int64_t bytes) {
  std::shared_ptr<char> data = AllocateZeroed(bytes);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a tensor ", ToString(type), " of ", bytes, " bytes"));
  }
  Tensor tensor;
  tensor.type_ = std::move(type);
  tensor.data_ = data.get();
  tensor.size_ = bytes;
  tensor.owner_ = std::move(data);
  return tensor;
}

Tensor Tensor::Zeros(DataType dtype, absl::Span<const int64_t> shape) {
  absl::StatusOr<Tensor> tensor = Create({dtype, Shape(shape.begin(), shape.end())});
  if (absl::IsResourceExhausted(tensor.status())) EndOutOfMemory();
  SLIPWAY_CHECK(tensor.ok(), tensor.status().message());
  return *std::move(tensor);
}

absl::StatusOr<Tensor> Tensor::FromBytes(TensorType type, absl::string_view bytes) {
  SLIPWAY_RETURN_IF_ERROR(CheckBytes(type, bytes));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor,
                           Allocate(std::move(type), static_cast<int64_t>(bytes.size())));
  if (!bytes.empty()) memcpy(tensor.data_, bytes.data(), bytes.size());
  return tensor;
}

absl::StatusOr<Tensor> Tensor::Borrow(TensorType type, absl::string_view bytes,
                                      std::shared_ptr<const void> owner) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
    return FromBytes(std::move(type), bytes);
  }
  SLIPWAY_RETURN_IF_ERROR(CheckBytes(type, bytes));
  Tensor tensor;
  tensor.type_ = std::move(type);
  tensor.owner_ = std::move(owner);
  tensor.data_ = const_cast<char*>(bytes.data());
  tensor.size_ = static_cast<int64_t>(bytes.size());
  return tensor;
}

Tensor Tensor::Deferred(TensorType type, std::function<absl::StatusOr<Tensor>()> make) {
  const absl::StatusOr<int64_t> bytes = CheckType(type);
  SLIPWAY_CHECK(bytes.ok(), bytes.status().message());
  Tensor tensor;
  tensor.deferred_ = std::make_shared<DeferredBytes>(type, std::move(make));
  tensor.type_ = std::move(type);
  tensor.size_ = *bytes;
  return tensor;
}

Tensor Tensor::Loaded() const {
  if (deferred_ == nullptr) return *this;
  Tensor loaded = deferred_->Make();
  loaded.type_ = type_;
  return loaded;
}

char* Tensor::KeptBytes() const { return deferred_->Keep(); }

absl::StatusOr<Tensor> Tensor::Reshaped(absl::Span<const int64_t> shape) const {
  SLIPWAY_RETURN_IF_ERROR(CheckShape(shape, ByteSize(dtype())).status());
  if (NumElements(shape) != num_elements()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor ", ToString(type_), " of ", num_elements(),
                     " elements cannot take the shape ", ToString(shape)));
  }
  Tensor reshaped = *this;
  reshaped.type_.shape.assign(shape.begin(), shape.end());
  return reshaped;
}

}  // namespace slipway
