// Profiles of programs for a GPU, through real processes: what the GPU does at most is measured once by its agent, kept with the device, and
// each of its steps is held against that.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "core/base/files.h"
#include "core/target/machine_peaks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/peaks.pb.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/gpu_cluster.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr int64_t kMaxBytes = 1 << 20;

class GpuProfileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cluster_, StartGpuCluster({.agent_flags = {"--measure"}}));
    ASSERT_OK_AND_ASSIGN(client_, cluster_->Connect());
  }

  // Of its one GPU, once the server has been told.
  AcceleratorPeaks AwaitPeaks() {
    const absl::Time end = absl::Now() + absl::Minutes(1);
    while (absl::Now() < end) {
      const absl::StatusOr<std::vector<Device>> devices = client_->ListDevices();
      if (devices.ok() && devices->size() == 1 && !devices->at(0).accelerator_peaks.empty()) {
        return devices->at(0).accelerator_peaks[0];
      }
      absl::SleepFor(absl::Milliseconds(50));
    }
    ADD_FAILURE() << "nobody measured the GPU";
    return {};
  }

  CommandResult Bench(bool as_json) {
    std::vector<std::string> arguments = {"bench",
                                          RunfilePath("client/examples/digits/digits.onnx"),
                                          "--target=x86-64-linux,cuda-sm80",
                                          "--profile",
                                          "--samples=2",
                                          "--warmup=0"};
    if (as_json) arguments.emplace_back("--json");
    CommandResult result = cluster_->Slipway(arguments);
    EXPECT_TRUE(result.status.ok()) << result.ToString();
    return result;
  }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(GpuProfileTest, EachStepIsHeldAgainstWhatTheGpuDoesAtMost) {
  const AcceleratorPeaks peaks = AwaitPeaks();
  EXPECT_EQ(peaks.name, "Fake GPU");
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(Bench(/*as_json=*/true).out));
  ASSERT_EQ(json["accelerator_peaks"].size(), 1u);
  EXPECT_EQ(json["accelerator_peaks"][0]["name"], "Fake GPU");
  int kernels = 0;
  for (const Json& step : json["steps"]) {
    if (!step.contains("device")) continue;
    ++kernels;
    ASSERT_TRUE(step.contains("limit_ns")) << step;
    EXPECT_GT(step["limit_ns"], 0);
    EXPECT_THAT(std::string(step["limit"]), AnyOf("f32", "L2", "memory", "from host", "to host"));
  }
  EXPECT_GE(kernels, 3);
  // The same for people: a share, and of which limit.
  const std::string text = Bench(/*as_json=*/false).out;
  int shown = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StrContains(line, "Copy ")) continue;
    ++shown;
    EXPECT_THAT(std::string(line), ContainsRegex("%.*[0-9.]+ %  +(from|to) host"));
  }
  EXPECT_GE(shown, 2) << text;
  EXPECT_THAT(text, HasSubstr(" and accelerators ("));
}

// What the agent has kept is what it tells from then on, be it another number than it would measure.
TEST_F(GpuProfileTest, AGpuIsMeasuredOnce) {
  AwaitPeaks();
  cluster_->agent(0).Kill();
  const std::string file = cluster_->Path("agent0-cache/peaks");
  ASSERT_OK_AND_ASSIGN(const std::string kept, ReadFile(file, kMaxBytes));
  const size_t end_of_key = kept.find('\n');
  ASSERT_NE(end_of_key, std::string::npos);
  EXPECT_THAT(kept.substr(0, end_of_key), HasSubstr("Fake H100"));
  v1::DevicePeaks peaks;
  ASSERT_TRUE(peaks.ParseFromString(kept.substr(end_of_key + 1)));
  ASSERT_EQ(peaks.accelerators_size(), 1);
  peaks.mutable_accelerators(0)->set_to_host_bytes_per_second(4'321);
  ASSERT_OK(WriteFileAtomically(file, kept.substr(0, end_of_key + 1) + peaks.SerializeAsString(),
                                /*durable=*/false));
  ASSERT_OK(cluster_->agent(0).Start());
  const absl::Time end = absl::Now() + absl::Minutes(1);
  while (AwaitPeaks().to_host_bytes_per_second != 4'321 && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(50));
  }
  EXPECT_EQ(AwaitPeaks().to_host_bytes_per_second, 4'321);
  // A copy there cannot be faster than that.
  ASSERT_OK_AND_ASSIGN(const Json json, ParseJson(Bench(/*as_json=*/true).out));
  EXPECT_EQ(json["accelerator_peaks"][0]["to_host_bytes_per_second"], 4'321) << json;
  int copies = 0;
  for (const Json& step : json["steps"]) {
    if (!step.contains("limit") || step["limit"] != "to host") continue;
    ++copies;
    EXPECT_NEAR(step["limit_ns"], double{step["bytes"]} / 2 / 4'321 * 1e9, 1e6) << step;
  }
  EXPECT_GE(copies, 1);
}

}  // namespace
}  // namespace slipway::testing
