// The machine during samples: what is typed, and what is shown.
#include <string>
#include <vector>

#include "client/cli/condition_flags.h"
#include "client/cli/exit_code.h"
#include "client/cli/render_conditions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<ConditionFlags> Read(const std::vector<std::string>& arguments,
                                    const std::optional<Scenario>& scenario = {}) {
  FlagSet flags("test", "");
  ConditionFlags conditions;
  conditions.AddTo(flags);
  const auto parsed = flags.Parse(arguments);
  if (!parsed.ok()) return parsed.status();
  const absl::Status status = conditions.Check(scenario);
  if (!status.ok()) return status;
  return conditions;
}

TEST(ConditionFlags, SayWhatIsWaitedFor) {
  ASSERT_OK_AND_ASSIGN(ConditionFlags flags, Read({}));
  EXPECT_FALSE(flags.ReadSettling().has_value());
  ASSERT_OK_AND_ASSIGN(flags, Read({"--cool-down=57.5C"}));
  EXPECT_EQ(flags.ReadSettling()->cool_down_millicelsius, 57'500);
  EXPECT_FALSE(flags.ReadSettling()->until_steady);
  EXPECT_EQ(flags.ReadSettling()->longest, absl::Minutes(1));
  ASSERT_OK_AND_ASSIGN(flags, Read({"--settle", "--settle-limit=5s"}));
  EXPECT_TRUE(flags.ReadSettling()->until_steady);
  EXPECT_EQ(flags.ReadSettling()->longest, absl::Seconds(5));
}

TEST(ConditionFlags, RefuseWhatCannotBe) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--cool-down=60"}, "such as 60C"},    {{"--cool-down=nanC"}, "such as 60C"},
      {{"--cool-down=-3C"}, "such as 60C"},   {{"--cool-down=201C"}, "at most 200C"},
      {{"--settle-limit=0"}, "above 0"},      {{"--settle-limit=2h"}, "at most 1h"},
      {{"--leave-out=slow"}, "not \"slow\""},
  };
  for (const auto& [arguments, says] : cases) {
    const absl::Status status = Read(arguments).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(says)));
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kWrongCall);
  }
  EXPECT_THAT(Read({"--leave-out=disturbed"}, Scenario{.kind = ScenarioKind::kServer}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("follow each other")));
}

