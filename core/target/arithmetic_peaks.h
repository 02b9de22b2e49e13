// The most operations that cores do, measured: what kernels are compared with.
#ifndef SLIPWAY_CORE_TARGET_ARITHMETIC_PEAKS_H_
#define SLIPWAY_CORE_TARGET_ARITHMETIC_PEAKS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway {

// What this machine multiplies and adds in vectors, by what is multiplied: "f32" always, "bf16" and "int8" where it has instructions for them.
std::vector<std::string> MeasuredTypes();

// Operations a second (a multiply-add counts as two) in the widest vectors this machine has, from registers alone, on so
// many threads together, the caller's included: of each the best of several short measurements within `duration`. REQUIRES:
// `type` is one of MeasuredTypes.
double MeasureArithmetic(absl::string_view type, int threads, const Clock& clock,
                         absl::Duration duration);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_ARITHMETIC_PEAKS_H_
