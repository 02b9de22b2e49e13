// What artifacts for CUDA tell of steps that vendors' libraries could make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/artifact/program_steps.h"
#include "core/artifact/vendor_step.h"
#include "core/tensor/precision.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kCuda[] = "x86-64-linux,cuda-sm80";

class VendorStepsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create()); }

  std::vector<std::string> Described(const std::string& graph,
                                     Precision precision = Precision::kTensorFloat32,
                                     const std::string& target = kCuda) {
    const absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(graph, target, precision);
    EXPECT_OK(compiled.status());
    if (!compiled.ok()) return {};
    std::vector<std::string> described;
    for (const VendorStep& step : VendorStepsOf(compiled->artifact)) {
      described.push_back(DescribeVendorStep(step));
    }
    return described;
  }

  std::unique_ptr<GraphCompiler> compiler_;
};

TEST_F(VendorStepsTest, APlainProductIsDescribedInEveryPrecision) {
  const std::string graph = R"(graph "g" (%a: f32[37, 53], %b: f32[53, 45]) -> (%y) {
  %y = MatMul(%a, %b)
})";
  const std::string rest = " 1x37x45x53 f32(0,53,1) f32(0,45,1)";
  EXPECT_THAT(Described(graph, Precision::kFloat32), ElementsAre("f32" + rest));
  EXPECT_THAT(Described(graph, Precision::kTensorFloat32), ElementsAre("tf32" + rest));
  EXPECT_THAT(Described(graph, Precision::kFloat16), ElementsAre("f16" + rest));
  EXPECT_THAT(Described(graph, Precision::kBfloat16), ElementsAre("bf16" + rest));
  EXPECT_THAT(Described(graph, Precision::kFloat32, "x86-64-linux,opencl"), IsEmpty());
}

TEST_F(VendorStepsTest, WhatIsBehindAProductIsWhatTheLibraryDoes) {
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[19, 33], %b: f32[33, 50], %c: f32[50]) -> (%y) {
  %p = MatMul(%a, %b)
  %s = Add(%c, %p)
  %y = Gelu(%s) {approximate = "tanh"}
})"),
              ElementsAre("tf32 1x19x50x33 f32(0,33,1) f32(0,50,1) bias gelu"));
  EXPECT_THAT(
      Described(
          R"(graph "g" (%a: f32[19, 33], %b: f32[33, 50], %c: f32[50], %r: f32[19, 50]) -> (%y) {
  %p = Gemm(%a, %b, %c)
  %s = Add(%p, %r)
  %y = Relu(%s)
})"),
      ElementsAre("tf32 1x19x50x33 f32(0,33,1) f32(0,50,1) bias added relu"));
  EXPECT_THAT(Described(R"(graph "g" (%x: f32[2, 20, 5, 7], %w: f32[33, 20, 1, 1], %b: f32[33],
  %r: f32[2, 33, 5, 7]) -> (%y) {
  %c = Conv(%x, %w, %b)
  %s = Add(%c, %r)
  %y = Relu(%s)
})"),
              ElementsAre("tf32 2x33x35x20 f32(0,20,1) f32(700,35,1) row bias added relu"));
}

TEST_F(VendorStepsTest, WhatTheLibraryDoesNotDoIsNotDescribed) {
  const auto behind = [&](const std::string& operations) {
    return Described(
        R"(graph "g" (%a: f32[19, 33], %b: f32[33, 50], %c: f32[50], %d: f32[19, 1]) -> (%y) {
  %p = MatMul(%a, %b)
)" + operations +
        "\n}");
  };
  EXPECT_THAT(behind("  %y = Gelu(%p)"), IsEmpty());  // By the error function.
  EXPECT_THAT(behind("  %y = Mul(%p, %c)"), IsEmpty());
  EXPECT_THAT(behind("  %y = Sub(%c, %p)"), IsEmpty());
  EXPECT_THAT(behind("  %r = Relu(%p)\n  %y = Add(%r, %c)"), IsEmpty());
  EXPECT_THAT(behind("  %y = Add(%p, %p)"), IsEmpty());
  EXPECT_THAT(behind("  %s = Add(%p, %c)\n  %y = Add(%s, %c)"), IsEmpty());
  EXPECT_THAT(behind("  %y = Add(%p, %d)"),
              ElementsAre("tf32 1x19x50x33 f32(0,33,1) f32(0,50,1) row bias"));
  // Rows of a batch that repeat.
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[2, 1, 9, 8], %b: f32[3, 8, 10]) -> (%y) {
  %y = MatMul(%a, %b)
})"),
              IsEmpty());
}

