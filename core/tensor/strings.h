// Tensors of strings: made, read, and taken apart into tensors of numbers (see string_layout.h).
#ifndef SLIPWAY_CORE_TENSOR_STRINGS_H_
#define SLIPWAY_CORE_TENSOR_STRINGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/tensor/string_layout.h"
#include "core/tensor/tensor.h"

namespace slipway {

// INVALID_ARGUMENT unless there are as many strings as the shape has elements; RESOURCE_EXHAUSTED for more than
// kMaxStringBytes. Nothing is allocated before.
absl::StatusOr<Tensor> StringTensor(absl::Span<const int64_t> shape,
                                    absl::Span<const absl::string_view> strings);
// For strings known to be few: CHECKs instead.
Tensor Strings(absl::Span<const int64_t> shape, absl::Span<const std::string> strings);

// The elements, in their order; they point into the tensor. REQUIRES: the tensor holds strings.
std::vector<absl::string_view> StringsIn(const Tensor& tensor);

// A tensor of strings as programs have it: two tensors of numbers. What moves elements moves places; several of them may be
// of the same bytes, and bytes may be of none.
struct StringParts {
  Tensor places;    // i64, of the same shape.
  Tensor contents;  // u8[n]
};

// What the contents are called of strings called `name`, where each part has a name: behind the places, whose name is `name`.
std::string ContentsName(absl::string_view name);

// REQUIRES: the tensor holds strings. Errors of Tensor::Create.
absl::StatusOr<StringParts> SplitStrings(const Tensor& tensor);
// INVALID_ARGUMENT for parts of other types, and a place outside of the contents; RESOURCE_EXHAUSTED where all strings together
// have more than kMaxStringBytes.
absl::StatusOr<Tensor> JoinStrings(const StringParts& parts);

// The tensors with those of strings in two, as programs take them, and back: an i64 before a u8[n] of ContentsName of its name
// becomes strings. Errors of SplitStrings and JoinStrings, with the name.
absl::StatusOr<std::vector<NamedTensor>> SplitAllStrings(std::vector<NamedTensor> tensors);
absl::StatusOr<std::vector<NamedTensor>> JoinAllStrings(std::vector<NamedTensor> tensors);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_STRINGS_H_
