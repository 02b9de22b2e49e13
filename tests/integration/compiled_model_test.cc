// Models through the whole compiler and the runtime, against core/reference and stored outputs.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/compiler/compiler.h"
#include "core/graph/text.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "core/passes/testing/random_graph.h"
#include "core/runtime/load_program.h"
#include "core/target/target.h"
#include "core/tensor/comparison.h"
#include "tests/common/model_folder.h"
#include "tests/common/seeded_weights.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

absl::Status CheckRun(const CompiledModel& model, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& expected, int threads) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, LoadProgram(model.artifact));
  ProgramContextOptions options;
  options.threads = threads;
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context,
                           program->NewContext(options));
  std::vector<Tensor> outputs(program->signature().outputs.size());
  // Twice: nothing may hang on what memory held before.
  for (int run = 0; run < 2; ++run) {
    SLIPWAY_RETURN_IF_ERROR(context->Run(inputs, absl::MakeSpan(outputs)));
    if (outputs.size() != expected.size()) return absl::InternalError("wrong number of outputs");
    for (size_t i = 0; i < outputs.size(); ++i) {
      SLIPWAY_RETURN_IF_ERROR_WITH(CheckClose(outputs[i], expected[i], {}),
                                   absl::StrCat("run ", run, ", output ", i));
    }
  }
  return absl::OkStatus();
}

CompileEnvironment Environment() {
  static const SystemClock clock;
  CompileEnvironment environment;
  environment.clock = &clock;
  return environment;
}

void PrintReport(const CompiledModel& model) {
  for (const v1::StageTime& stage : model.report.stages()) {
    std::cout << stage.name() << ": " << absl::Nanoseconds(stage.duration_ns()) << "\n";
  }
  std::cout << model.report.kernels() << " kernels, code " << model.report.code_bytes()
            << ", constants " << model.report.constant_bytes() << ", arena "
            << model.report.arena_bytes() << " bytes\n";
}

class EveryLevel : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryLevel, RandomGraphsComputeWhatTheReferenceDoes) {
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(GetParam()));
  if (!CheckRunsOn(target, HostTarget()).ok()) GTEST_SKIP() << "this machine is not one";
  const PassTester tester;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ASSERT_OK_AND_ASSIGN(const Graph graph, RandomGraph(tester.registry(), seed));
    ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileGraph(graph, target, {}, Environment()));
    const std::vector<Tensor> inputs = RandomInputs(graph, seed);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester.reference().Evaluate(graph, inputs));
    EXPECT_OK(CheckRun(model, inputs, expected, 2)) << Print(graph);
  }
}

// A recurrent network as an ONNX model has it: all but %x are constants.
struct NetworkCase {
  const char* op;
  int gates;
  int steps, batch, width, hidden;
  const char* attributes;
};

Graph GraphOf(const PassTester& tester, const NetworkCase& network) {
  const int directions = absl::StrContains(network.attributes, "bidirectional") ? 2 : 1;
  const int rows = network.gates * network.hidden;
  const bool has_cell = network.gates == 4;
  const std::string text = absl::StrFormat(
      R"(graph "g" (%%x: f32[%d, %d, %d], %%w: f32[%d, %d, %d], %%r: f32[%d, %d, %d], %%b: f32[%d, %d],
                    %%p: f32[%d, %d]) -> (%%y, %%h%s) {
        %%y, %%h%s = %s(%%x, %%w, %%r, %%b%s) {%s}
      })",
      network.steps, network.batch, network.width, directions, rows, network.width, directions,
      rows, network.hidden, directions, 2 * rows, directions, 3 * network.hidden,
      has_cell ? ", %c" : "", has_cell ? ", %c" : "", network.op, has_cell ? ", _, _, _, %p" : "",
      network.attributes);
  absl::StatusOr<Graph> graph = tester.Parse(text);
  EXPECT_OK(graph) << text;
  if (!graph.ok()) return Graph();
  std::vector<Tensor> constants = RandomInputs(*graph, 1);
  for (size_t i = 1; i < constants.size(); ++i) {
    // Sums of many terms stay where gates are neither open nor closed.
    const float scale = 1.0f / std::sqrt(static_cast<float>(constants[i].shape().back()));
    for (float& number : constants[i].mutable_values<float>()) number *= scale;
    graph->values[graph->inputs[i]].constant = std::move(constants[i]);
  }
  graph->inputs.resize(1);
  return *std::move(graph);
}

