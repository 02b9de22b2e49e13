// How parts of selectors are spelt. Internal to core/selector.
#ifndef SLIPWAY_CORE_SELECTOR_OPERATORS_H_
#define SLIPWAY_CORE_SELECTOR_OPERATORS_H_

#include "absl/strings/string_view.h"

namespace slipway {

inline constexpr absl::string_view kLabelPrefix = "label:";

// In the order of Selector::Operator.
inline constexpr absl::string_view kOperatorTexts[] = {"=", "!=", "<", "<=", ">", ">="};

}  // namespace slipway

#endif  // SLIPWAY_CORE_SELECTOR_OPERATORS_H_
