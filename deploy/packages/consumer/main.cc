// Uses graphs, jobs and sessions as a program outside of this repository does: there is no server, and both say so.
#include <cstdio>
#include <string>

#include "client/client.h"
#include "client/session.h"
#include "core/exporters/onnx/onnx_exporter.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/operators/register_all.h"

int main() {
  const slipway::OperatorRegistry operators = slipway::StandardOperators();
  const absl::StatusOr<slipway::Graph> graph = slipway::ParseGraph(
      "graph \"double\" opset 28 (%x: f32[64]) -> (%y) {\n  %y = Add(%x, %x)\n}\n");
  if (!graph.ok()) {
    std::printf("graph: %s\n", std::string(graph.status().message()).c_str());
    return 1;
  }
  const absl::Status verified = slipway::Verify(*graph, operators);
  const auto exported = slipway::ExportOnnx(*graph, operators);
  const auto client = slipway::Client::Connect({.server = "unix:/nowhere/slipway",
                                                .connect_timeout = absl::Milliseconds(200),
                                                .retry_for = absl::ZeroDuration()});
  const auto session =
      slipway::Session::Open({.address = "unix:/nowhere/slipway", .wait = absl::ZeroDuration()});
  std::printf("nodes %d, verified %d, exported %d, client %s, session %s\n",
              static_cast<int>(graph->nodes.size()), verified.ok(), exported.ok(),
              absl::StatusCodeToString(client.status().code()).c_str(),
              absl::StatusCodeToString(session.status().code()).c_str());
  const bool is_right = graph->nodes.size() == 1 && verified.ok() && exported.ok() &&
                        absl::IsUnavailable(client.status()) && !session.ok();
  return is_right ? 0 : 1;
}