// Around the sizes of vectors, panels and rows that are multiplied together.
constexpr NetworkCase kNetworks[] = {
    {"RNN", 1, 5, 1, 3, 1, ""},
    {"RNN", 1, 5, 16, 7, 13, "direction = \"bidirectional\""},
    {"RNN", 1, 5, 3, 40, 200, "direction = \"reverse\""},
    {"GRU", 3, 5, 3, 3, 1, "direction = \"bidirectional\""},
    {"GRU", 3, 5, 1, 5, 7, "direction = \"reverse\", linear_before_reset = 1"},
    {"GRU", 3, 5, 16, 16, 13, "linear_before_reset = 1, direction = \"bidirectional\""},
    {"GRU", 3, 9, 1, 128, 128, "direction = \"bidirectional\""},
    {"GRU", 3, 5, 16, 64, 200, ""},
    {"LSTM", 4, 5, 16, 3, 1, ""},
    {"LSTM", 4, 5, 3, 5, 7, "direction = \"bidirectional\""},
    {"LSTM", 4, 5, 1, 16, 13, "direction = \"reverse\""},
    {"LSTM", 4, 9, 1, 128, 128, "direction = \"bidirectional\""},
    {"LSTM", 4, 5, 16, 64, 200, "direction = \"bidirectional\""},
};

TEST_P(EveryLevel, RecurrentNetworksComputeWhatTheReferenceDoes) {
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(GetParam()));
  if (!CheckRunsOn(target, HostTarget()).ok()) GTEST_SKIP() << "this machine is not one";
  const PassTester tester;
  for (const NetworkCase& network : kNetworks) {
    const Graph graph = GraphOf(tester, network);
    SCOPED_TRACE(Print(graph, {.max_elements = 4}));
    ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileGraph(graph, target, {}, Environment()));
    const std::vector<Tensor> inputs = RandomInputs(graph, 3);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester.reference().Evaluate(graph, inputs));
    for (const int threads : {1, 3}) EXPECT_OK(CheckRun(model, inputs, expected, threads));
  }
}

struct AttentionCase {
  int batch, heads, key_heads, queries, keys, size, value_size;
  const char* mask;  // Its shape; empty for none.
};

// Around the sizes of vectors, panels, tiles and blocks.
constexpr AttentionCase kAttentions[] = {
    {1, 1, 1, 8, 1, 1, 1, ""},
    {2, 3, 3, 9, 7, 5, 3, "2, 1, 9, 7"},
    {1, 2, 2, 24, 16, 16, 16, "24, 16"},
    {1, 2, 1, 37, 33, 20, 17, "1, 2, 1, 33"},
    {1, 1, 1, 130, 65, 32, 32, ""},
    {1, 12, 12, 25, 25, 64, 64, "1, 1, 25, 25"},
    {1, 1, 1, 13, 3000, 8, 40, "1, 1, 13, 1"},
};

