// PackArtifact: an artifact around code that is there already.
#ifndef SLIPWAY_CLIENT_PACK_PACK_ARTIFACT_H_
#define SLIPWAY_CLIENT_PACK_PACK_ARTIFACT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/pack/code_facts.h"
#include "client/pack/described_tensor.h"
#include "client/types.h"
#include "core/artifact/artifact.h"
#include "core/target/target.h"

namespace slipway {

// A program of one step, which calls one kernel on the program's inputs and outputs.
struct PackRequest {
  // A shared object after core/kernel_abi/kernel_abi.h, and what it says of itself.
  std::string code;
  CodeFacts facts;
  // What it is for. One device.
  Target target;
  // Index in its table of kernels.
  uint32_t kernel = 0;
  // Of program and step, for people.
  std::string name;
  std::vector<DescribedTensor> inputs;
  std::vector<DescribedTensor> outputs;
  // Of symbols; those that nothing is said about are 1 to 2^31 - 1.
  std::vector<DimensionBounds> dimensions;
};

// INVALID_ARGUMENT names what does not fit: a kernel that is not there, a number of tensors that it does not take, a
// symbol that no input gives a value or that no tensor has, tensors that CheckedManifest refuses.
absl::StatusOr<Artifact> PackArtifact(const PackRequest& request);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_PACK_PACK_ARTIFACT_H_
