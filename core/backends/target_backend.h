// TargetBackend: from a graph in its canonical form to an artifact, for one family of targets.
#ifndef SLIPWAY_CORE_BACKENDS_TARGET_BACKEND_H_
#define SLIPWAY_CORE_BACKENDS_TARGET_BACKEND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/artifact/artifact.h"
#include "core/graph/graph.h"
#include "core/graph/memory_plan.h"
#include "core/passes/pipeline.h"
#include "core/schedules/kernel_schedule.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"

namespace slipway {

// Everything is owned by the caller and outlives the call.
struct BackendRequest {
  // As this backend's pipeline leaves it; all types known.
  const Graph& graph;
  // Where its values lie, as this backend's pipeline plans it.
  const MemoryPlan& memory;
  const Target& target;
  // For Manifest.compile_key; may be empty. The manifest's name is the graph's.
  std::string compile_key;
  // Not empty: the name of the library that the program's code is to be (core/artifact/library_name.h).
  std::string library_name = {};
  // How kernels are cut, in place of what the backend chooses; those that it does not have do not matter.
  ScheduleRecords schedules = {};
};

struct BackendStage {
  std::string name;  // "compile kernels", "link", "write"
  absl::Duration duration;
};

struct BackendResult {
  Artifact artifact;
  std::vector<BackendStage> stages;  // In order.
  int64_t kernels_compiled = 0;      // By running a code generator.
  int64_t kernels_cached = 0;        // Taken from the kernel cache.
  int64_t code_bytes = 0;
  int64_t constant_bytes = 0;    // What the artifact holds, merged and unpadded as it may be.
  int64_t kernels_recorded = 0;  // Different ones that BackendRequest::schedules has.
  // How each kernel is cut, a line each, as ParseScheduleRecords reads them, with what it computes as a comment.
  std::vector<std::string> schedules = {};
  std::vector<KernelCandidates> candidates = {};  // Of each kernel, in the same order.
};

// Not thread-safe.
class TargetBackend {
 public:
  virtual ~TargetBackend() = default;

  // OK when this backend compiles for the target; UNIMPLEMENTED names what it lacks for it.
  virtual absl::Status CheckTarget(const Target& target) const = 0;

  // What it wants done to a graph before Compile, layouts and memory among it. Products of f32 are computed in `precision`,
  // kFloat32, kBfloat16 or kFloat16, where the target is faster by it. REQUIRES: CheckTarget.
  virtual BackendPipeline PipelineFor(const Target& target,
                                      Precision precision = Precision::kFloat32) const = 0;

  // UNIMPLEMENTED names the node and operator without a lowering; RESOURCE_EXHAUSTED the limit; INVALID_ARGUMENT the kernel
  // that a record does not fit; INTERNAL what failed inside. REQUIRES: CheckTarget.
  virtual absl::StatusOr<BackendResult> Compile(const BackendRequest& request) = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_TARGET_BACKEND_H_