TEST_F(VendorStepsTest, BatchesHaveOneStride) {
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[2, 3, 17, 20], %b: f32[2, 3, 20, 18]) -> (%y) {
  %y = MatMul(%a, %b)
})"),
              ElementsAre("tf32 6x17x18x20 f32(340,20,1) f32(360,18,1)"));
  // Rows of one matrix.
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[2, 3, 5, 20], %b: f32[20, 24]) -> (%y) {
  %y = MatMul(%a, %b)
})"),
              ElementsAre("tf32 1x30x24x20 f32(0,20,1) f32(0,24,1)"));
  EXPECT_THAT(Described(R"(graph "g" (%a: f32[36], %b: f32[4, 36, 1]) -> (%y) {
  %y = MatMul(%a, %b)
})"),
              ElementsAre("tf32 4x1x1x36 f32(0,36,1) f32(36,1,36)"));
}

// Of constants, f16 lies as its own kernel wants it.
TEST_F(VendorStepsTest, WeightsAreDescribedAsTheyAreLaidOut) {
  const std::string graph = R"(graph "g" (%x: f32[37, 72]) -> (%y) {
  const %k: f32[] = {0.5}
  const %shape: i64[2] = {72, 64}
  %w = Expand(%k, %shape)
  %y = MatMul(%x, %w)
})";
  EXPECT_THAT(Described(graph, Precision::kFloat16),
              ElementsAre("f16 1x37x64x72 f32(0,72,1) f16(0,1,72)"));
  EXPECT_THAT(Described(graph, Precision::kTensorFloat32),
              ElementsAre("tf32 1x37x64x72 f32(0,72,1) f32(0,1,72)"));
}

TEST_F(VendorStepsTest, AConvolutionIsDescribedInEveryPrecision) {
  const std::string graph = R"(graph "g" (%x: f32[2, 5, 13, 11], %w: f32[18, 5, 3, 2]) -> (%y) {
  %y = Conv(%x, %w) {strides = [2, 1], pads = [1, 0, 0, 1], dilations = [1, 3]}
})";
  const std::string rest =
      " conv 2x5x13x11 to 18x6x9 by 3x2 strides 2x1 dilations 1x3 pads 1x0 groups 1 f32 f32";
  EXPECT_THAT(Described(graph, Precision::kFloat32), ElementsAre("f32" + rest));
  EXPECT_THAT(Described(graph, Precision::kTensorFloat32), ElementsAre("tf32" + rest));
  EXPECT_THAT(Described(graph, Precision::kFloat16), ElementsAre("f16" + rest));
  EXPECT_THAT(Described(graph, Precision::kBfloat16), ElementsAre("bf16" + rest));
  EXPECT_THAT(Described(graph, Precision::kFloat32, "x86-64-linux,opencl"), IsEmpty());
  // Of one dimension, and by single places that are apart.
  EXPECT_THAT(Described(R"(graph "g" (%x: f32[1, 4, 12], %w: f32[6, 4, 3]) -> (%y) {
  %y = Conv(%x, %w) {pads = [1, 1]}
})"),
              ElementsAre("tf32 conv 1x4x1x12 to 6x1x12 by 1x3 strides 1x1 dilations 1x1 pads 0x1 "
                          "groups 1 f32 f32"));
  EXPECT_THAT(Described(R"(graph "g" (%x: f32[1, 8, 6, 6], %w: f32[8, 8, 1, 1]) -> (%y) {
  %y = Conv(%x, %w) {strides = [2, 2]}
})"),
              ElementsAre("tf32 conv 1x8x6x6 to 8x3x3 by 1x1 strides 2x2 dilations 1x1 pads 0x0 "
                          "groups 1 f32 f32"));
}

TEST_F(VendorStepsTest, ChannelsOfAConvolutionMayBeGroups) {
  const auto grouped = [&](int64_t channels, int64_t groups) {
    return Described(absl::StrCat("graph \"g\" (%x: f32[2, ", channels, ", 6, 6], %w: f32[",
                                  channels, ", ", channels / groups, ", 3, 3], %b: f32[", channels,
                                  "]) -> (%y) {\n  %c = Conv(%x, %w, %b) {group = ", groups,
                                  "}\n  %y = Relu(%c)\n}"));
  };
  const auto wanted = [](absl::string_view precision, int64_t channels, int64_t groups) {
    return absl::StrCat(precision, " conv 2x", channels, "x6x6 to ", channels,
                        "x4x4 by 3x3 strides 1x1 dilations 1x1 pads 0x0 groups ", groups,
                        " f32 f32 bias relu");
  };
  // On tensor cores, by loops, and by the template for channels with a window each.
  EXPECT_THAT(grouped(64, 2), ElementsAre(wanted("tf32", 64, 2)));
  EXPECT_THAT(grouped(8, 2), ElementsAre(wanted("f32", 8, 2)));
  EXPECT_THAT(grouped(8, 8), ElementsAre(wanted("f32", 8, 8)));
  EXPECT_THAT(grouped(1, 1), ElementsAre(::testing::EndsWith("groups 1 f32 f32 bias relu")));
}

