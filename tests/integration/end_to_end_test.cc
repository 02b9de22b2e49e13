// From a model to outputs through every process: server, worker, agent and runner.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "core/base/files.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"
#include "core/tensor/comparison.h"
#include "core/tensor/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/model_folder.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"
#include "tests/integration/small_models.h"

namespace slipway::testing {
namespace {

constexpr char kDigits[] = "client/examples/digits/digits.onnx";
constexpr char kLevels[][20] = {"x86-64-v2-linux", "x86-64-v3-linux"};

// One cluster for all tests of this file: what one leaves behind must not disturb the next.
class EndToEnd : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    absl::StatusOr<std::unique_ptr<Cluster>> cluster = Cluster::Start({});
    ASSERT_OK(cluster);
    cluster_ = cluster->release();
  }
  static void TearDownTestSuite() {
    if (cluster_ != nullptr) EXPECT_OK(cluster_->StopAll());
    delete cluster_;
  }
  void SetUp() override {
    ASSERT_NE(cluster_, nullptr);
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }

  // Outputs of a model for inputs, compiled and run.
  absl::StatusOr<std::vector<NamedTensor>> Outputs(const std::string& model,
                                                   const std::vector<NamedTensor>& inputs,
                                                   const std::string& target = "host") {
    absl::StatusOr<Compilation> compilation = client_->Compile(model, {.target = target});
    if (!compilation.ok()) return compilation.status();
    return client_->Run(compilation->artifact, inputs, {});
  }

  static Cluster* cluster_;
  TempTree tree_;
  std::unique_ptr<Client> client_;
};

Cluster* EndToEnd::cluster_ = nullptr;

TEST_F(EndToEnd, TinyModel) {
  const Graph graph = TinyGraph();
  const std::string model = WriteModel(tree_, "tiny", graph);
  const std::vector<NamedTensor> inputs = RandomNamedInputs(graph, 3);
  ASSERT_OK_AND_ASSIGN(const auto expected, ReferenceOutputs(graph, inputs));
  ASSERT_OK_AND_ASSIGN(const auto actual, Outputs(model, inputs));
  EXPECT_OK(CheckOutputs(actual, expected));
}

TEST_F(EndToEnd, ReadsDigits) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation,
                       client_->Compile(RunfilePath(kDigits), {.target = "host"}));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(RunfilePath(kDigits), 1 << 20));
  const OperatorRegistry registry = StandardOperators();
  ASSERT_OK_AND_ASSIGN(const Graph graph, ImportOnnx({Blob::Own(bytes), {}}, registry));
  for (int digit = 0; digit < 10; ++digit) {
    ASSERT_OK_AND_ASSIGN(
        const std::string npy,
        ReadFile(RunfilePath(absl::StrCat("client/examples/digits/images/", digit, ".npy")),
                 1 << 20));
    ASSERT_OK_AND_ASSIGN(const Tensor image, ParseNpy(npy));
    const std::vector<NamedTensor> inputs = {{"image", image}};
    ASSERT_OK_AND_ASSIGN(const auto actual, client_->Run(compilation.artifact, inputs, {}));
    ASSERT_EQ(actual.size(), 1u);
    const auto scores = actual[0].tensor.values<float>();
    EXPECT_EQ(std::max_element(scores.begin(), scores.end()) - scores.begin(), digit);
    ASSERT_OK_AND_ASSIGN(const auto expected, ReferenceOutputs(graph, inputs));
    EXPECT_OK(CheckOutputs(actual, expected));
  }
}

TEST_F(EndToEnd, RandomModelsAtEveryLevel) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomModel(seed);
    const std::string model = WriteModel(tree_, absl::StrCat("random", seed), graph);
    const std::vector<NamedTensor> inputs = RandomNamedInputs(graph, seed);
    ASSERT_OK_AND_ASSIGN(const auto expected, ReferenceOutputs(graph, inputs));
    for (const char* target : kLevels) {
      ASSERT_OK_AND_ASSIGN(const auto actual, Outputs(model, inputs, target));
      EXPECT_OK(CheckOutputs(actual, expected)) << target;
    }
  }
}

TEST_F(EndToEnd, InputsNotGivenAreMadeFromTheSeed) {
  const Graph graph = TinyGraph();
  ASSERT_OK_AND_ASSIGN(const auto expected, ReferenceOutputs(graph, RandomNamedInputs(graph, 42)));
  ASSERT_OK_AND_ASSIGN(const Compilation compilation,
                       client_->Compile(WriteModel(tree_, "tiny", graph), {.target = "host"}));
  ASSERT_OK_AND_ASSIGN(const auto actual, client_->Run(compilation.artifact, {}, {.seed = 42}));
  EXPECT_OK(CheckOutputs(actual, expected));
}

TEST_F(EndToEnd, Benchmark) {
  ASSERT_OK_AND_ASSIGN(const Compilation compilation,
                       client_->Compile(RunfilePath(kDigits), {.target = "host"}));
  BenchmarkOptions options;
  options.warmup = 2;
  options.samples = 5;
  options.profile = true;
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult result,
                       client_->Benchmark(compilation.artifact, {}, options));
  EXPECT_EQ(result.samples_ns.size(), 5u);
  for (const int64_t sample : result.samples_ns) EXPECT_GE(sample, 500'000);
  EXPECT_GT(result.load_cold_ns, 0);
  EXPECT_GT(result.load_warm_ns, 0);
  EXPECT_GT(result.first_run_ns, 0);
  EXPECT_GT(result.peak_memory_bytes, 0);
  EXPECT_EQ(result.threads, 1);
  ASSERT_FALSE(result.steps.empty());
  ASSERT_TRUE(result.steps[0].work.has_value());
  EXPECT_GT(result.steps[0].work->flops, 0);
  EXPECT_GT(result.steps[0].work->constant_bytes, 0);
  EXPECT_GT(result.steps[0].work->bytes, result.steps[0].work->constant_bytes);
  EXPECT_EQ(result.device, "agent0");
}

class TrainedModel : public EndToEnd, public ::testing::WithParamInterface<std::string> {};

TEST_P(TrainedModel, GivesTheStoredOutputs) {
  if (!HaveModels()) GTEST_SKIP() << "SLIPWAY_MODELS is not set";
  ASSERT_OK_AND_ASSIGN(const ModelCase model, LoadModelCase(GetParam()));
  if (!model.has_weights) GTEST_SKIP() << "it has no weights";
  const std::string path = tree_.Write("model.onnx", model.bytes);
  ASSERT_OK_AND_ASSIGN(const Compilation compilation, client_->Compile(path, {.target = "host"}));
  ASSERT_OK_AND_ASSIGN(const ArtifactSummary summary,
                       client_->DescribeArtifact(compilation.artifact));
  ASSERT_EQ(summary.inputs.size(), model.inputs.size());
  std::vector<NamedTensor> inputs;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    inputs.push_back({summary.inputs[i].name, model.inputs[i]});
  }
  ASSERT_OK_AND_ASSIGN(const auto outputs, client_->Run(compilation.artifact, inputs, {}));
  ASSERT_EQ(outputs.size(), model.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_OK(CheckClose(outputs[i].tensor, model.outputs[i], {.relative = 1e-3, .absolute = 1e-5}))
        << outputs[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TrainedModel, ::testing::ValuesIn(ModelNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace slipway::testing
