// What whole models become for a GPU when nothing is cached: kernels that are made and texts that a driver compiles, counted, since clocks differ.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/tensor/precision.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/suite/models.h"

namespace slipway::testing {
namespace {

struct ModelSize {
  const char* model;
  const char* device;
  Precision precision;
  // Limits are those of today's code and a tenth; whoever makes it better lowers them.
  size_t kernels;    // Different ones, whoever computes them.
  size_t by_halide;  // Of the device's, those that no template makes: each takes a process.
  int launches;      // Of the device in a run.
  size_t text_bytes;

  friend std::ostream& operator<<(std::ostream& out, const ModelSize& size) {
    return out << size.model;
  }
};

constexpr ModelSize kSizes[] = {
    {"resnet50_1", "cuda-sm90", Precision::kFloat16, 30, 2, 87, 740'000},
    {"resnet50_1", "cuda-sm90a", Precision::kFloat16, 30, 2, 87, 580'000},
    {"bert_base_1", "cuda-sm90", Precision::kFloat16, 7, 0, 145, 135'000},
};

class ModelSizeTest : public ::testing::TestWithParam<ModelSize> {};

TEST_P(ModelSizeTest, StaysWithinItsBounds) {
  const ModelSize& size = GetParam();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GraphCompiler> compiler, GraphCompiler::Create());
  ASSERT_OK_AND_ASSIGN(MeasuredModel model, MakeMeasuredModel(size.model, compiler->tester()));
  ASSERT_OK_AND_ASSIGN(
      const CompiledGraph compiled,
      compiler->Compile(std::move(model.graph), absl::StrCat("x86-64-v3-linux,", size.device),
                        size.precision));
  constexpr absl::string_view kTemplates[] = {"product", "warp-group-product", "attention",
                                              "depthwise", "warp-rows"};
  size_t by_halide = 0;
  for (const std::string& schedule : compiled.schedules) {
    const std::vector<std::string> words = absl::StrSplit(schedule, ' ');
    bool is_of_template = false;
    for (const absl::string_view name : kTemplates) is_of_template |= words.at(1) == name;
    if (!is_of_template) ++by_halide;
  }
  int launches = 0;
  for (const v1::Function& function : compiled.artifact.manifest().proto().functions()) {
    for (const v1::Step& step : function.steps()) {
      if (step.device() != 0 && step.has_kernel()) ++launches;
    }
  }
  const size_t text_bytes = DeviceTextOf(compiled.artifact).size();
  std::cout << size.model << " for " << size.device << " in " << Name(size.precision) << ": "
            << compiled.schedules.size() << " kernels, " << by_halide << " by Halide, " << launches
            << " launches, " << text_bytes << " bytes of PTX\n";
  EXPECT_LE(compiled.schedules.size(), size.kernels);
  EXPECT_LE(by_halide, size.by_halide);
  EXPECT_LE(launches, size.launches);
  EXPECT_LE(text_bytes, size.text_bytes);
}

INSTANTIATE_TEST_SUITE_P(All, ModelSizeTest, ::testing::ValuesIn(kSizes), [](const auto& info) {
  const std::vector<std::string> device = absl::StrSplit(info.param.device, '-');
  return absl::StrCat(info.param.model, "_", device[1], "_", Name(info.param.precision));
});

}  // namespace
}  // namespace slipway::testing
