#include "tests/gpu/compiled_graph.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/backends/gpu/gpu_backend.h"
#include "core/base/status_macros.h"
#include "core/passes/pipeline.h"
#include "core/schedules/kernel_schedule.h"
#include "core/target/target.h"
#include "core/wire/digest_proto.h"

namespace slipway::testing {

absl::StatusOr<std::unique_ptr<GraphCompiler>> GraphCompiler::Create() {
  auto compiler = std::make_unique<GraphCompiler>();
  compiler->environment_.registry = &compiler->tester_.registry();
  compiler->environment_.clock = &compiler->clock_;
  SLIPWAY_ASSIGN_OR_RETURN(compiler->backend_, CreateGpuBackend(compiler->environment_));
  return compiler;
}

absl::StatusOr<CompiledGraph> GraphCompiler::Compile(absl::string_view text,
                                                     absl::string_view target_name,
                                                     Precision precision,
                                                     absl::string_view schedules) {
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, tester_.Parse(text));
  return Compile(std::move(graph), target_name, precision, schedules);
}

absl::StatusOr<CompiledGraph> GraphCompiler::Compile(Graph graph, absl::string_view target_name,
                                                     Precision precision,
                                                     absl::string_view schedules) {
  SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(target_name));
  SLIPWAY_RETURN_IF_ERROR(backend_->CheckTarget(target));
  SLIPWAY_ASSIGN_OR_RETURN(
      const PipelineResult lowered,
      RunPipeline(graph, backend_->PipelineFor(target, precision), tester_.context(), {}, clock_));
  SLIPWAY_ASSIGN_OR_RETURN(ScheduleRecords records, ParseScheduleRecords(schedules));
  SLIPWAY_ASSIGN_OR_RETURN(
      BackendResult result,
      backend_->Compile({lowered.graph, lowered.memory, target, "", "", std::move(records)}));
  CompiledGraph compiled{
      std::move(graph), std::move(result.artifact), std::move(result.schedules), "", "", "", ""};
  for (const auto& pass : lowered.passes) {
    if (pass.name == "PlaceDevice") compiled.notes = absl::StrJoin(pass.notes, "\n");
    if (pass.name == "LayOutProductWeights") compiled.weights = absl::StrJoin(pass.notes, "\n");
    if (pass.name == "FuseAttention") compiled.attention = absl::StrJoin(pass.notes, "\n");
    if (pass.name == "UseTensorCores") compiled.products = absl::StrJoin(pass.notes, "\n");
  }
  return compiled;
}

absl::StatusOr<CompiledGraph> GraphCompiler::Compile(const Graph& graph, absl::string_view target,
                                                     Precision precision,
                                                     const ProductDivision& division) {
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledGraph chosen, Compile(graph, target, precision));
  const TensorTile& tile = division.tile;
  std::string records;
  for (const std::string& schedule : chosen.schedules) {
    // "KERNEL product rows=..."
    const std::vector<std::string> words = absl::StrSplit(schedule, ' ');
    if (!absl::EndsWith(words.at(1), "product")) continue;
    absl::StrAppend(&records, words[0], tile.is_of_warp_groups ? " warp-group-product" : " product",
                    " rows=", tile.rows, " columns=", tile.columns, " high=", tile.warps_of_rows,
                    " wide=", tile.warps_of_columns, " parts=", division.parts, "\n");
  }
  return Compile(graph, target, precision, records);
}

std::string DeviceTextOf(const Artifact& artifact) {
  for (const v1::Code& code : artifact.manifest().proto().code()) {
    if (code.device() == 0) continue;
    return std::string(artifact.blob(*FromProto(code.blob())).bytes());
  }
  return "";
}

}  // namespace slipway::testing
