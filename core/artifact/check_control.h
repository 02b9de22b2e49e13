// Checks of BindSymbols, If and Loop.
#ifndef SLIPWAY_CORE_ARTIFACT_CHECK_CONTROL_H_
#define SLIPWAY_CORE_ARTIFACT_CHECK_CONTROL_H_

#include "absl/status/status.h"
#include "core/artifact/function_state.h"

namespace slipway {

// Each follows one step, the `index`th of the function. Errors as of CheckedManifest::Check.
absl::Status CheckBindSymbols(const v1::Step::BindSymbols& bind, int index, FunctionState& state);
absl::Status CheckIf(const v1::Step::If& branch, int index, FunctionState& state);
absl::Status CheckLoop(const v1::Step::Loop& loop, int index, FunctionState& state);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CHECK_CONTROL_H_
