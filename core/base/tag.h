// Tags: what people write on their jobs, to find them and their results again ("commit=1f0c9ad").
#ifndef SLIPWAY_CORE_BASE_TAG_H_
#define SLIPWAY_CORE_BASE_TAG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace slipway {

inline constexpr int kMaxTags = 16;
inline constexpr int kMaxTagKeyBytes = 63;
inline constexpr int kMaxTagValueBytes = 255;

struct Tag {
  std::string key;    // Letters, digits and "._/-" of ASCII; the first is a letter or digit.
  std::string value;  // Printable ASCII; not empty.

  bool operator==(const Tag& other) const { return key == other.key && value == other.value; }
};

// "KEY=VALUE".
std::string ToString(const Tag& tag);

// Sorted by key. INVALID_ARGUMENT, naming the tag, and the character and where it stands, when there are more than kMaxTags, a key comes
// twice, or one is not as above.
absl::StatusOr<std::vector<Tag>> CheckTags(std::vector<Tag> tags);

// Of texts of the form "KEY=VALUE"; the value may hold "=". Errors of CheckTags.
absl::StatusOr<std::vector<Tag>> ParseTags(absl::Span<const std::string> texts);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_TAG_H_