BenchmarkResult Result() {
  BenchmarkResult result;
  result.samples_ns.assign(100, 1'000'000);
  result.iterations_per_sample = 10;
  result.memory_before_bytes = 1 << 20;
  result.memory_after_bytes = 5 << 20;
  result.energy = {{"package-0", 12'345'000}, {"dram\n", 1}};
  result.stamps = {{.samples = 88,
                    .cpu_frequency_hz = 3'100'000'000,
                    .temperature_millicelsius = 41'000,
                    .governor = "powersave"},
                   {.samples = 12,
                    .waited_millis = 300,
                    .disturbed = true,
                    .cpu_frequency_hz = 2'000'000'000,
                    .temperature_millicelsius = 62'040}};
  return result;
}

TEST(RenderConditions, AcceleratorsAreToldAsTheyWereBehindTheSamples) {
  BenchmarkResult result;
  result.before.accelerators = {{.name = "GPU", .clock_hz = 210'000'000}};
  result.after.accelerators = {{.name = "GPU",
                                .clock_hz = 1'980'000'000,
                                .memory_clock_hz = 2'619'000'000,
                                .power_milliwatts = 412'340,
                                .temperature_millicelsius = 61'000,
                                .throttled = true},
                               {.name = "other"}};
  EXPECT_THAT(ConditionRows(result),
              ElementsAre(ElementsAre("accelerator",
                                      "GPU, 1980 MHz, memory 2619 MHz, 412.3 W, 61 C, slowed down"),
                          ElementsAre("accelerator", "other")));
}

TEST(RenderConditions, AcceleratorsOfAProgramAreToldAsTheyWereWithItsSamples) {
  BenchmarkResult result;
  result.samples_ns.assign(10, 1'000'000);
  result.after.accelerators = {{.name = "GPU"}, {.name = "of others"}};
  result.stamps = {{.samples = 6,
                    .accelerators = {{.name = "GPU",
                                      .clock_hz = 1'980'000'000,
                                      .power_milliwatts = 412'340,
                                      .temperature_millicelsius = 54'000}}},
                   {.samples = 4,
                    .throttled = true,
                    .accelerators = {{.name = "GPU",
                                      .clock_hz = 1'830'000'000,
                                      .power_milliwatts = 690'000,
                                      .temperature_millicelsius = 61'000,
                                      .throttled = true}}}};
  EXPECT_THAT(ConditionRows(result),
              ElementsAre(ElementsAre("accelerator",
                                      "GPU, 1830 to 1980 MHz, 412.3 to 690.0 W, 54 to 61 C")));
  EXPECT_EQ(
      ConditionRemarks(result),
      "4 of 10 samples while an accelerator was slowed down; \"--leave-out throttled\" counts "
      "the others alone\n");
  result.stamps.push_back({.samples = 1, .throttled = true});
  EXPECT_THAT(ConditionRemarks(result),
              HasSubstr("while the processor throttled or an accelerator was slowed down"));
}

TEST(RenderConditions, AsText) {
  BenchmarkResult result = Result();
  EXPECT_THAT(
      ConditionRows(result),
      ElementsAre(ElementsAre("memory", "4.0 MiB more than before it was loaded"),
                  ElementsAre("energy", "12.3 mJ a call, of all of package-0"),
                  ElementsAre("energy", "1 nJ a call, of all of dram\\x0a"),
                  ElementsAre("machine", "2.0 to 3.1 GHz, 41.0 to 62.0 C, governor powersave")));
  EXPECT_EQ(ConditionRemarks(result),
            "12 of 100 samples while other programs took processor time; \"--leave-out disturbed\" "
            "counts the others alone\n"
            "12 of 100 samples while the processor throttled; \"--leave-out throttled\" counts the "
            "others alone\n");
  EXPECT_THAT(ConditionRows(BenchmarkResult()), IsEmpty());
  EXPECT_EQ(ConditionRemarks(BenchmarkResult()), "");
  BenchmarkResult unknown;
  unknown.energy_unknown = "the agent may not read it";
  EXPECT_THAT(ConditionRows(unknown),
              ElementsAre(ElementsAre("energy", "unknown: the agent may not read it")));
}

TEST(RenderConditions, TellsOfTimesThatAreShortForTheirClock) {
  BenchmarkResult result;
  result.samples_ns = {99'999, 100'000, 2'000'000, 1};
  result.clock_resolution_ns = 5'000;
  EXPECT_EQ(ConditionRemarks(result),
            "coarse: 2 of 4 samples are shorter than 20 times the 5.00 us that the device's clock "
            "tells apart\n");
  result.clock_resolution_ns = 0;
  EXPECT_EQ(ConditionRemarks(result), "");
  EXPECT_EQ(ClockRemark({250'000}, 5'000, "runs is"), "");
  EXPECT_EQ(ClockRemark({250'000}, 100'000, "runs is"),
            "coarse: 1 of 1 runs is shorter than 20 times the 100 us that the device's clock tells "
            "apart\n");
}

TEST(RenderConditions, AsJson) {
  JsonWriter json;
  json.BeginObject();
  BenchmarkResult result = Result();
  result.settled = Settled{.cooled = absl::Seconds(2), .is_cool = true};
  result.clock_resolution_ns = 5'000;
  ConditionsJson(json, result);
  json.EndObject();
  const std::string text = json.Take();
  for (const char* part :
       {"\"disturbed_samples\": 12", "\"counter\": \"package-0\"", "\"joules_a_call\": 0.012345",
        "\"is_cool\": true", "\"clock_resolution_ns\": 5000", "\"waited_millis\": 300",
        "\"memory_after_bytes\": 5242880"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(AboutSettling, SaysWhatDidNotComeAbout) {
  const Settling asked = {.cool_down_millicelsius = 60'000, .until_steady = true};
  BenchmarkResult result;
  EXPECT_EQ(AboutSettling(std::nullopt, result), "");
  EXPECT_THAT(AboutSettling(asked, result), HasSubstr("knows no"));
  result.settled = Settled{.is_cool = true, .is_steady = true};
  EXPECT_EQ(AboutSettling(asked, result), "");
  result.settled = Settled{};
  EXPECT_THAT(AboutSettling(asked, result),
              AllOf(HasSubstr("tells no temperature"), HasSubstr("neither frequency")));
  result.settled = Settled{.cooled = absl::Minutes(1), .steadied = absl::Seconds(5)};
  EXPECT_EQ(AboutSettling(asked, result),
            "after 60.0 s the device was still hotter than 60.0 C\n"
            "after 5.00 s frequency and temperature still did not hold still\n");
}

}  // namespace
}  // namespace slipway::cli
