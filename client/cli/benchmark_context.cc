#include "client/cli/benchmark_context.h"

#include "core/base/status_macros.h"
#include "core/base/version.h"

namespace slipway::cli {

absl::StatusOr<BenchmarkContext> MakeBenchmarkContext(Client& client, const std::string& job,
                                                      const std::string& model,
                                                      const ArtifactSummary& artifact) {
  SLIPWAY_ASSIGN_OR_RETURN(const ServerInfo info, client.Info());
  BenchmarkContext context = {.job = job, .model = model, .artifact = artifact};
  context.versions = {{"client", kVersion}, {"server", info.version}};
  for (const auto& [name, version] : artifact.tools) {
    context.versions.emplace_back("compiled_by_" + name, version);
  }
  return context;
}

}  // namespace slipway::cli