TEST_P(EveryLevel, AttentionComputesWhatTheReferenceDoesOfItsProducts) {
  ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(GetParam()));
  if (!CheckRunsOn(target, HostTarget()).ok()) GTEST_SKIP() << "this machine is not one";
  const PassTester tester;
  for (const AttentionCase& sizes : kAttentions) {
    const bool has_mask = sizes.mask[0] != 0;
    const std::string text = absl::StrFormat(
        R"(graph "g" (%%q: f32[%d, %d, %d, %d], %%k: f32[%d, %d, %d, %d], %%v: f32[%d, %d, %d, %d]%s) -> (%%y) {
          const %%scale: f32[] = {0.3}
          %%qt = Transpose(%%q) {perm = [0, 2, 1, 3]}
          %%kt = Transpose(%%k) {perm = [0, 1, 3, 2]}
          %%s = MatMul(%%qt, %%kt)
          %%a = Mul(%%s, %%scale)
          %s
          %%p = Softmax(%%b) {axis = 3}
          %%x = MatMul(%%p, %%v)
          %%y = Transpose(%%x) {perm = [0, 2, 1, 3]}
        })",
        sizes.batch, sizes.queries, sizes.heads, sizes.size, sizes.batch, sizes.key_heads,
        sizes.keys, sizes.size, sizes.batch, sizes.key_heads, sizes.keys, sizes.value_size,
        has_mask ? absl::StrCat(", %m: f32[", sizes.mask, "]") : "",
        has_mask ? "%b = Add(%a, %m)" : "%b = Identity(%a)");
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(text));
    ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileGraph(graph, target, {}, Environment()));
    const std::vector<Tensor> inputs = RandomInputs(graph, 3);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester.reference().Evaluate(graph, inputs));
    for (const int threads : {1, 3}) EXPECT_OK(CheckRun(model, inputs, expected, threads));
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, EveryLevel,
                         ::testing::Values("x86-64-linux", "x86-64-v2-linux", "x86-64-v3-linux",
                                           "x86-64-v4-linux", "arm-64-linux"));

TEST(CompiledModel, OutputsThatNoKernelMakes) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[2, 3]) -> (%same, %flat, %k, %y, %z) {
      const %k: f32[2] = {1.0, 2.0}
      const %shape: i64[1] = {6}
      %same = Identity(%x)
      %flat = Reshape(%x, %shape)
      %y = Relu(%x)
      %z = Reshape(%y, %shape)
    })"));
  ASSERT_OK_AND_ASSIGN(const CompiledModel model,
                       CompileGraph(graph, HostTarget(), {}, Environment()));
  const std::vector<Tensor> inputs = RandomInputs(graph, 1);
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                       tester.reference().Evaluate(graph, inputs));
  EXPECT_OK(CheckRun(model, inputs, expected, 1));
}

// Blocked convolutions, tails that would be fused, folded scales, a Concat in place, views, a size found out.
TEST(CompiledModel, GivesEveryValueThatIsKept) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(R"(
    graph "g" (%x: f32[1, 16, 6, 6]) -> (%y) {
      const %w: f32[16, 16, 3, 3] = splat 0.125
      const %scale: f32[16] = splat 2.0
      const %shift: f32[16] = splat 0.5
      const %mean: f32[16] = splat 0.25
      const %variance: f32[16] = splat 4.0
      const %flat: i64[2] = {32, 36}
      %c = Conv(%x, %w) {pads = [1, 1, 1, 1]}
      %n = BatchNormalization(%c, %scale, %shift, %mean, %variance)
      %r = Relu(%n)
      %same = Identity(%r)
      %both = Concat(%r, %c) {axis = 1}
      %f = Reshape(%both, %flat)
      %s = Sigmoid(%f)
      %found = NonZero(%s)
      %y = Sub(%s, %f)
    })"));
  CompilerOptions options;
  options.keep = {"*"};
  ASSERT_OK_AND_ASSIGN(const CompiledModel model,
                       CompileGraph(graph, HostTarget(), options, Environment()));
  graph.outputs.clear();
  for (const char* name : {"y", "c", "n", "r", "same", "both", "f", "s", "found"}) {
    for (size_t id = 0; id < graph.values.size(); ++id) {
      if (graph.values[id].name == name) graph.outputs.push_back(static_cast<ValueId>(id));
    }
  }
  ASSERT_EQ(graph.outputs.size(), 9u);
  const auto& outputs = model.artifact.manifest().signature().outputs;
  ASSERT_EQ(outputs.size(), 9u);
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].name, graph.values[graph.outputs[i]].name);
  }
  const std::vector<Tensor> inputs = RandomInputs(graph, 1);
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                       tester.reference().Evaluate(graph, inputs));
  EXPECT_OK(CheckRun(model, inputs, expected, 1));
}

