// Tensor: a dense row-major array with its element type and shape.
#ifndef SLIPWAY_CORE_TENSOR_TENSOR_H_
#define SLIPWAY_CORE_TENSOR_TENSOR_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace slipway {

// The element type and shape of a tensor.
struct TensorType {
  DataType dtype = DataType::kInvalid;
  Shape shape;

  int64_t num_elements() const { return NumElements(shape); }
  // 0 for strings, whose elements have no fixed size.
  int64_t byte_size() const { return num_elements() * ByteSize(dtype); }
  friend bool operator==(const TensorType& a, const TensorType& b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  }
  friend bool operator!=(const TensorType& a, const TensorType& b) { return !(a == b); }
};

// "f32[1, 3, 224, 224]"
std::string ToString(const TensorType& type);

// A cheap handle on shared bytes, 64-byte aligned. Copies share the bytes, so write only to a tensor
// nobody else holds. Handles are thread-compatible. What the bytes of strings are, string_layout.h says; such a tensor is
// never written to.
//
// A deferred tensor has a type and a way to make its bytes: large weights are read from their file, and laid out
// anew, when somebody asks for them. Where memory runs out in that, and in Zeros, it is told as by operator new.
class Tensor {
 public:
  Tensor() = default;  // Unset: dtype() is kInvalid and there are no bytes.
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept { Swap(other); }  // Leaves `other` unset.
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor taken(std::move(other));
    Swap(taken);
    return *this;
  }

  // Zero-filled: empty strings. Errors of CheckShape; RESOURCE_EXHAUSTED when the memory cannot be had.
  static absl::StatusOr<Tensor> Create(TensorType type);
  // For shapes known to be sane (tests, kernels): CHECKs that they are.
  static Tensor Zeros(DataType dtype, absl::Span<const int64_t> shape);
  // A copy of `bytes`, little-endian elements. INVALID_ARGUMENT when the size does not match the type
  // or a byte is no element (AreElements); for strings errors of CheckStringLayout.
  static absl::StatusOr<Tensor> FromBytes(TensorType type, absl::string_view bytes);
  // Bytes owned elsewhere, kept alive by `owner`; read-only by convention. Copied when they are not
  // 64-byte aligned. INVALID_ARGUMENT as for FromBytes.
  static absl::StatusOr<Tensor> Borrow(TensorType type, absl::string_view bytes,
                                       std::shared_ptr<const void> owner);
  // Deferred. `make` makes tensors of `type`, the same bytes each time, on any thread; a wrong type CHECKs, as does an
  // error other than RESOURCE_EXHAUSTED.
  static Tensor Deferred(TensorType type, std::function<absl::StatusOr<Tensor>()> make);
  template <typename T>
  static Tensor Of(absl::Span<const int64_t> shape, absl::Span<const T> values);
  template <typename T>
  static Tensor Scalar(T value) {
    return Of<T>({}, absl::MakeConstSpan(&value, 1));
  }

  const TensorType& type() const { return type_; }
  DataType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  int64_t num_elements() const { return type_.num_elements(); }
  int64_t byte_size() const { return size_; }
  bool is_set() const { return type_.dtype != DataType::kInvalid; }

  bool is_deferred() const { return deferred_ != nullptr; }
  // With the bytes: a deferred tensor's are made, for as long as handles on what is returned live.
  Tensor Loaded() const;

  // A deferred tensor's bytes are made, and kept while a handle on it lives.
  absl::string_view bytes() const { return absl::string_view(data(), size_); }
  char* mutable_bytes() { return data(); }
  // REQUIRES: DataTypeOf<T>() == dtype().
  template <typename T>
  absl::Span<const T> values() const {
    SLIPWAY_CHECK(DataTypeOf<T>() == dtype(), ToString(type_));
    return absl::MakeConstSpan(reinterpret_cast<const T*>(data()), num_elements());
  }
  template <typename T>
  absl::Span<T> mutable_values() {
    SLIPWAY_CHECK(DataTypeOf<T>() == dtype(), ToString(type_));
    return absl::MakeSpan(reinterpret_cast<T*>(data()), num_elements());
  }

  // The same bytes under another shape with as many elements. INVALID_ARGUMENT otherwise.
  absl::StatusOr<Tensor> Reshaped(absl::Span<const int64_t> shape) const;

 private:
  // Zero-filled bytes of a type that may have them.
  static absl::StatusOr<Tensor> Allocate(TensorType type, int64_t bytes);
  class DeferredBytes;
  char* data() const { return deferred_ == nullptr ? data_ : KeptBytes(); }
  char* KeptBytes() const;
  void Swap(Tensor& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(owner_, other.owner_);
    std::swap(deferred_, other.deferred_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  TensorType type_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<DeferredBytes> deferred_;  // Then owner_ and data_ are unset.
  char* data_ = nullptr;
  int64_t size_ = 0;
};

// A tensor and what it is the value of, such as an input.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

template <typename T>
Tensor Tensor::Of(absl::Span<const int64_t> shape, absl::Span<const T> values) {
  Tensor tensor = Zeros(DataTypeOf<T>(), shape);
  SLIPWAY_CHECK(static_cast<int64_t>(values.size()) == tensor.num_elements(),
                "as many values as the shape has elements");
  std::copy(values.begin(), values.end(), tensor.mutable_values<T>().begin());
  return tensor;
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_TENSOR_H_
