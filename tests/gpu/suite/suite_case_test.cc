#include "tests/gpu/suite/suite_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SuiteCase, IsReadAsItWasWritten) {
  SuiteCase written;
  written.kind = "model";
  written.like = "tiny";
  written.precision = "bf16";
  written.manifest = Digest::Of("manifest");
  written.tolerance = {.relative = 1.0 / 3, .absolute = 1e-7};
  written.inputs = {std::string("input_0.npy"), SeededNormal{{2, 3}, -0.1, 0.7, 12}};
  written.outputs = {{"output_0.npy", 1}, {"output_1.npy", 129}};
  written.constants[Digest::Of("weights")].seeded = {{64, 3, 7, 7}, 0, 1.0 / 7, 4};
  written.constants[Digest::Of("turned")] = {{{8, 64, 3, 3}, 0, 1, 5},
                                             WeightLayout{8, 64, 9, DataType::kFloat16}};
  const std::string text = FormatSuiteCase(written);
  ASSERT_OK_AND_ASSIGN(const SuiteCase read, ParseSuiteCase(text));
  EXPECT_EQ(FormatSuiteCase(read), text);
  EXPECT_EQ(read.precision, "bf16");
  EXPECT_EQ(read.tolerance.relative, 1.0 / 3);
  EXPECT_EQ(read.constants.at(Digest::Of("weights")).seeded.deviation, 1.0 / 7);
  EXPECT_EQ(read.constants.at(Digest::Of("weights")).layout, std::nullopt);
  const SuiteCase::Constant& turned = read.constants.at(Digest::Of("turned"));
  EXPECT_EQ(turned.layout, (WeightLayout{8, 64, 9, DataType::kFloat16}));
  EXPECT_EQ(MakeConstant(turned).byte_size(), 8 * 64 * 9 * 2);
}

TEST(SuiteCase, NamesTheLineThatIsNone) {
  const std::string manifest = "manifest " + Digest::Of("m").ToString() + "\n";
  EXPECT_OK(ParseSuiteCase(manifest));
  const std::string laid_out = "laid_out " + Digest::Of("w").ToString() + " 0 1 2 4,6 ";
  EXPECT_OK(ParseSuiteCase(manifest + laid_out + "f16 1 4 6"));
  for (const char* layout : {"f64 1 4 6", "f16 1 4 7", "f16 0 4 6", "f16 1 4"}) {
    EXPECT_THAT(ParseSuiteCase(manifest + laid_out + layout),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(layout)));
  }
  for (const char* line : {"weather fine", "output output_0.npy 0", "seeded 0 1 2 -3",
                           "constant nothing 0 1 2 3", "tolerance 1"}) {
    EXPECT_THAT(ParseSuiteCase(manifest + line),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(line)));
  }
  EXPECT_THAT(ParseSuiteCase(""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SuiteCase, SamplesElementsByTheirStride) {
  const Tensor tensor = Tensor::Of<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(Sampled(tensor, 3).values<float>(), ElementsAre(0, 3, 6));
  EXPECT_EQ(Sampled(tensor, 1).type(), tensor.type());
}

}  // namespace
}  // namespace slipway::testing
