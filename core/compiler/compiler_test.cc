#include "core/compiler/compiler.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/artifact/program_steps.h"
#include "core/base/clock.h"
#include "core/codegen/kernel_cache.h"
#include "core/graph/text.h"
#include "core/tensor/nd_array_file.h"
#include "core/tensor/tensor.h"
#include "core/wire/graph/graph_proto.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::slipway::testing::TempTree;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kModel[] = R"(
  graph "tiny" (%x: f32[1, 1, 6, 6]) -> (%y) {
    const %w: f32[8, 1, 3, 3] = splat 0.5
    const %v: f32[8, 3] = splat 0.25
    %c = Conv "conv1" (%x, %w)
    %r = Relu(%c)
    %m = GlobalAveragePool(%r)
    %f = Flatten(%m)
    %y = Gemm "fc" (%f, %v)
  })";

class CompilerTest : public ::testing::Test {
 protected:
  CompilerTest() {
    const auto target = ParseTarget("x86-64-v3-linux");
    target_ = *target;
    auto cache = FileKernelCache::Create({.folder = tree_.Path("kernels")});
    EXPECT_OK(cache);
    if (cache.ok()) cache_ = *std::move(cache);
    environment_.clock = &clock_;
    environment_.kernel_cache = cache_.get();
  }
  absl::StatusOr<CompiledModel> CompileText(absl::string_view text,
                                            const CompilerOptions& options = {}) {
    ModelSource model;
    model.format = v1::MODEL_FORMAT_GRAPH_TEXT;
    model.files = {{"model.txt", Blob::Own(std::string(text))}};
    return CompileModel(model, target_, options, environment_);
  }
  // Once for each candidate of each kernel, of which there are so many at least.
  void CompileEachCandidate(absl::string_view text, CompilerOptions options, int least) {
    options.tell_candidates = true;
    ASSERT_OK_AND_ASSIGN(const CompiledModel chosen, CompileText(text, options));
    int candidates = 0;
    for (const v1::KernelCandidates& kernel : chosen.report.candidates()) {
      for (const std::string& candidate : kernel.candidates()) {
        options.schedules = absl::StrCat(kernel.kernel(), " ", candidate);
        ASSERT_OK_AND_ASSIGN(const CompiledModel made, CompileText(text, options));
        EXPECT_EQ(made.report.kernels_recorded(), 1);
        ++candidates;
      }
    }
    EXPECT_GE(candidates, least);
  }

  TempTree tree_;
  SystemClock clock_;
  std::unique_ptr<KernelCache> cache_;
  CompileEnvironment environment_;
  Target target_;
};

TEST_F(CompilerTest, ReportsWhatItDid) {
  std::vector<std::string> announced;
  environment_.progress = [&announced](absl::string_view stage, int64_t done, int64_t total) {
    announced.push_back(absl::StrCat(stage, " ", done, "/", total));
  };
  CompilerOptions options;
  options.compile_key = std::string(64, 'a');
  ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileText(kModel, options));
  EXPECT_THAT(announced, ElementsAre("import 0/0", "passes 0/0", "kernels 0/0", "kernels 1/3",
                                     "kernels 2/3", "kernels 3/3", "done 0/0"));

  const v1::CompileReport& report = model.report;
  std::vector<std::string> stages;
  for (const v1::StageTime& stage : report.stages()) stages.push_back(stage.name());
  EXPECT_THAT(stages, ElementsAre("import", "passes", "compile kernels", "link", "write"));
  EXPECT_EQ(report.passes_size(), 33);
  EXPECT_EQ(report.kernels_compiled(), 3);
  EXPECT_EQ(report.kernels_cached(), 0);
  EXPECT_EQ(report.kernels(), 3);
  EXPECT_GT(report.code_bytes(), 0);
  EXPECT_GT(report.constant_bytes(), 0);
  EXPECT_GT(report.arena_bytes(), 0);
  EXPECT_EQ(report.printed_graph(), "");

  const v1::Manifest& manifest = model.artifact.manifest().proto();
  EXPECT_EQ(manifest.name(), "tiny");
  EXPECT_EQ(manifest.target(), "x86-64-v3-linux");
  EXPECT_EQ(manifest.compile_key(), options.compile_key);
  ASSERT_EQ(manifest.functions_size(), 1);
  ASSERT_EQ(manifest.functions(0).steps_size(), 3);
  EXPECT_EQ(manifest.functions(0).steps(0).name(), "ConvNCHWc+Relu conv1");
  EXPECT_THAT(manifest.functions(0).steps(0).operators(), ElementsAre("ConvNCHWc", "Relu"));
}

