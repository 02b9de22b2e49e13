#include "tests/common/model_folder.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/tensor/onnx_tensor.h"

namespace slipway::testing {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;

// input_0.pb, input_1.pb, ... as far as there are any.
absl::StatusOr<std::vector<Tensor>> ReadTensors(const std::string& prefix) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const absl::StatusOr<std::string> bytes = ReadFile(absl::StrCat(prefix, i, ".pb"), kMaxBytes);
    if (absl::IsNotFound(bytes.status())) return tensors;
    SLIPWAY_RETURN_IF_ERROR(bytes.status());
    SLIPWAY_ASSIGN_OR_RETURN(NamedTensor tensor, ParseOnnxTensor(*bytes));
    tensors.push_back(std::move(tensor.tensor));
  }
}

}  // namespace

std::vector<std::string> ModelNames() {
  return {"mnist",
          "mnist_gemm",
          "super_resolution_espcn",
          "face_detector_rfb320",
          "light_squeezenet",
          "light_shufflenet",
          "light_resnet50",
          "light_inception_v1",
          "light_bvlc_alexnet"};
}

bool HaveModels() { return std::getenv("SLIPWAY_MODELS") != nullptr; }

absl::StatusOr<ModelCase> LoadModelCase(const std::string& name) {
  const std::string folder = std::getenv("SLIPWAY_MODELS");
  ModelCase model;
  model.name = name;
  model.has_weights = !absl::StartsWith(name, "light_");
  const std::string path = model.has_weights
                               ? absl::StrCat(folder, "/trained/", name, "/model.onnx")
                               : absl::StrCat(folder, "/light/", name, ".onnx");
  SLIPWAY_ASSIGN_OR_RETURN(model.bytes, ReadFile(path, kMaxBytes));
  if (!model.has_weights) return model;
  const std::string data = absl::StrCat(folder, "/trained/", name, "/test_data_set_0/");
  SLIPWAY_ASSIGN_OR_RETURN(model.inputs, ReadTensors(absl::StrCat(data, "input_")));
  SLIPWAY_ASSIGN_OR_RETURN(model.outputs, ReadTensors(absl::StrCat(data, "output_")));
  return model;
}

}  // namespace slipway::testing
