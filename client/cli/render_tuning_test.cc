#include "client/cli/render_tuning.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TuningReport Report() {
  TuningReport report = {.device = "board-1", .threads = 2, .file = "net.schedules", .result = {}};
  TuningResult& result = report.result;
  result.kernels = {{.kernel = "a1",
                     .step = "Conv one",
                     .steps = 3,
                     .default_schedule = "convolution width=6",
                     .schedule = "convolution width=8",
                     .default_ns = 900'000,
                     .ns = 810'000,
                     .tried = 7},
                    {.kernel = "a2",
                     .step = "Conv two",
                     .steps = 1,
                     .default_schedule = "convolution width=6",
                     .schedule = "convolution width=6",
                     .default_ns = 500'000,
                     .ns = 500'000,
                     .tried = 4}};
  result.default_ns = 2'000'000;
  result.ns = 1'900'000;
  result.trials = 9;
  result.is_complete = true;
  Comparison whole;
  whole.verdict = Verdict::kBetter;
  whole.ratio.value = 0.955;
  whole.ratio.interval = {0.95, 0.96};
  whole.is_certain = true;
  result.whole = whole;
  return report;
}

TEST(RenderTuningTest, TellsOfKernelsThatChangedAndOfTheWhole) {
  EXPECT_EQ(RenderTuning(Report()),
            "tuned on board-1, 2 threads: 2 kernels by 9 programs, all that was to be tried\n"
            "STEP       STEPS  DEFAULT    TUNED    GAIN  SCHEDULE\n"
            "Conv one       3   900 us   810 us  10.0 %  convolution width=8\n"
            "all steps         2.00 ms  1.90 ms   5.0 %\n"
            "the whole program takes 0.9550 times as long (99 %: 0.9500 to 0.9600)\n"
            "schedules are in net.schedules\n");
}

TEST(RenderTuningTest, SaysWhatIsNotFaster) {
  TuningReport report = Report();
  report.result.is_complete = false;
  report.result.dropped = 1;
  report.result.whole->verdict = Verdict::kSame;
  EXPECT_THAT(RenderTuning(report),
              AllOf(HasSubstr(", until the time was over; 1 schedules dropped\n"),
                    HasSubstr(": it is not shown to be faster by 0.5 %\n")));
  report.result.whole->verdict = Verdict::kWorse;
  EXPECT_THAT(RenderTuning(report), HasSubstr(": it is slower, and nothing of it is kept\n"));
  report.result.whole.reset();
  report.result.kernels[0].schedule = report.result.kernels[0].default_schedule;
  EXPECT_THAT(RenderTuning(report),
              AllOf(HasSubstr("nothing is faster than what the compiler chooses\n"),
                    Not(HasSubstr("Conv one"))));
}

TEST(RenderTuningTest, JsonHasAllKernels) {
  JsonWriter json;
  json.BeginObject();
  TuningJson(json, Report());
  json.EndObject();
  const std::string text = json.Take();
  EXPECT_THAT(text, AllOf(HasSubstr("\"complete\": true"), HasSubstr("\"step\": \"Conv two\""),
                          HasSubstr("\"default_schedule\": \"convolution width=6\""),
                          HasSubstr("\"verdict\": \"better\""), HasSubstr("\"tried\": 7")));
}

}  // namespace
}  // namespace slipway::cli
