#include "client/sample_conditions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BenchmarkResult Result() {
  BenchmarkResult result;
  result.device = "board";
  result.samples_ns = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  result.stamps = {
      {.samples = 3, .cpu_frequency_hz = 3'000, .temperature_millicelsius = 50, .governor = "up"},
      {.samples = 2, .disturbed = true, .cpu_frequency_hz = 2'701, .governor = "up"},
      {.samples = 4, .throttled = true, .temperature_millicelsius = 90, .governor = "down"},
      {.samples = 1, .cpu_frequency_hz = 2'600, .temperature_millicelsius = 80}};
  return result;
}

TEST(ConditionsOf, CountsSamples) {
  const SampleConditions conditions = ConditionsOf(Result());
  EXPECT_EQ(conditions.samples, 10);
  EXPECT_EQ(conditions.disturbed, 2);
  EXPECT_EQ(conditions.throttled, 5);
  EXPECT_EQ(conditions.least_hz, 2'600);
  EXPECT_EQ(conditions.most_hz, 3'000);
  EXPECT_EQ(conditions.least_millicelsius, 50);
  EXPECT_EQ(conditions.most_millicelsius, 90);
  EXPECT_THAT(conditions.governors, ElementsAre("up", "down"));
  EXPECT_EQ(ConditionsOf(BenchmarkResult()).samples, 0);
}

// Two GPUs: the second is slowed down, then the first clocks lower than it did, then both tell nothing.
BenchmarkResult OnGpus() {
  BenchmarkResult result;
  result.samples_ns = {1, 2, 3, 4, 5, 6, 7};
  result.stamps = {
      {.samples = 1,
       .accelerators = {{.name = "A", .clock_hz = 2'000, .power_milliwatts = 400'000},
                        {.name = "B", .temperature_millicelsius = 50}}},
      {.samples = 2,
       .throttled = true,
       .accelerators = {{.name = "A", .clock_hz = 1'900},
                        {.name = "B", .temperature_millicelsius = 80, .throttled = true}}},
      {.samples = 3,
       .accelerators = {{.name = "A", .clock_hz = 1'799, .power_milliwatts = 90'000},
                        {.name = "B"}}},
      {.samples = 1}};
  return result;
}

TEST(ConditionsOf, KnowsAcceleratorsAsItDoesTheProcessor) {
  const SampleConditions conditions = ConditionsOf(OnGpus());
  EXPECT_EQ(conditions.throttled, 5);
  EXPECT_EQ(conditions.throttled_accelerators, 5);
  ASSERT_EQ(conditions.accelerators.size(), 2u);
  EXPECT_EQ(conditions.accelerators[0].name, "A");
  EXPECT_EQ(conditions.accelerators[0].least_hz, 1'799);
  EXPECT_EQ(conditions.accelerators[0].most_hz, 2'000);
  EXPECT_EQ(conditions.accelerators[0].least_milliwatts, 90'000);
  EXPECT_EQ(conditions.accelerators[0].most_milliwatts, 400'000);
  EXPECT_EQ(conditions.accelerators[1].most_millicelsius, 80);
  EXPECT_EQ(conditions.accelerators[1].most_hz, 0);
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult steady, LeaveOut(OnGpus(), false, true));
  EXPECT_THAT(steady.samples_ns, ElementsAre(1, 7));
  // A processor that throttles says nothing of accelerators.
  EXPECT_EQ(ConditionsOf(Result()).throttled_accelerators, 0);
}

TEST(LeaveOut, LeavesOutWhatIsAskedFor) {
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult quiet, LeaveOut(Result(), true, false));
  EXPECT_THAT(quiet.samples_ns, ElementsAre(1, 2, 3, 6, 7, 8, 9, 10));
  EXPECT_EQ(ConditionsOf(quiet).disturbed, 0);
  EXPECT_EQ(ConditionsOf(quiet).samples, 8);
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult cool, LeaveOut(Result(), false, true));
  EXPECT_THAT(cool.samples_ns, ElementsAre(1, 2, 3, 4, 5));
  ASSERT_OK_AND_ASSIGN(const BenchmarkResult both, LeaveOut(Result(), true, true));
  EXPECT_THAT(both.samples_ns, ElementsAre(1, 2, 3));
}

TEST(LeaveOut, NeedsStampsAndLeavesSomething) {
  BenchmarkResult result = Result();
  for (SampleStamp& stamp : result.stamps) stamp.disturbed = true;
  EXPECT_THAT(LeaveOut(result, true, false),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("none of the 10 samples")));
  result.stamps.clear();
  EXPECT_THAT(LeaveOut(result, true, false),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("update the agent")));
}

}  // namespace
}  // namespace slipway
