// A network with seeded weights, observed, calibrated, compiled in 8 bits and called: how far it is from f32.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/output_accuracy.h"
#include "client/range_observer.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/compiler/compiler.h"
#include "core/graph/graph.h"
#include "core/passes/quantize_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/target/target.h"
#include "core/tensor/random.h"
#include "core/tensor/tensor.h"
#include "tests/common/seeded_weights.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

constexpr int kExamples = 4;

// What image networks are made of: a stem, a maximum, a residual, a depthwise layer between pointwise ones, one whose input is below 0, too,
// and a classifier.
constexpr char kNetwork[] = R"(
    graph "net" (%x: f32[1, 3, 32, 32]) -> (%y) {
      const %w0: f32[16, 3, 3, 3] = splat 1
      const %b0: f32[16] = splat 1
      %c0 = Conv "stem" (%x, %w0, %b0) {pads = [1, 1, 1, 1], strides = [2, 2]}
      %r0 = Relu "r0" (%c0)
      %p0 = MaxPool "p0" (%r0) {kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}
      const %w1: f32[16, 16, 3, 3] = splat 1
      %c1 = Conv "residual" (%p0, %w1) {pads = [1, 1, 1, 1]}
      %a1 = Add "a1" (%c1, %p0)
      %r1 = Relu "r1" (%a1)
      const %w2: f32[48, 16, 1, 1] = splat 1
      const %b2: f32[48] = splat 1
      %c2 = Conv "expand" (%r1, %w2, %b2)
      %r2 = Relu "r2" (%c2)
      const %w3: f32[48, 1, 3, 3] = splat 1
      %c3 = Conv "depthwise" (%r2, %w3) {group = 48, pads = [1, 1, 1, 1]}
      %s3 = Sigmoid "s3" (%c3)
      %m3 = Mul "m3" (%c3, %s3)
      const %w4: f32[24, 48, 1, 1] = splat 1
      %c4 = Conv "project" (%m3, %w4)
      %g = GlobalAveragePool "g" (%c4)
      %f = Flatten "f" (%g)
      const %w5: f32[24, 10] = splat 1
      %y = Gemm "classify" (%f, %w5)
    })";

Tensor Example(uint64_t seed) {
  return *RandomTensor({DataType::kFloat32, {1, 3, 32, 32}}, seed, "x");
}

struct Compiled {
  std::unique_ptr<Program> program;
  std::vector<std::string> outputs;
  v1::CompileReport report;

  absl::StatusOr<std::vector<Tensor>> Call(const Tensor& x) const {
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context,
                             program->NewContext({}));
    std::vector<Tensor> results(outputs.size());
    SLIPWAY_RETURN_IF_ERROR(context->Run({x}, absl::MakeSpan(results)));
    return results;
  }
};

absl::StatusOr<Compiled> CompileIt(const Graph& graph, const CompilerOptions& options) {
  const SystemClock clock;
  CompileEnvironment environment;
  environment.clock = &clock;
  SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel model,
                           CompileGraph(graph, HostTarget(), options, environment));
  Compiled compiled;
  compiled.report = model.report;
  for (const NamedType& output : model.artifact.manifest().signature().outputs) {
    compiled.outputs.push_back(output.name);
  }
  SLIPWAY_ASSIGN_OR_RETURN(compiled.program, LoadProgram(model.artifact));
  return compiled;
}

absl::StatusOr<ValueRanges> Calibrate(const Graph& graph) {
  CompilerOptions options;
  options.observe = true;
  SLIPWAY_ASSIGN_OR_RETURN(const Compiled observing, CompileIt(graph, options));
  RangeObserver input(kExamples);
  std::vector<RangeObserver> observers(observing.outputs.size(), RangeObserver(kExamples));
  for (int i = 0; i < kExamples; ++i) {
    const Tensor x = Example(i);
    SLIPWAY_RETURN_IF_ERROR(input.Add(x.values<float>()));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> values, observing.Call(x));
    for (size_t v = 0; v < values.size(); ++v) {
      SLIPWAY_RETURN_IF_ERROR(observers[v].Add(values[v].values<float>()));
    }
  }
  ValueRanges ranges = {{"x", {input.Best().least, input.Best().greatest}}};
  for (size_t v = 0; v < observers.size(); ++v) {
    const RangeObserver::Range best = observers[v].Best();
    ranges[observing.outputs[v]] = {best.least, best.greatest};
  }
  return ranges;
}

TEST(QuantizedModel, StaysCloseToF32) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph untrained, tester.Parse(kNetwork));
  const Graph graph = WithSeededWeights(untrained, 7);
  CompilerOptions options;
  ASSERT_OK_AND_ASSIGN(options.ranges, Calibrate(graph));
  ASSERT_OK_AND_ASSIGN(const Compiled integers, CompileIt(graph, options));
  EXPECT_EQ(integers.report.integer_products(), 6);
  EXPECT_EQ(integers.report.float_products_size(), 0);

  AccuracyObserver accuracy;
  for (int i = 0; i < kExamples; ++i) {
    // Half of what it is called with it has not seen before.
    const Tensor x = Example(i + kExamples / 2);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester.reference().Evaluate(graph, {x}));
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> actual, integers.Call(x));
    ASSERT_OK(accuracy.Add(expected[0], actual[0]));
  }
  const OutputAccuracy result = accuracy.Result("y");
  std::cout << "signal/noise " << *result.errors->decibels << " dB, largest error "
            << result.errors->relative << " of the largest element\n";
  EXPECT_GT(*result.errors->decibels, 30);
  EXPECT_LT(result.errors->relative, 0.08);
  EXPECT_GT(result.errors->cosine, 0.999);
}

}  // namespace
}  // namespace slipway::testing