TEST_F(CompilerTest, HowKernelsAreCutIsToldAndTakenBack) {
  CompilerOptions options;
  options.print_schedules = true;
  ASSERT_OK_AND_ASSIGN(const CompiledModel chosen, CompileText(kModel, options));
  const std::string& text = chosen.report.printed_schedules();
  EXPECT_THAT(text, AllOf(HasSubstr(" convolution width=4 blocks=1 "),
                          HasSubstr("  # ConvNCHWc+Relu conv1\n"), HasSubstr(" product rows=1 ")));
  EXPECT_FALSE(chosen.report.has_kernels_recorded());

  options.print_schedules = false;
  options.schedules = absl::StrCat(absl::StrReplaceAll(text, {{"width=4", "width=2"}}),
                                   "0123456789abcdef rows  # of another model\n");
  ASSERT_OK_AND_ASSIGN(const CompiledModel changed, CompileText(kModel, options));
  EXPECT_EQ(changed.report.records(), 4);
  EXPECT_EQ(changed.report.kernels_recorded(), 3);
  EXPECT_EQ(changed.report.printed_schedules(), "");
  EXPECT_NE(changed.artifact.digest(), chosen.artifact.digest());

  options.schedules = absl::StrReplaceAll(text, {{"width=4", "width=5"}});
  EXPECT_THAT(CompileText(kModel, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("conv1"), HasSubstr("in line 1: convolution: parameter "
                                                           "\"width\" is 5; it may be 1 to 4"))));
  options.schedules = "\nwidth=5";
  EXPECT_THAT(CompileText(kModel, options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("schedules, line 2: ")));
}

TEST_F(CompilerTest, HowElseKernelsMayBeCutIsTold) {
  CompilerOptions options;
  options.tell_candidates = true;
  ASSERT_OK_AND_ASSIGN(const CompiledModel chosen, CompileText(kModel, options));
  ASSERT_EQ(chosen.report.candidates_size(), 3);
  const v1::KernelCandidates& convolution = chosen.report.candidates(0);
  EXPECT_THAT(convolution.steps(), ElementsAre("ConvNCHWc+Relu conv1"));
  EXPECT_THAT(convolution.schedule(), StartsWith("convolution width=4 blocks=1 "));
  EXPECT_THAT(convolution.candidates(), Contains(StartsWith("convolution width=3 blocks=1 ")));

  // From the cache, too, and from that of another's schedule.
  ASSERT_OK_AND_ASSIGN(const CompiledModel again, CompileText(kModel, options));
  EXPECT_EQ(again.report.candidates(0).SerializeAsString(), convolution.SerializeAsString());
  options.schedules = absl::StrCat(convolution.kernel(), " ", convolution.candidates(0));
  ASSERT_OK_AND_ASSIGN(const CompiledModel moved, CompileText(kModel, options));
  EXPECT_EQ(moved.report.candidates(0).kernel(), convolution.kernel());
  EXPECT_EQ(moved.report.candidates(0).schedule(), convolution.candidates(0));
  EXPECT_THAT(moved.report.candidates(0).candidates(), Contains(convolution.schedule()));

  options = {};
  ASSERT_OK_AND_ASSIGN(const CompiledModel silent, CompileText(kModel, options));
  EXPECT_EQ(silent.report.candidates_size(), 0);
}