TEST(CompiledModel, RandomGraphsGiveEveryValue) {
  const PassTester tester;
  CompilerOptions options;
  options.keep = {"*"};
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ASSERT_OK_AND_ASSIGN(Graph graph, RandomGraph(tester.registry(), seed));
    ASSERT_OK_AND_ASSIGN(const CompiledModel model,
                         CompileGraph(graph, HostTarget(), options, Environment()));
    std::vector<ValueId> outputs;
    for (const NamedType& output : model.artifact.manifest().signature().outputs) {
      for (size_t id = 0; id < graph.values.size(); ++id) {
        if (graph.values[id].name == output.name) outputs.push_back(static_cast<ValueId>(id));
      }
    }
    EXPECT_GE(outputs.size(), graph.outputs.size() + 3);
    graph.outputs = outputs;
    const std::vector<Tensor> inputs = RandomInputs(graph, seed);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester.reference().Evaluate(graph, inputs));
    EXPECT_OK(CheckRun(model, inputs, expected, 1)) << Print(graph);
  }
}

TEST(CompiledModel, ProgramsWithoutKernels) {
  const PassTester tester;
  for (const char* text : {R"(
    graph "identity" (%x: f32[2, 3]) -> (%y) {
      %y = Identity(%x)
    })",
                           R"(
    graph "constant" () -> (%y) {
      const %a: f32[2] = {1.0, 2.0}
      %y = Add(%a, %a)
    })",
                           R"(
    graph "empty" (%x: f32[0, 3]) -> (%y) {
      %a = Relu(%x)
      %y = Exp(%a)
    })"}) {
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(text));
    ASSERT_OK_AND_ASSIGN(const CompiledModel model,
                         CompileGraph(graph, HostTarget(), {}, Environment()));
    const std::vector<Tensor> inputs = RandomInputs(graph, 1);
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                         tester.reference().Evaluate(graph, inputs));
    EXPECT_OK(CheckRun(model, inputs, expected, 1));
  }
}

class PublicModels : public ::testing::TestWithParam<std::string> {};

TEST_P(PublicModels, ComputeWhatTheyShould) {
  if (!HaveModels()) GTEST_SKIP() << "SLIPWAY_MODELS is not set";
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(ModelCase model, LoadModelCase(GetParam()));
  if (model.has_weights) {
    ModelSource source;
    source.files = {{"model.onnx", Blob::Own(model.bytes)}};
    ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                         CompileModel(source, HostTarget(), {}, Environment()));
    PrintReport(compiled);
    EXPECT_OK(CheckRun(compiled, model.inputs, model.outputs, 1));
    return;
  }
  ASSERT_OK_AND_ASSIGN(Graph graph, ImportOnnx({Blob::Own(model.bytes), {}}, tester.registry()));
  ASSERT_OK_AND_ASSIGN(graph, InferType(std::move(graph), tester.context()));
  graph = WithSeededWeights(std::move(graph), 1);
  ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                       CompileGraph(graph, HostTarget(), {}, Environment()));
  PrintReport(compiled);
  const std::vector<Tensor> inputs = RandomInputs(graph, 1);
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected,
                       tester.reference().Evaluate(graph, inputs));
  EXPECT_OK(CheckRun(compiled, inputs, expected, 2));
}

INSTANTIATE_TEST_SUITE_P(Models, PublicModels, ::testing::ValuesIn(ModelNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipway::testing
