// The public models that $SLIPWAY_MODELS holds (skipped without): trained/NAME in ONNX's
// backend-test layout, light/light_NAME.onnx whose input is arange(n) / n, with its output beside it.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/graph/graph.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"
#include "core/tensor/comparison.h"
#include "core/tensor/onnx_tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/conformance/backend_case.h"
#include "tests/conformance/engine.h"

namespace slipway {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{1} << 31;

std::string ModelsFolder() {
  const char* folder = std::getenv("SLIPWAY_MODELS");
  return folder == nullptr ? "" : folder;
}

TEST(ModelsTest, TrainedModelsMakeTheStoredOutputs) {
  const std::string folder = JoinPath(ModelsFolder(), "trained");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no models in $SLIPWAY_MODELS";
  const auto cases = FindBackendCases(folder);
  ASSERT_OK(cases.status());
  for (const BackendCase& backend_case : *cases) {
    SCOPED_TRACE(backend_case.name);
    const auto engine = MakeReferenceEngine();
    const CaseResult result = RunBackendCase(backend_case, *engine, Tolerance());
    EXPECT_EQ(Name(result.verdict), "passed") << result.reason;
  }
}

void RunLightModel(const std::string& path) {
  SCOPED_TRACE(path);
  const auto bytes = ReadFile(path, kMaxFileBytes);
  ASSERT_OK(bytes.status());
  const OperatorRegistry registry = StandardOperators();
  OnnxFiles files;
  files.main = Blob::Own(*bytes);
  const auto graph = ImportOnnx(files, registry);
  ASSERT_OK(graph.status());
  ASSERT_EQ(graph->inputs.size(), 1u);
  auto input = Tensor::Create(graph->values[graph->inputs[0]].type->tensor());
  ASSERT_OK(input.status());
  const auto values = input->mutable_values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i) / static_cast<float>(values.size());
  }
  const auto outputs = Reference(registry).Evaluate(*graph, {*input});
  ASSERT_OK(outputs.status());

  std::string stored_path = path;
  stored_path.replace(stored_path.size() - 5, 5, "_output_0.pb");
  const auto stored_bytes = ReadFile(stored_path, kMaxFileBytes);
  ASSERT_OK(stored_bytes.status());
  const auto stored = ParseOnnxTensor(*stored_bytes);
  ASSERT_OK(stored.status());
  EXPECT_OK(CheckClose((*outputs)[0], stored->tensor, Tolerance()));
}

TEST(ModelsTest, LightModelsMakeTheStoredOutputs) {
  const std::string folder = JoinPath(ModelsFolder(), "light");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no models in $SLIPWAY_MODELS";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") RunLightModel(entry.path().string());
  }
}

}  // namespace
}  // namespace slipway
