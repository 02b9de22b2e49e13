#include "client/fan_out.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = FanOutStep::Kind;
using Steps = std::vector<FanOutStep>;

constexpr char kV3[] = "x86-64-v3-linux";
constexpr char kArm[] = "arm-64-linux";

Device Of(const std::string& id, const std::string& target,
          DeviceState state = DeviceState::kIdle) {
  return {.id = id, .target = target, .state = state};
}

Digest Artifact(const std::string& target) { return Digest::Of(target); }

Job JobIn(JobState state) {
  Job job;
  job.state = state;
  if (state == JobState::kSucceeded) job.benchmark = BenchmarkResult{.samples_ns = {1}};
  if (state == JobState::kFailed) job.error = absl::InvalidArgumentError("a bad program");
  job.attempts = 1;
  return job;
}

// "compile TARGET", "submit TARGET to DEVICE", "cancel JOB"
std::vector<std::string> Said(const Steps& steps) {
  std::vector<std::string> said;
  for (const FanOutStep& step : steps) {
    if (step.kind == Kind::kCompile) said.push_back(absl::StrCat("compile ", step.target));
    if (step.kind == Kind::kCancel) said.push_back(absl::StrCat("cancel ", step.job_id));
    if (step.kind != Kind::kSubmit) continue;
    for (const char* target : {kV3, kArm}) {
      if (step.artifact == Artifact(target)) {
        said.push_back(absl::StrCat("submit ", target, " to ", step.device));
      }
    }
  }
  return said;
}

class FanOutTest : public ::testing::Test {
 protected:
  FanOut Begin(FanOut::Options options = {}) {
    return FanOut({Of("c", kV3), Of("b", kArm), Of("a", kV3)}, options);
  }
};

TEST_F(FanOutTest, EachTargetIsCompiledForOnceAndEachDeviceMeasuredOnce) {
  FanOut fan_out = Begin();
  EXPECT_THAT(Said(fan_out.Start()),
              ElementsAre("compile x86-64-v3-linux", "compile arm-64-linux"));
  EXPECT_THAT(Said(fan_out.Compiled(kV3, Artifact(kV3))),
              ElementsAre("submit x86-64-v3-linux to a", "submit x86-64-v3-linux to c"));
  EXPECT_THAT(Said(fan_out.Compiled(kArm, Artifact(kArm))),
              ElementsAre("submit arm-64-linux to b"));
  for (const char* device : {"a", "b", "c"}) {
    EXPECT_THAT(fan_out.Submitted(device, absl::StrCat("job ", device)), IsEmpty());
  }
  EXPECT_THAT(fan_out.OpenJobs(), ElementsAre("job a", "job b", "job c"));
  EXPECT_THAT(fan_out.Told("b", JobIn(JobState::kRunning)), IsEmpty());
  EXPECT_FALSE(fan_out.ended());
  for (const char* device : {"a", "b", "c"}) fan_out.Told(device, JobIn(JobState::kSucceeded));
  EXPECT_TRUE(fan_out.ended());
  EXPECT_THAT(fan_out.OpenJobs(), IsEmpty());
  for (const FanOutRow& row : fan_out.rows()) EXPECT_TRUE(row.result.has_value());
}

TEST_F(FanOutTest, WhatCannotBeCompiledFailsItsDevicesAlone) {
  FanOut fan_out = Begin();
  fan_out.Start();
  EXPECT_THAT(fan_out.Compiled(kV3, absl::UnimplementedError("no operator")), IsEmpty());
  EXPECT_FALSE(fan_out.ended());
  fan_out.Compiled(kArm, Artifact(kArm));
  fan_out.Submitted("b", std::string("job b"));
  fan_out.Told("b", JobIn(JobState::kSucceeded));
  EXPECT_TRUE(fan_out.ended());
  EXPECT_TRUE(absl::IsUnimplemented(fan_out.rows()[0].error));
  EXPECT_TRUE(fan_out.rows()[1].result.has_value());
  EXPECT_TRUE(absl::IsUnimplemented(fan_out.rows()[2].error));
}

