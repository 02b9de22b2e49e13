// Builds a graph with an operator of our own, compiles it for this machine, runs it and compares.
#include "core/compiler/own_operator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/examples/own_operator/squareplus.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/compiler/compiler.h"
#include "core/graph/builder.h"
#include "core/operators/register_all.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/target/target.h"
#include "core/tensor/tensor.h"

namespace slipway::examples {
namespace {

constexpr float kInput[] = {-3, -0.5f, 0, 2};
constexpr float kWeights[4][3] = {{1, 0, -1}, {0, 2, 0.5f}, {1, 1, 1}, {-1, 0.25f, 2}};

// y = Squareplus(MatMul(x, w))
absl::StatusOr<Graph> BuildGraph(const OwnOperator& squareplus) {
  OperatorRegistry registry = StandardOperators();
  SLIPWAY_RETURN_IF_ERROR(registry.Add(squareplus.schema));
  GraphBuilder builder("own_operator", registry);
  const ValueId x = builder.Input("x", DataType::kFloat32, {1, 4});
  const ValueId w =
      builder.Constant("w", Tensor::Of<float>({4, 3}, absl::MakeConstSpan(&kWeights[0][0], 12)));
  const ValueId product = builder.Add("MatMul", {x, w});
  builder.Output(builder.AddNamed("y", squareplus.schema.name, {product}, {{"b", 2.0f}}));
  return std::move(builder).Build();
}

absl::StatusOr<Tensor> CompileAndRun(const Graph& graph, const OwnOperator& squareplus) {
  const SystemClock clock;
  CompileEnvironment environment;
  environment.clock = &clock;
  environment.own_operators = absl::MakeConstSpan(&squareplus, 1);
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel compiled,
                           CompileGraph(graph, HostTarget(), {}, environment));
  std::printf("compiled into %d kernel(s)\n", static_cast<int>(compiled.report.kernels()));

  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, LoadProgram(compiled.artifact));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
  std::vector<Tensor> outputs(program->signature().outputs.size());
  const std::vector<Tensor> inputs = {Tensor::Of<float>({1, 4}, absl::MakeConstSpan(kInput))};
  SLIPWAY_RETURN_IF_ERROR(context->Run(inputs, absl::MakeSpan(outputs)));
  return outputs[0];
}

float Expected(int column) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += kInput[k] * kWeights[k][column];
  return (sum + std::sqrt(sum * sum + 2)) / 2;
}

absl::Status RunExample() {
  const OwnOperator squareplus = Squareplus();
  SLIPWAY_ASSIGN_OR_RETURN(const Graph graph, BuildGraph(squareplus));
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor y, CompileAndRun(graph, squareplus));
  bool right = y.num_elements() == 3;
  for (int i = 0; right && i < 3; ++i) {
    const float got = y.values<float>()[i];
    std::printf("y[%d] = %9.6f, expected %9.6f\n", i, got, Expected(i));
    right = std::abs(got - Expected(i)) <= 1e-5f * std::max(1.0f, std::abs(Expected(i)));
  }
  return right ? absl::OkStatus() : absl::InternalError("the numbers are not those expected");
}

}  // namespace
}  // namespace slipway::examples

int main() {
  const absl::Status status = slipway::examples::RunExample();
  if (!status.ok()) std::fprintf(stderr, "own_operator: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
