// The public models that tests use where they are at hand: $SLIPWAY_MODELS names their folder, with
// trained/NAME/{model.onnx,test_data_set_0/} and light/light_NAME.onnx in it.
#ifndef SLIPWAY_TESTS_COMMON_MODEL_FOLDER_H_
#define SLIPWAY_TESTS_COMMON_MODEL_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/tensor.h"

namespace slipway::testing {

struct ModelCase {
  std::string name;  // "mnist", "light_resnet50"
  bool has_weights = false;
  std::string bytes;            // The ONNX file.
  std::vector<Tensor> inputs;   // Of the stored case; empty without weights.
  std::vector<Tensor> outputs;  // What they have to give.
};

// Names of the nine models.
std::vector<std::string> ModelNames();

// Whether $SLIPWAY_MODELS is set.
bool HaveModels();

// NOT_FOUND names the file. REQUIRES: HaveModels().
absl::StatusOr<ModelCase> LoadModelCase(const std::string& name);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_MODEL_FOLDER_H_
