// From a fused graph and its memory plan to a manifest.
#ifndef SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_
#define SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
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
#include "core/kernel_abi/kernel_scratch.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// An entry of a device's code as a kernel launches it.
struct LaunchedEntry {
  uint32_t entry = 0;
  std::array<int64_t, 3> groups = {1, 1, 1};
  std::array<int64_t, 3> group = {1, 1, 1};
  int64_t shared_bytes = 0;  // Of a group, beyond what the entry declares.
  // What it only reads, and what it writes, by number: the node's inputs, its outputs, then its scratch memory.
  std::vector<int> reads;
  std::vector<int> writes;
};

// A kernel of a device that is not the host.
struct LaunchedKernel {
  std::vector<LaunchedEntry> launches;  // One after the other.
  // Memory that is its own while it runs, each a multiple of kPlanAlignment.
  std::vector<int64_t> scratch_bytes;
  // What a library of the device's vendor may compute in its place: without steps, and with numbers of tensors, as entries have them, for values.
  std::optional<v1::ProgramNotes::VendorStep> vendor_step;
};

// Code of device 1 of the target, with entries.
struct AcceleratorCode {
  v1::Code::Kind kind = v1::Code::KIND_UNSPECIFIED;
  Digest blob;
  std::vector<std::string> entries;
  // By what a node computes, of those that the device does.
  absl::flat_hash_map<const Graph*, LaunchedKernel> kernel_of;
};

// The program's code: the host's as the linker made it, and that of the device beside it.
struct ProgramCode {
  Digest blob;
  uint32_t kernel_count = 0;
  // By what a node computes (its attribute kFusedBody): the kernel of the table that it calls.
  absl::flat_hash_map<const Graph*, uint32_t> kernel_of;
  // Of each kernel of the table.
  std::vector<KernelScratch> kernel_scratch;
  std::optional<AcceleratorCode> accelerator = {};
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

// The function "main" and one for each body: a kernel step a kernel (Pattern::kKernel), or one a launch, a copy step a
// copy between devices, a step for what runs bodies, then a copy step an output that the plan says to copy. `constants` are placed in the order of ConstantsOf. INTERNAL for a graph that is not as the
// pipeline leaves it.
absl::StatusOr<BuiltManifest> BuildManifest(const BackendRequest& request,
                                            const OperatorRegistry& registry,
                                            const ProgramCode& code,
                                            const std::vector<PlacedConstant>& constants,
                                            std::vector<ToolUsed> tools);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_PROGRAM_PROGRAM_MANIFEST_H_
