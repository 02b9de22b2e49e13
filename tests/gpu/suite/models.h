// Models and single kernels to be measured on GPUs, of usual sizes, with weights from seeds. beside_torch.py has the same ones.
#ifndef SLIPWAY_TESTS_GPU_SUITE_MODELS_H_
#define SLIPWAY_TESTS_GPU_SUITE_MODELS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/seeded_tensor.h"

namespace slipway::testing {

struct MeasuredModel {
  Graph graph;                       // Weights are constants.
  std::vector<SeededNormal> inputs;  // In the graph's order.
  std::map<std::string, SeededNormal>
      constants;  // What they were made from, by the name of their value.
};

// "resnet50_1", "bert_base_32", "vit_b16_1", "matmul_4096", ...: all that there are.
std::vector<std::string> MeasuredModelNames();

// NOT_FOUND lists the names.
absl::StatusOr<MeasuredModel> MakeMeasuredModel(absl::string_view name, const PassTester& tester);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_GPU_SUITE_MODELS_H_
