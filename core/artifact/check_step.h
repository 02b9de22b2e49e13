// Checks of one step.
#ifndef SLIPWAY_CORE_ARTIFACT_CHECK_STEP_H_
#define SLIPWAY_CORE_ARTIFACT_CHECK_STEP_H_

#include "absl/status/status.h"
#include "core/artifact/function_state.h"

namespace slipway {

// Follows the `index`th step of a function, whose place in the order is checked. Errors as of
// CheckedManifest::Check.
absl::Status CheckStep(const v1::Step& step, int index, FunctionState& state);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CHECK_STEP_H_