TEST_F(CompilerTest, KernelsTakeEachCandidate) {
  constexpr char kKinds[] = R"(
    graph "kinds" (%x: f32[1, 16, 16, 16]) -> (%y) {
      const %w: f32[32, 16, 3, 3] = splat 0.5
      const %d: f32[32, 1, 3, 3] = splat 0.5
      const %p: f32[64, 32, 1, 1] = splat 0.5
      const %m: f32[64, 48] = splat 0.25
      %a = Conv "three" (%x, %w)
      %b = Conv "depthwise" (%a, %d) {group = 32, strides = [2, 2]}
      %c = Conv "one" (%b, %p)
      %r = Relu(%c)
      %t = Transpose(%r) {perm = [0, 2, 3, 1]}
      %y = MatMul "product" (%t, %m)
    })";
  CompileEachCandidate(kKinds, {}, 24);
}

TEST_F(CompilerTest, ProductsOfTensorCoresTakeEachCandidate) {
  constexpr char kProduct[] = R"(
    graph "product" (%x: f32[256, 512], %w: f32[512, 256]) -> (%y) {
      %y = MatMul "product" (%x, %w)
    })";
  CompilerOptions options;
  options.precision = Precision::kFloat16;
  for (const char* device : {"cuda-sm80", "cuda-sm90a"}) {
    ASSERT_OK_AND_ASSIGN(target_, ParseTarget(absl::StrCat("x86-64-v3-linux,", device)));
    CompileEachCandidate(kProduct, options, 16);
  }
}

TEST_F(CompilerTest, ProductsAreOfBfloat16WhereTheTargetHasThem) {
  constexpr char kConvolutions[] = R"(
    graph "g" (%x: f32[1, 16, 6, 6]) -> (%y) {
      const %v: f32[16, 16, 3, 3] = splat 0.25
      const %w: f32[16, 16, 3, 3] = splat 0.5
      %c = Conv(%x, %v)
      %y = Conv(%c, %w)
    })";
  CompilerOptions options;
  options.print_after = "FuseOps";
  const struct {
    const char* target;
    Precision asked;
    v1::Precision made;
  } rows[] = {{"x86-64-v4-linux-bf16", Precision::kBfloat16, v1::PRECISION_BF16},
              {"x86-64-v4-linux-bf16", Precision::kFloat32, v1::PRECISION_UNSPECIFIED},
              {"x86-64-v4-linux-vnni", Precision::kBfloat16, v1::PRECISION_UNSPECIFIED},
              {"x86-64-v3-linux", Precision::kBfloat16, v1::PRECISION_UNSPECIFIED},
              {"x86-64-v4-linux-bf16", Precision::kFloat16, v1::PRECISION_UNSPECIFIED},
              {"x86-64-v4-linux-bf16", Precision::kTensorFloat32, v1::PRECISION_UNSPECIFIED},
              {"arm-64-linux-bf16", Precision::kBfloat16, v1::PRECISION_UNSPECIFIED}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.target);
    options.precision = row.asked;
    ASSERT_OK_AND_ASSIGN(target_, ParseTarget(row.target));
    ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileText(kConvolutions, options));
    EXPECT_EQ(model.report.precision(), row.made);
    if (row.made == v1::PRECISION_BF16) {
      // What is between them is not written in f32.
      EXPECT_THAT(model.report.printed_graph(), HasSubstr(": bf16[1, 1, 4, 4, 16]"));
    } else {
      EXPECT_THAT(model.report.printed_graph(), Not(HasSubstr("bf16")));
    }
  }
}

TEST_F(CompilerTest, TellsWhatStepsCost) {
  ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileText(kModel));
  const std::vector<StepInfo> steps = StepsOf(model.artifact);
  ASSERT_EQ(steps.size(), 3u);
  // 8 kernels of 3 x 3 at 4 x 4 places of x.
  ASSERT_TRUE(steps[0].cost.has_value());
  EXPECT_EQ(steps[0].cost->flops, 2 * (8 * 4 * 4) * (3 * 3));
  EXPECT_EQ(steps[0].cost->constant_bytes, 4 * (8 * 3 * 3));
  EXPECT_EQ(steps[0].cost->bytes, 4 * (6 * 6 + 8 * 3 * 3 + 8 * 4 * 4));
  ASSERT_TRUE(steps[1].cost.has_value());
  EXPECT_EQ(steps[1].cost->flops, 0);
}

