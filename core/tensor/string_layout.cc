#include "core/tensor/string_layout.h"

#include <string.h>

#include "absl/strings/str_cat.h"

namespace slipway {

absl::StatusOr<absl::string_view> StringAt(int64_t place, absl::string_view contents) {
  const int64_t offset = place >> 32;
  const int64_t length = place & 0xffffffff;
  const auto size = static_cast<int64_t>(contents.size());
  if (offset < 0 || offset > size || length > size - offset) {
    return absl::InvalidArgumentError(absl::StrCat("a string of ", length, " bytes at ", offset,
                                                   " is outside of contents of ", size));
  }
  return contents.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
}

absl::Status CheckStringLayout(int64_t elements, absl::string_view bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (elements > size / kPlaceBytes) {
    return absl::InvalidArgumentError(absl::StrCat(elements, " strings take ", kPlaceBytes,
                                                   " bytes each and more, but there are ", size));
  }
  const int64_t contents = size - elements * kPlaceBytes;
  if (contents > kMaxStringBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "strings of ", contents, " bytes are more than the limit of ", kMaxStringBytes));
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t place;
    memcpy(&place, bytes.data() + i * kPlaceBytes, sizeof(place));
    const int64_t length = place & 0xffffffff;
    if (place >> 32 != offset || length > contents - offset) {
      return absl::InvalidArgumentError(
          absl::StrCat("string ", i, " does not lie behind the one before it"));
    }
    offset += length;
  }
  if (offset == contents) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(contents - offset, " bytes of contents belong to no string"));
}

}  // namespace slipway