TEST_F(VendorStepsTest, WhatIsBehindAConvolutionIsWhatTheLibraryDoes) {
  const auto behind = [&](const std::string& operations) {
    return Described(
        R"(graph "g" (%x: f32[2, 5, 6, 7], %w: f32[18, 5, 3, 3], %b: f32[18], %c: f32[18, 1, 1], %r: f32[2, 18, 4, 5],
  %p: f32[4, 5], %s: f32[1], %n: f32[2, 1, 1, 1]) -> (%y) {
  %m = Conv(%x, %w)
  %k = Conv(%x, %w, %b)
)" + operations +
        "\n}");
  };
  const auto ends_with = [](const std::string& end) {
    return ElementsAre(::testing::EndsWith(" groups 1 f32 f32" + end));
  };
  EXPECT_THAT(behind("  %y = Identity(%k)"), ends_with(" bias"));
  EXPECT_THAT(behind("  %y = Relu(%m)"), ends_with(" relu"));
  EXPECT_THAT(behind("  %y = Add(%m, %c)"), ends_with(" bias"));
  EXPECT_THAT(behind("  %y = Add(%r, %m)"), ends_with(" added"));
  EXPECT_THAT(behind("  %t = Add(%k, %r)\n  %y = Relu(%t)"), ends_with(" bias added relu"));
  EXPECT_THAT(behind("  %y = Gelu(%k) {approximate = \"tanh\"}"), ends_with(" bias gelu"));
  for (const char* other : {"Gelu(%k)", "Mul(%m, %c)", "Add(%k, %c)", "Add(%m, %p)", "Add(%m, %s)",
                            "Add(%m, %n)", "Sigmoid(%k)"}) {
    EXPECT_THAT(behind(absl::StrCat("  %y = ", other)), IsEmpty()) << other;
  }
}

// Of constants, f16 lies as its own kernel wants it.
TEST_F(VendorStepsTest, WeightsOfWindowsAreDescribedAsTheyAreLaidOut) {
  const std::string graph = R"(graph "g" (%x: f32[1, 64, 6, 6]) -> (%y) {
  const %k: f32[] = {0.5}
  const %shape: i64[4] = {32, 64, 3, 3}
  %w = Expand(%k, %shape)
  %y = Conv(%x, %w)
})";
  EXPECT_THAT(Described(graph, Precision::kFloat16),
              ElementsAre(::testing::EndsWith("groups 1 f32 f16(channels inside)")));
  EXPECT_THAT(Described(graph, Precision::kTensorFloat32),
              ElementsAre(::testing::EndsWith("groups 1 f32 f32(channels inside)")));
  EXPECT_THAT(Described(graph, Precision::kFloat32),
              ElementsAre(::testing::EndsWith("groups 1 f32 f32")));
}

// A product whose depth is divided has two launches, which the library's call stands for.
TEST_F(VendorStepsTest, AllLaunchesOfAProductAreNamed) {
  ASSERT_OK_AND_ASSIGN(
      const CompiledGraph compiled,
      compiler_->Compile(R"(graph "g" (%a: f32[32, 4096], %b: f32[4096, 32]) -> (%y) {
  %n = Neg(%a)
  %y = MatMul(%n, %b)
})",
                         kCuda, Precision::kTensorFloat32));
  const std::vector<VendorStep> described = VendorStepsOf(compiled.artifact);
  ASSERT_EQ(described.size(), 1u);
  EXPECT_EQ(described[0].steps, 2u);
  const std::vector<StepInfo> steps = StepsOf(compiled.artifact);
  EXPECT_THAT(steps[described[0].first].name, ::testing::EndsWith(", 1 of 2"));
  EXPECT_THAT(steps[described[0].end() - 1].name, ::testing::EndsWith(", 2 of 2"));
}

}  // namespace
}  // namespace slipway::testing
