// Prints what a model costs, as JSON: operations of its products, bytes of its constants, inputs and outputs.
//
//   print_model_cost MODEL.onnx
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/base/flags.h"
#include "core/base/json_writer.h"
#include "core/base/status_macros.h"
#include "core/graph_opt/read_graph.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "tests/bench/model_cost.h"

namespace slipway::bench {
namespace {

absl::Status Main(int argc, char** argv) {
  ReadGraphOptions options;
  FlagSet flags("print_model_cost MODEL.onnx [flags]", "Prints what a model costs, as JSON.");
  flags.Add("dimension", &options.dimensions, "NAME=EXTENT",
            "Extent of a dimension that is open. Repeatable.");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<std::string> arguments, flags.Parse(argc, argv));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return absl::OkStatus();
  }
  if (arguments.size() != 1) return absl::InvalidArgumentError("give one model; see --help");
  const OperatorRegistry registry = StandardOperators();
  const Reference reference(registry);
  SLIPWAY_ASSIGN_OR_RETURN(Graph graph, ReadGraph(arguments[0], options, registry));
  SLIPWAY_ASSIGN_OR_RETURN(const ModelCost cost, CostOf(std::move(graph), {registry, reference}));
  JsonWriter json;
  json.BeginObject();
  json.Integer("operations", cost.operations);
  json.Integer("constant_bytes", cost.constant_bytes);
  json.Integer("input_bytes", cost.input_bytes);
  json.Integer("output_bytes", cost.output_bytes);
  json.EndObject();
  std::fputs(json.Take().c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway::bench

int main(int argc, char** argv) {
  const absl::Status status = slipway::bench::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "print_model_cost: %s\n", status.ToString().c_str());
  return 1;
}