TEST_F(CompilerTest, OfOpenExtentsTheCostIsNotKnown) {
  ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileText(R"(
    graph "open" [n in 1..9] (%x: f32[n, 4]) -> (%y) {
      %y = Relu(%x)
    })"));
  const std::vector<StepInfo> steps = StepsOf(model.artifact);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].cost, std::nullopt);
}

// What products read is observed in one compilation and computed with in the next.
TEST_F(CompilerTest, ComputesIn8Bits) {
  CompilerOptions options;
  options.observe = true;
  const std::string two = absl::StrReplaceAll(
      kModel,
      {{"%m = Glo", "const %u: f32[4, 8, 1, 1] = splat 1\n%d = Conv \"conv2\" (%r, %u)\n%m = Glo"},
       {"AveragePool(%r)", "AveragePool(%d)"},
       {"(%f, %v)", "(%f, %v) {alpha = 0.5}"},
       {"f32[8, 3]", "f32[4, 3]"}});
  const auto observing = CompileText(two, options);
  ASSERT_OK(observing);
  std::vector<std::string> outputs;
  for (const NamedType& output : observing->artifact.manifest().signature().outputs) {
    outputs.push_back(output.name);
  }
  EXPECT_THAT(outputs, ElementsAre("y", "r"));  // x is known to whoever gives it.
  ASSERT_EQ(observing->report.float_products_size(), 1);
  EXPECT_EQ(observing->report.float_products(0).node(), "fc");

  options.ranges = {{"x", {-1, 1}}, {"r", {0, 9}}};
  EXPECT_THAT(CompileText(two, options), StatusIs(absl::StatusCode::kInvalidArgument,
                                                  HasSubstr("cannot be observed as well")));
  options.observe = false;
  options.print_after = "FoldQuantization";
  const auto quantized = CompileText(two, options);
  ASSERT_OK(quantized);
  EXPECT_EQ(quantized->artifact.manifest().signature().outputs.size(), 1u);
  EXPECT_EQ(quantized->report.integer_products(), 2);
  ASSERT_EQ(quantized->report.float_products_size(), 1);
  EXPECT_EQ(quantized->report.float_products(0).reason(), "it transposes its data, or has factors");
  EXPECT_THAT(quantized->report.printed_graph(), AllOf(HasSubstr("slipway.IntegerConv \"conv1\""),
                                                       HasSubstr("slipway.IntegerConv \"conv2\"")));
  options.ranges = {{"other", {0, 1}}};
  EXPECT_THAT(CompileText(two, options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"other\"")));
}

// A product reads what a Pad reads, with or without 8 bits.
TEST_F(CompilerTest, ComputesIn8BitsWithoutPads) {
  constexpr char kPadded[] = R"(
    graph "padded" (%x: f32[1, 4, 5, 5]) -> (%y) {
      const %w: f32[4, 4, 1, 1] = splat 0.5
      const %v: f32[4, 4, 3, 3] = splat 0.25
      const %p: i64[8] = {0, 0, 0, 0, 0, 0, 1, 1}
      %a = Conv "conv1" (%x, %w)
      %b = Pad(%a, %p)
      %y = Conv "conv2" (%b, %v)
    })";
  CompilerOptions options;
  options.observe = true;
  ASSERT_OK_AND_ASSIGN(const CompiledModel observing, CompileText(kPadded, options));
  ASSERT_EQ(observing.artifact.manifest().signature().outputs.size(), 2u);
  EXPECT_EQ(observing.artifact.manifest().signature().outputs[1].name, "a");
  options.observe = false;
  options.ranges = {{"x", {-1, 1}}, {"a", {-2, 2}}};
  ASSERT_OK_AND_ASSIGN(const CompiledModel computing, CompileText(kPadded, options));
  EXPECT_EQ(computing.report.integer_products(), 2);
  for (const StepInfo& step : StepsOf(computing.artifact)) {
    EXPECT_THAT(step.operators, ::testing::Not(::testing::Contains("Pad"))) << step.name;
  }
}

