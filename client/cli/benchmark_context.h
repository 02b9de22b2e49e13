// What stands around a benchmark's numbers.
#ifndef SLIPWAY_CLIENT_CLI_BENCHMARK_CONTEXT_H_
#define SLIPWAY_CLIENT_CLI_BENCHMARK_CONTEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/render.h"
#include "client/client.h"

namespace slipway::cli {

// Versions are those of this client, of the server, and of the tools that made the artifact.
absl::StatusOr<BenchmarkContext> MakeBenchmarkContext(Client& client, const std::string& job,
                                                      const std::string& model,
                                                      const ArtifactSummary& artifact);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_BENCHMARK_CONTEXT_H_
