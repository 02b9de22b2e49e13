// From a fused graph and its memory plan to a manifest.
#ifndef SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_
#define SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/backends/program/constant_blobs.h"
#include "core/backends/target_backend.h"
#include "core/base/digest.h"
#include "core/graph/graph.h"
#include "core/graph/memory_plan.h"
#include "core/graph/operator_registry.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// The program's code as the linker made it.
struct ProgramCode {
  Digest blob;
  uint32_t kernel_count = 0;
  // By what a node computes (its attribute kFusedBody): the kernel of the table that it calls.
  absl::flat_hash_map<const Graph*, uint32_t> kernel_of;
  // ProgramNotes.kernel_scratch_bytes.
  std::vector<int64_t> kernel_scratch_bytes;
};

// A tool and its version, for the record.
struct ToolUsed {
  std::string name;
  std::string version;
};

// What is called of a node that is a kernel.
const Graph* ComputedBy(const Node& node);

// Every graph that becomes a function, with its plan: bodies before what they stand in.
void ForEachFunction(const Graph& graph, const MemoryPlan& plan,
                     const std::function<void(const Graph&, const MemoryPlan&)>& visit);

// The constants of all functions, in the order of their buffers: what PlaceConstants takes.
std::vector<Tensor> ConstantsOf(const BackendRequest& request);

// A manifest, and the notes that its last constant is.
struct BuiltManifest {
  v1::Manifest manifest;
  std::string notes;
};

// The function "main" and one for each body: a kernel step a kernel (Pattern::kKernel), a step for what runs bodies, then a
// copy step an output that the plan says to copy. `constants` are placed in the order of ConstantsOf. INTERNAL for a graph that is not as the
// pipeline leaves it.
absl::StatusOr<BuiltManifest> BuildManifest(const BackendRequest& request,
                                            const OperatorRegistry& registry,
                                            const ProgramCode& code,
                                            const std::vector<PlacedConstant>& constants,
                                            std::vector<ToolUsed> tools);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_