TEST_F(CompilerTest, TheSameModelAgainComesFromTheCacheAndIsTheSame) {
  ASSERT_OK_AND_ASSIGN(const CompiledModel first, CompileText(kModel));
  ASSERT_OK_AND_ASSIGN(const CompiledModel again, CompileText(kModel));
  EXPECT_EQ(again.report.kernels_compiled(), 0);
  EXPECT_EQ(again.report.kernels_cached(), 3);
  EXPECT_EQ(again.artifact.digest(), first.artifact.digest());

  // Without the cache, on one process.
  environment_.kernel_cache = nullptr;
  environment_.threads = 1;
  ASSERT_OK_AND_ASSIGN(const CompiledModel anew, CompileText(kModel));
  EXPECT_EQ(anew.report.kernels_compiled(), 3);
  EXPECT_EQ(anew.artifact.digest(), first.artifact.digest());
}

TEST_F(CompilerTest, PrintsTheGraphAfterAPass) {
  CompilerOptions options;
  options.print_after = "InferType";
  ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileText(kModel, options));
  EXPECT_THAT(model.report.printed_graph(),
              HasSubstr("%c = Conv \"conv1\" (%x, %w) : f32[1, 8, 4, 4]"));
  options.print_after = "Nonsense";
  EXPECT_THAT(CompileText(kModel, options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"Nonsense\"")));
}

TEST_F(CompilerTest, CompilesForArm) {
  ASSERT_OK_AND_ASSIGN(target_, ParseTarget("arm-64-linux"));
  ASSERT_OK_AND_ASSIGN(const CompiledModel model, CompileText(kModel));
  EXPECT_EQ(model.artifact.manifest().proto().target(), "arm-64-linux");
}

TEST_F(CompilerTest, RefusesWhatIsTooLargeBeforeItMakesKernels) {
  // 4 GB, which nothing has to hold to see that it is too much.
  EXPECT_THAT(CompileText(R"(
    graph "g" (%x: f32[32768, 1], %row: f32[1, 32768]) -> (%y) {
      %large = MatMul "outer" (%x, %row)
      %y = ReduceMax(%large) {keepdims = 0}
    })"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("f32[32768, 32768] and takes 4294967296 bytes"),
                             HasSubstr("--dimension"))));
  EXPECT_THAT(CompileText(R"(
    graph "g" (%x: f32[32768, 32768]) -> (%y) {
      %y = Relu(%x)
    })"),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("value \"x\" is f32[")));
}

TEST_F(CompilerTest, RefusesWhatPointersOf32BitsDoNotReach) {
  ASSERT_OK_AND_ASSIGN(target_, ParseTarget("arm-32-linux-neon"));
  EXPECT_OK(CompileText(kModel));
  // Three values of 1.2 GB at once.
  EXPECT_THAT(CompileText(R"(
    graph "g" (%x: f32[17000, 1], %row: f32[1, 17000]) -> (%y) {
      %a = MatMul(%x, %row)
      %b = MatMul(%x, %row)
      %c = MatMul(%a, %b)
      %y = ReduceMax(%c) {keepdims = 0}
    })"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("2147483647"), HasSubstr("\"arm-32-linux-neon\""))));
}