TEST_F(FanOutTest, WhatIsCompiledAlreadyGoesWhereItRuns) {
  FanOut fan_out = Begin({.target = kV3, .artifact = Artifact(kV3)});
  EXPECT_THAT(Said(fan_out.Start()),
              ElementsAre("submit x86-64-v3-linux to a", "submit x86-64-v3-linux to c"));
  EXPECT_TRUE(absl::IsFailedPrecondition(fan_out.rows()[1].error));
  EXPECT_FALSE(fan_out.rows()[1].is_lost);
}

TEST_F(FanOutTest, AFailedBenchmarkEndsItsRow) {
  FanOut fan_out = Begin({.target = kV3, .artifact = Artifact(kV3)});
  fan_out.Start();
  fan_out.Submitted("a", std::string("job a"));
  EXPECT_THAT(fan_out.Told("a", JobIn(JobState::kFailed)), IsEmpty());
  EXPECT_TRUE(absl::IsInvalidArgument(fan_out.rows()[0].error));
  EXPECT_FALSE(fan_out.rows()[0].is_lost);
  EXPECT_THAT(fan_out.Submitted("c", absl::ResourceExhaustedError("full")), IsEmpty());
  EXPECT_TRUE(absl::IsResourceExhausted(fan_out.rows()[2].error));
  EXPECT_TRUE(fan_out.ended());
  // Too late.
  fan_out.Told("a", JobIn(JobState::kSucceeded));
  EXPECT_FALSE(fan_out.rows()[0].result.has_value());
}

TEST_F(FanOutTest, ADeviceThatIsMissingTwiceInARowIsGivenUp) {
  FanOut fan_out = Begin({.target = kV3, .artifact = Artifact(kV3)});
  fan_out.Start();
  for (const char* device : {"a", "c"}) fan_out.Submitted(device, absl::StrCat("job ", device));
  const std::vector<Device> both = {Of("a", kV3), Of("c", kV3)};
  const std::vector<Device> one = {Of("a", kV3)};
  EXPECT_THAT(fan_out.Looked(one), IsEmpty());
  EXPECT_THAT(fan_out.Looked(both), IsEmpty());
  EXPECT_THAT(fan_out.Looked(one), IsEmpty());
  EXPECT_THAT(Said(fan_out.Looked(one)), ElementsAre("cancel job c"));
  EXPECT_TRUE(absl::IsUnavailable(fan_out.rows()[2].error));
  EXPECT_TRUE(fan_out.rows()[2].is_lost);
  EXPECT_EQ(fan_out.rows()[2].replaced_by, "");
  EXPECT_THAT(fan_out.OpenJobs(), ElementsAre("job a"));
}

TEST_F(FanOutTest, ADeviceThatIsAtWorkIsWaitedFor) {
  FanOut fan_out = Begin({.target = kV3, .artifact = Artifact(kV3)});
  fan_out.Start();
  fan_out.Submitted("a", std::string("job a"));
  fan_out.Told("a", JobIn(JobState::kRunning));
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Said(fan_out.Looked({Of("c", kV3)})), IsEmpty());
  // The server has taken the job back.
  fan_out.Told("a", JobIn(JobState::kQueued));
  fan_out.Looked({Of("c", kV3)});
  EXPECT_THAT(Said(fan_out.Looked({Of("c", kV3)})), ElementsAre("cancel job a"));
}

TEST_F(FanOutTest, OneThatIsGivenUpWhileItIsAcceptedIsCancelled) {
  FanOut fan_out = Begin({.target = kV3, .artifact = Artifact(kV3)});
  fan_out.Start();
  fan_out.Looked({Of("c", kV3)});
  EXPECT_THAT(fan_out.Looked({Of("c", kV3)}), IsEmpty());
  EXPECT_THAT(Said(fan_out.Submitted("a", std::string("job a"))), ElementsAre("cancel job a"));
}

