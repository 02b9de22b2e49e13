// MXNet's files of named arrays (.params, as mx.nd.save writes them), read without trust and written.
#ifndef SLIPWAY_CORE_TENSOR_ND_ARRAY_FILE_H_
#define SLIPWAY_CORE_TENSOR_ND_ARRAY_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/tensor/tensor.h"

namespace slipway {

inline constexpr int64_t kMaxNdArrays = 1'000'000;  // Of one file.

// The arrays in their order; without names where the file gives none. Reads the forms of every MXNet (shapes of 32
// and of 64 bits, with and without storage types). INVALID_ARGUMENT says what is wrong with the bytes and where;
// UNIMPLEMENTED for sparse arrays and element types a tensor cannot hold; RESOURCE_EXHAUSTED beyond kMaxNdArrays.
absl::StatusOr<std::vector<NamedTensor>> ParseNdArrayFile(absl::string_view bytes);

// In the form of MXNet 1.0 and later. UNIMPLEMENTED names an array whose element type MXNet lacks.
absl::StatusOr<std::string> FormatNdArrayFile(absl::Span<const NamedTensor> arrays);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_ND_ARRAY_FILE_H_
