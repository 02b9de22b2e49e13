// From a fused graph and its memory plan to a manifest.
#ifndef SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_
#define SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/backends/program/constant_blobs.h"
#include "core/backends/target_backend.h"
#include "core/base/digest.h"
#include "core/graph/operator_registry.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// The program's code as the linker made it.
struct ProgramCode {
  Digest blob;
  uint32_t kernel_count = 0;
  // By node of the graph: the kernel of the table that it calls. Views have none.
  std::vector<uint32_t> kernel_of_node;
};

// A tool and its version, for the record.
struct ToolUsed {
  std::string name;
  std::string version;
};

// The constants of the plan, in the order of its buffers: what PlaceConstants takes.
std::vector<Tensor> ConstantsOf(const BackendRequest& request);

// One function "main": a kernel step a kernel (Pattern::kKernel), then a copy step an output that the plan says
// to copy. `constants` are placed in the order of ConstantsOf. INTERNAL for a graph that is not as the
// pipeline leaves it.
absl::StatusOr<v1::Manifest> BuildManifest(const BackendRequest& request,
                                           const OperatorRegistry& registry,
                                           const ProgramCode& code,
                                           const std::vector<PlacedConstant>& constants,
                                           std::vector<ToolUsed> tools);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_
