// `slipway gate` with real processes: benchmarks are kept, and what they do not tell is timed in turns.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/runtime/test_programs/test_programs.h"
#include "core/tensor/npy.h"
#include "core/tensor/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

class GateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Start({}));
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("gate"));
    fast_ = JoinPath(folder_.path(), "fast.slip");
    slow_ = JoinPath(folder_.path(), "slow.slip");
    ASSERT_OK(WriteSlip(TestProgram(TestKernel::kAdd), fast_));
    ASSERT_OK(WriteSlip(TestProgram(TestKernel::kSlow), slow_));
    std::vector<float> ones(16, 0);
    ones[0] = 1;
    ASSERT_OK_AND_ASSIGN(const std::string npy,
                         FormatNpy(Tensor::Of<float>({2, 8}, absl::MakeConstSpan(ones))));
    const std::string path = JoinPath(folder_.path(), "x.npy");
    ASSERT_OK(WriteFileAtomically(path, npy, false));
    input_ = absl::StrCat("--input=x=", path);
  }

  void Bench(const std::string& program, const std::string& tag) {
    const CommandResult result = cluster_->Slipway(
        {"bench", program, input_, "--samples=5", "--warmup=1", absl::StrCat("--tag=", tag)});
    ASSERT_TRUE(result.status.ok()) << result.ToString();
  }

  // Its exit code and what it says.
  std::pair<int, Json> Gate(std::vector<std::string> flags) {
    const std::string name = TestProgram(TestKernel::kAdd).manifest().proto().name();
    std::vector<std::string> arguments = {"gate", name, input_, "--json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CommandResult result = cluster_->Slipway(arguments);
    const absl::StatusOr<Json> json = ParseJson(result.out);
    EXPECT_TRUE(json.ok()) << result.ToString();
    return {result.status.exit_code, json.ok() ? *json : Json()};
  }

  std::unique_ptr<Cluster> cluster_;
  TemporaryFolder folder_;
  std::string fast_, slow_, input_;
};

TEST_F(GateTest, ASlowerProgramIsFoundAndAFasterOnePasses) {
  Bench(fast_, "baseline=main");
  Bench(fast_, "baseline=main");
  Bench(fast_, "commit=same");
  Bench(slow_, "commit=slow");
  Bench(slow_, "baseline=slow");

  const auto [same, of_same] = Gate({"--baseline=baseline=main", "--candidate=commit=same"});
  EXPECT_EQ(same, 0);
  EXPECT_EQ(of_same["one_program"], true) << of_same;

  const auto [slower, of_slower] = Gate({"--baseline=baseline=main", "--candidate=commit=slow"});
  EXPECT_EQ(slower, 1);
  EXPECT_EQ(of_slower["verdict"], "regressed") << of_slower;
  EXPECT_EQ(of_slower["baseline"]["results"].size(), 2u);
  EXPECT_EQ(of_slower["history"]["verdict"], "undecided");
  EXPECT_GT(of_slower["turns"]["ratio_interval"][0], 10) << of_slower;

  const auto [faster, of_faster] = Gate({"--baseline=baseline=slow", "--candidate=commit=same"});
  EXPECT_EQ(faster, 0);
  EXPECT_EQ(of_faster["verdict"], "passed") << of_faster;
  EXPECT_LT(of_faster["turns"]["ratio_interval"][1], 0.1) << of_faster;

  const auto [unknown, of_unknown] =
      Gate({"--baseline=baseline=main", "--candidate=commit=slow", "--no-measure"});
  EXPECT_EQ(unknown, 4);
  EXPECT_EQ(of_unknown["verdict"], "undecided") << of_unknown;
  EXPECT_OK(cluster_->StopAll());
}

}  // namespace
}  // namespace slipway::testing
