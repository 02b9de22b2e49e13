// A graph compiled for a CPU with a device beside it.
#ifndef SLIPWAY_TESTS_GPU_COMPILED_GRAPH_H_
#define SLIPWAY_TESTS_GPU_COMPILED_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/artifact/artifact.h"
#include "core/backends/backend_environment.h"
#include "core/backends/target_backend.h"
#include "core/base/clock.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/passes/testing/pass_tester.h"
#include "core/tensor/precision.h"

namespace slipway::testing {

struct CompiledGraph {
  Graph graph;  // As it was written.
  Artifact artifact;
  std::vector<std::string> schedules;  // BackendResult::schedules.
  std::string notes;                   // Of PlaceDevice, a line each.
  std::string products;                // Those of UseTensorCores,
  std::string weights;                 // of LayOutProductWeights,
  std::string attention;               // and of FuseAttention.
};

// Compiles in this process, which must have one thread.
class GraphCompiler {
 public:
  static absl::StatusOr<std::unique_ptr<GraphCompiler>> Create();

  // With `schedules` as ParseScheduleRecords reads them.
  absl::StatusOr<CompiledGraph> Compile(absl::string_view text, absl::string_view target,
                                        Precision precision = Precision::kFloat32,
                                        absl::string_view schedules = "");
  // Of a graph, with the types of its nodes.
  absl::StatusOr<CompiledGraph> Compile(Graph graph, absl::string_view target, Precision precision,
                                        absl::string_view schedules = "");
  // The same with its products on tensor cores divided so.
  absl::StatusOr<CompiledGraph> Compile(const Graph& graph, absl::string_view target,
                                        Precision precision, const ProductDivision& division);
  const PassTester& tester() const { return tester_; }

 private:
  PassTester tester_;
  SystemClock clock_;
  BackendEnvironment environment_;
  std::unique_ptr<TargetBackend> backend_;
};

// The text that the device's driver compiles; empty where the device computes nothing.
std::string DeviceTextOf(const Artifact& artifact);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_COMPILED_GRAPH_H_