TEST_F(FanOutTest, OfASpreadAnotherTakesThePlaceOfTheLost) {
  FanOut fan_out({Of("a", kV3, DeviceState::kBusy), Of("b", kV3), Of("c", kArm), Of("d", kArm)},
                 {.spread = 2});
  // Idle ones first.
  EXPECT_THAT(Said(fan_out.Start()),
              ElementsAre("compile x86-64-v3-linux", "compile arm-64-linux"));
  EXPECT_EQ(fan_out.rows()[0].device, "b");
  EXPECT_EQ(fan_out.rows()[1].device, "c");
  fan_out.Compiled(kV3, Artifact(kV3));
  fan_out.Submitted("b", std::string("job b"));
  fan_out.Told("b", JobIn(JobState::kSucceeded));
  fan_out.Looked({Of("a", kV3), Of("d", kArm)});
  // Its artifact is not there yet.
  EXPECT_THAT(fan_out.Looked({Of("a", kV3), Of("d", kArm)}), IsEmpty());
  EXPECT_EQ(fan_out.rows()[1].replaced_by, "d");
  EXPECT_THAT(Said(fan_out.Compiled(kArm, Artifact(kArm))),
              ElementsAre("submit arm-64-linux to d"));
  fan_out.Submitted("d", std::string("job d"));
  // All its attempts were lost.
  Job lost = JobIn(JobState::kFailed);
  lost.error = absl::AbortedError("lost three times");
  EXPECT_THAT(Said(fan_out.Told("d", lost)), ElementsAre("submit x86-64-v3-linux to a"));
  EXPECT_TRUE(fan_out.rows()[2].is_lost);
  fan_out.Submitted("a", std::string("job a"));
  // Nobody is left.
  EXPECT_THAT(fan_out.Told("a", lost), IsEmpty());
  EXPECT_TRUE(fan_out.ended());
  EXPECT_EQ(fan_out.rows().size(), 4u);
}

TEST_F(FanOutTest, OfASpreadOnlyALossIsMadeGood) {
  FanOut fan_out({Of("a", kV3), Of("b", kV3)},
                 {.spread = 1, .target = kV3, .artifact = Artifact(kV3)});
  EXPECT_THAT(Said(fan_out.Start()), ElementsAre("submit x86-64-v3-linux to a"));
  fan_out.Submitted("a", std::string("job a"));
  EXPECT_THAT(fan_out.Told("a", JobIn(JobState::kFailed)), IsEmpty());
  EXPECT_TRUE(fan_out.ended());
}

TEST_F(FanOutTest, ASpreadBeginsWithWhatCanRunIt) {
  FanOut fan_out({Of("a", kArm), Of("b", kV3, DeviceState::kBusy)},
                 {.spread = 1, .target = kV3, .artifact = Artifact(kV3)});
  EXPECT_THAT(Said(fan_out.Start()), ElementsAre("submit x86-64-v3-linux to b"));
}

TEST_F(FanOutTest, NobodyStaysBehindWhenAJobIsCancelledOrCannotBeFollowed) {
  FanOut fan_out = Begin({.target = kV3, .artifact = Artifact(kV3)});
  fan_out.Start();
  fan_out.Submitted("a", std::string("job a"));
  fan_out.Submitted("c", std::string("job c"));
  fan_out.Told("a", JobIn(JobState::kCancelled));
  fan_out.Told("c", absl::UnavailableError("no server"));
  EXPECT_TRUE(absl::IsCancelled(fan_out.rows()[0].error));
  EXPECT_TRUE(absl::IsUnavailable(fan_out.rows()[2].error));
  EXPECT_TRUE(fan_out.ended());
}

}  // namespace
}  // namespace slipway
