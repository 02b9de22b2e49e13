// ConstantOutputs: the outputs of a program that computes nothing.
#ifndef SLIPWAY_CORE_ARTIFACT_CONSTANT_OUTPUTS_H_
#define SLIPWAY_CORE_ARTIFACT_CONSTANT_OUTPUTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/tensor/tensor.h"

namespace slipway {

// In the order of the entry's signature, without running it. FAILED_PRECONDITION where the entry takes inputs, and names an
// output that is no copy of a constant.
absl::StatusOr<std::vector<NamedTensor>> ConstantOutputs(const Artifact& artifact);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_CONSTANT_OUTPUTS_H_
