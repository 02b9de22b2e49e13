#include "core/tensor/shape.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace slipway {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 62;
constexpr size_t kMaxExtentsShown = 32;

}  // namespace

int64_t NumElements(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

absl::StatusOr<int64_t> CheckShape(absl::Span<const int64_t> shape, int64_t element_bytes) {
  if (shape.size() > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat("shape ", ToString(shape), " has rank ",
                                                   shape.size(), ", the highest is ", kMaxRank));
  }
  bool is_empty = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "shape ", ToString(shape), " has the negative extent ", shape[i], " in dimension ", i));
    }
    if (shape[i] > std::numeric_limits<int32_t>::max()) {
      return absl::UnimplementedError(absl::StrCat("shape ", ToString(shape), " has the extent ",
                                                   shape[i], " in dimension ", i,
                                                   ", extents of 2^31 and more are not supported"));
    }
    is_empty |= shape[i] == 0;
  }
  // Strides are products too, so an empty shape must not overflow either: each 0 counts as 1.
  int64_t bytes = std::max<int64_t>(element_bytes, 1);
  for (const int64_t extent : shape) {
    const int64_t factor = std::max<int64_t>(extent, 1);
    if (bytes > kMaxBytes / factor) {
      return absl::ResourceExhaustedError(
          absl::StrCat("shape ", ToString(shape), " with ", element_bytes,
                       " bytes an element takes more than 2^62 bytes"));
    }
    bytes *= factor;
  }
  return is_empty || element_bytes == 0 ? 0 : bytes;
}

std::string ToString(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape.subspan(0, kMaxExtentsShown), ", "),
                      shape.size() > kMaxExtentsShown ? ", ..." : "", "]");
}

Shape RowMajorStrides(absl::Span<const int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

}  // namespace slipway