TEST_F(CompilerTest, RefusesByName) {
  EXPECT_THAT(CompileText("nonsense"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CompileText(R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %y = Frobnicate "frob" (%x)
    })"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("\"frob\""), HasSubstr("Frobnicate"))));
  EXPECT_THAT(CompileText(R"(
    graph "g" (%x: f32[2]) -> (%y, %y) {
      %y = Relu(%x)
    })"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"y\" is listed twice")));
  EXPECT_THAT(CompileText("graph \"g\" (%\"\xff\": f32[2]) -> (%y) { %y = Relu(%\"\xff\") }"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not UTF-8")));
  ModelSource model;
  EXPECT_THAT(CompileModel(model, target_, {}, environment_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no files")));
  model.files = {{"model.onnx", Blob::Own("not ONNX")}};
  EXPECT_THAT(CompileModel(model, target_, {}, environment_),
              StatusIs(absl::StatusCode::kInvalidArgument));
  model.format = v1::MODEL_FORMAT_UNSPECIFIED;
  EXPECT_THAT(CompileModel(model, target_, {}, environment_),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("format 0")));
}

TEST_F(CompilerTest, TakesNamesAsLongAsTheyMayBe) {
  const std::string x(1024, 'x');
  const std::string y(1024, 'y');
  ASSERT_OK_AND_ASSIGN(const CompiledModel model,
                       CompileText(absl::StrCat("graph \"g\" (%", x, ": f32[1, 8, 2, 2]) -> (%", y,
                                                ") { const %w: f32[8, 8, 1, 1] = splat 0.5\n%", y,
                                                " = Conv \"", x, "\" (%", x, ", %w) }")));
  EXPECT_GT(model.report.kernels(), 0);
  EXPECT_THAT(
      CompileText(absl::StrCat("graph \"g\" (%x", x, ": f32[2]) -> (%y) { %y = Relu(%x", x, ") }")),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1025 bytes")));
}

TEST_F(CompilerTest, RefusesTargetsWithoutBackend) {
  ASSERT_OK_AND_ASSIGN(target_, ParseTarget("riscv-64-linux,cuda-sm90"));
  EXPECT_THAT(CompileText(kModel),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("riscv-64-linux,cuda-sm90")));
}

TEST_F(CompilerTest, OpenExtentsOfInputsGetNames) {
  ASSERT_OK_AND_ASSIGN(
      const CompiledModel model,
      CompileText("graph \"g\" [n in 1..9] (%x: f32[?, n]) -> (%y) { %y = Relu(%x) }"));
  const v1::Manifest& manifest = model.artifact.manifest().proto();
  ASSERT_EQ(manifest.symbols_size(), 2);
  EXPECT_EQ(manifest.symbols(0).name(), "n");
  EXPECT_EQ(manifest.symbols(1).name(), "x");
}

TEST_F(CompilerTest, TextModelsAreOneFileWithoutDimensions) {
  ModelSource model;
  model.format = v1::MODEL_FORMAT_GRAPH_TEXT;
  model.files = {{"model.txt", Blob::Own(kModel)}, {"weights.bin", Blob()}};
  EXPECT_THAT(CompileModel(model, target_, {}, environment_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("weights.bin")));
  model.files.pop_back();
  CompilerOptions options;
  options.dimensions["batch"] = {2, 2};
  EXPECT_THAT(CompileModel(model, target_, options, environment_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"batch\"")));
}

TEST_F(CompilerTest, CompilesNnvmWithItsParameters) {
  ASSERT_OK_AND_ASSIGN(const std::string parameters,
                       FormatNdArrayFile({{"arg:w", Tensor::Of<float>({1, 2}, {1, 2})}}));
  ModelSource model;
  model.format = v1::MODEL_FORMAT_NNVM_JSON;
  model.files = {{"net-symbol.json", Blob::Own(R"json({"nodes": [
      {"op": "null", "name": "x", "inputs": []}, {"op": "null", "name": "w", "inputs": []},
      {"op": "FullyConnected", "name": "y", "attrs": {"num_hidden": "1", "no_bias": "True"},
       "inputs": [[0, 0, 0], [1, 0, 0]]}], "heads": [[2, 0, 0]]})json")},
                 {"net-0000.params", Blob::Own(parameters)}};
  CompilerOptions options;
  options.dimensions = {{"x[0]", {1, 1}}, {"x[1]", {2, 2}}};
  ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                       CompileModel(model, target_, options, environment_));
  EXPECT_GT(compiled.report.kernels(), 0);
  model.files.push_back({"more", Blob()});
  EXPECT_THAT(CompileModel(model, target_, options, environment_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"more\" is too many")));
}

TEST_F(CompilerTest, GraphsInProtobufCompileToTheSameArtifact) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(kModel));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, FormatGraphFile(graph));
  ModelSource model;
  model.format = v1::MODEL_FORMAT_GRAPH_PROTO;
  model.files = {{"model.graphpb", Blob::Own(bytes)}};
  ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                       CompileModel(model, target_, {}, environment_));
  ASSERT_OK_AND_ASSIGN(const CompiledModel expected, CompileText(kModel));
  EXPECT_EQ(compiled.artifact.digest(), expected.artifact.digest());
  model.files = {{"model.graphpb", Blob::Own("no graph")}};
  EXPECT_THAT(CompileModel(model, target_, {}, environment_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no graph in protobuf")));
}

}  // namespace
}  // namespace slipway
