// Labels: what people say of a device, "lab=berlin".
#ifndef SLIPWAY_CORE_SELECTOR_LABELS_H_
#define SLIPWAY_CORE_SELECTOR_LABELS_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace slipway {

// Of one device, from its agent; and as many from administrators.
inline constexpr size_t kMaxLabels = 32;
inline constexpr size_t kMaxLabelKeyBytes = 63;
inline constexpr size_t kMaxLabelValueBytes = 63;

// Values by key.
using Labels = absl::btree_map<std::string, std::string>;

// A key is "[a-z0-9][a-z0-9._-]*", a value letters, digits and "._-+:/@", or empty. INVALID_ARGUMENT names the label, and the byte that
// must not be there.
absl::Status CheckLabelKey(absl::string_view key);
absl::Status CheckLabel(absl::string_view key, absl::string_view value);

// "KEY=VALUE". Errors of CheckLabel.
absl::StatusOr<std::pair<std::string, std::string>> ParseLabel(absl::string_view text);

// At most kMaxLabels of them. INVALID_ARGUMENT for more, and for a key that comes twice.
absl::StatusOr<Labels> ParseLabels(absl::Span<const std::string> texts);

}  // namespace slipway

#endif  // SLIPWAY_CORE_SELECTOR_LABELS_H_
