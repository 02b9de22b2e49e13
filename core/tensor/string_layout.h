// How the elements of a tensor of strings lie in its bytes.
//
// First stands the place of each element, an i64: where its bytes begin among the contents, times 2^32, plus how many there
// are. Then stand the contents: the bytes of all elements in their order, without gaps. So equal tensors have equal bytes, and
// zeros are empty strings. Contents are bytes; that they are UTF-8, as ONNX has it, nobody rests on.
#ifndef SLIPWAY_CORE_TENSOR_STRING_LAYOUT_H_
#define SLIPWAY_CORE_TENSOR_STRING_LAYOUT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

inline constexpr int64_t kPlaceBytes = 8;
inline constexpr int64_t kMaxStringBytes = (int64_t{1} << 31) - 1;  // Of all contents of a tensor.

inline int64_t StringPlace(int64_t offset, int64_t length) { return offset << 32 | length; }

// The string at `place`. INVALID_ARGUMENT for a place that is outside of the contents.
absl::StatusOr<absl::string_view> StringAt(int64_t place, absl::string_view contents);

// Whether these are the bytes of a tensor of `elements` strings. INVALID_ARGUMENT says what is wrong.
absl::Status CheckStringLayout(int64_t elements, absl::string_view bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_STRING_LAYOUT_H_
