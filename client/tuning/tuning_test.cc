#include "client/tuning/tuning.h"

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Schedules are "w=N", and what lies near one is one more and one less.
int WidthOf(absl::string_view schedule) {
  int width = 0;
  absl::ConsumePrefix(&schedule, "w=");
  EXPECT_TRUE(absl::SimpleAtoi(schedule, &width)) << schedule;
  return width;
}

// A compiler that chooses 4 for every kernel, and a device on which a kernel takes what a test says, and some noise.
class FakeBench final : public TuningBench {
 public:
  using Cost = std::function<double(int width)>;  // Nanoseconds.

  explicit FakeBench(std::map<std::string, Cost> kernels, FakeClock& clock)
      : kernels_(std::move(kernels)), clock_(clock) {}

  absl::StatusOr<ScheduledProgram> Compile(const KernelSchedules& schedules) override {
    compiled.push_back(schedules);
    if (fails_after >= 0 && static_cast<int>(compiled.size()) > fails_after) {
      return absl::ResourceExhaustedError("the disk is full");
    }
    clock_.Advance(absl::Seconds(1));
    ScheduledProgram program;
    std::string text;
    std::map<std::string, int> widths;
    for (const auto& [name, cost] : kernels_) {
      const auto found = schedules.find(name);
      const int width = found == schedules.end() ? 4 : WidthOf(found->second);
      const std::string schedule = absl::StrCat("w=", width);
      if (does_not_compile.count(absl::StrCat(name, " ", schedule)) > 0) {
        return absl::InternalError("the generator crashed");
      }
      widths[name] = width;
      absl::StrAppend(&text, name, schedule, ";");
      program.kernels.push_back({name,
                                 schedule,
                                 {absl::StrCat("w=", width + 1), absl::StrCat("w=", width - 1)},
                                 {absl::StrCat("step ", name)}});
    }
    if (is_old) program.kernels.clear();
    program.artifact = Digest::Of(text);
    programs_[program.artifact] = widths;
    return program;
  }

  absl::StatusOr<std::vector<std::vector<StepTime>>> TimeSteps(
      const Digest& a, const Digest& b, absl::Span<const Side> order) override {
    if (++measured == fails_at) return absl::UnavailableError("the device went away");
    std::vector<std::vector<StepTime>> blocks;
    for (const Side side : order) {
      std::vector<StepTime>& block = blocks.emplace_back();
      for (const auto& [name, width] : programs_.at(side == Side::kA ? a : b)) {
        if (crashes.count(absl::StrCat(name, " w=", width)) > 0) {
          return absl::AbortedError("the runner crashed");
        }
        // Never less than it takes, and seldom much more.
        const double late = std::exponential_distribution<double>(1 / noise)(random_);
        block.push_back(
            {.name = absl::StrCat("step ", name),
             .operators = {},
             .duration_ns = std::llround(kernels_.at(name)(width) * (noise > 0 ? 1 + late : 1))});
      }
    }
    return blocks;
  }

  absl::StatusOr<Comparison> Compare(const Digest& a, const Digest& b) override {
    ++compared;
    double whole[2] = {0, 0};
    for (const auto& [name, width] : programs_.at(a)) whole[0] += kernels_.at(name)(width);
    for (const auto& [name, width] : programs_.at(b)) whole[1] += kernels_.at(name)(width);
    return Comparison{
        .verdict = verdict, .is_certain = true, .ratio = {.value = whole[1] / whole[0]}};
  }

  bool is_old = false;
  std::set<std::string> does_not_compile, crashes;
  int fails_at = -1;     // A measurement, 1 the first.
  int fails_after = -1;  // So many programs.
  double noise = 1e-6;
  Verdict verdict = Verdict::kBetter;
  std::vector<KernelSchedules> compiled;
  int measured = 0;
  int compared = 0;

 private:
  const std::map<std::string, Cost> kernels_;
  FakeClock& clock_;
  std::map<Digest, std::map<std::string, int>> programs_;
  std::mt19937_64 random_{7};
};

class TuningTest : public ::testing::Test, public TuningObserver {
 protected:
  void Show(const std::string& stage, const std::string&) override { stages_.push_back(stage); }
  void Dropped(const std::string& kernel, const std::string& schedule,
               const absl::Status& why) override {
    dropped_.push_back(absl::StrCat(kernel, " ", schedule, ": ", why.message()));
  }
  absl::Status Keep(const std::vector<TunedKernel>& kernels) override {
    kept_.clear();
    for (const TunedKernel& kernel : kernels) {
      if (kernel.schedule != kernel.default_schedule) kept_[kernel.kernel] = kernel.schedule;
    }
    return keeping_;
  }
  absl::StatusOr<TuningResult> TuneWith(FakeBench& bench, const KernelSchedules& begin = {},
                                        absl::Duration limit = absl::Hours(1)) {
    return Tune(bench, begin, {.limit = limit}, clock_, *this);
  }

  FakeClock clock_;
  std::vector<std::string> stages_, dropped_;
  KernelSchedules kept_;
  absl::Status keeping_ = absl::OkStatus();
};

// Least at `best`, by a tenth less for each step there.
FakeBench::Cost BestAt(int best, double ns = 100'000) {
  return [=](int width) { return ns * (1 + 0.1 * std::abs(width - best)); };
}

TEST_F(TuningTest, FindsTheBestOfEachKernelByFewPrograms) {
  FakeBench bench({{"a", BestAt(7)}, {"b", BestAt(2)}, {"c", BestAt(4)}}, clock_);
  ASSERT_OK_AND_ASSIGN(const TuningResult result, TuneWith(bench));
  EXPECT_THAT(kept_, ElementsAre(Pair("a", "w=7"), Pair("b", "w=2")));
  EXPECT_TRUE(result.is_complete);
  // a goes up three times and tries one more.
  EXPECT_LE(result.trials, 6);
  EXPECT_EQ(result.dropped, 0);
  ASSERT_EQ(result.kernels.size(), 3u);
  EXPECT_EQ(result.kernels[0].kernel, "a");
  EXPECT_EQ(result.kernels[0].default_schedule, "w=4");
  EXPECT_EQ(result.kernels[0].schedule, "w=7");
  EXPECT_EQ(result.kernels[0].step, "step a");
  EXPECT_NEAR(result.kernels[0].default_ns, 130'000, 100);
  EXPECT_NEAR(result.kernels[0].ns, 100'000, 100);
  EXPECT_NEAR(result.default_ns, 350'000, 200);
  EXPECT_NEAR(result.ns, 300'000, 200);
  ASSERT_TRUE(result.whole.has_value());
  EXPECT_NEAR(result.whole->ratio.value, 300.0 / 350, 1e-3);
}

TEST_F(TuningTest, NoiseIsNotTakenForAGain) {
  int changed = 0;
  for (int i = 0; i < 20; ++i) {
    std::map<std::string, FakeBench::Cost> kernels;
    for (char name = 'a'; name <= 'z'; ++name) kernels[std::string(1, name)] = BestAt(4, 100'000);
    for (auto& [name, cost] : kernels) cost = [](int) { return 100'000; };
    FakeBench bench(std::move(kernels), clock_);
    bench.noise = 0.05;
    ASSERT_OK(TuneWith(bench, {}, absl::Seconds(40)).status());
    changed += static_cast<int>(kept_.size());
  }
  EXPECT_LE(changed, 2) << "of 520 kernels";
}

TEST_F(TuningTest, AGainIsFoundInNoise) {
  int found = 0;
  for (int i = 0; i < 20; ++i) {
    FakeBench bench({{"a", BestAt(6)}, {"b", BestAt(4)}}, clock_);
    bench.noise = 0.02;
    ASSERT_OK(TuneWith(bench).status());
    found += kept_.count("a") > 0 && kept_.at("a") == "w=6";
  }
  EXPECT_GE(found, 18);
}

TEST_F(TuningTest, KernelsThatTakeLittleAreLeftAlone) {
  FakeBench bench({{"a", BestAt(5)}, {"little", BestAt(5, 400)}}, clock_);
  ASSERT_OK_AND_ASSIGN(const TuningResult result, TuneWith(bench));
  EXPECT_THAT(kept_, ElementsAre(Pair("a", "w=5")));
  EXPECT_EQ(result.kernels.size(), 1u);
}

TEST_F(TuningTest, WhatDoesNotCompileOrCrashesIsDroppedAloneAndTheOthersAreTried) {
  FakeBench bench({{"a", BestAt(5)}, {"b", BestAt(5)}, {"c", BestAt(3)}, {"d", BestAt(6)}}, clock_);
  bench.does_not_compile = {"b w=5"};
  bench.crashes = {"d w=5"};
  ASSERT_OK_AND_ASSIGN(const TuningResult result, TuneWith(bench));
  EXPECT_THAT(kept_, ElementsAre(Pair("a", "w=5"), Pair("c", "w=3")));
  EXPECT_THAT(dropped_, ElementsAre("b w=5: the generator crashed", "d w=5: the runner crashed"));
  EXPECT_EQ(result.dropped, 2);
}

TEST_F(TuningTest, ADeviceThatGoesAwayEndsItWithWhatWasKept) {
  FakeBench bench({{"a", BestAt(7)}}, clock_);
  // Three rounds first, six of a trial that is better, and one of the next.
  bench.fails_at = 3 + 6 + 1;
  EXPECT_THAT(TuneWith(bench), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("went away")));
  EXPECT_THAT(kept_, ElementsAre(Pair("a", "w=5")));
}

TEST_F(TuningTest, WhatStandsAndFailsEndsIt) {
  FakeBench bench({{"a", BestAt(7)}}, clock_);
  bench.crashes = {"a w=4"};
  EXPECT_THAT(TuneWith(bench), StatusIs(absl::StatusCode::kAborted, HasSubstr("crashed")));
}

TEST_F(TuningTest, ACompilerThatFailsInAnyCaseEndsItAndDropsNothing) {
  FakeBench bench({{"a", BestAt(7)}, {"b", BestAt(4)}}, clock_);
  bench.fails_after = 1;
  EXPECT_THAT(TuneWith(bench), StatusIs(absl::StatusCode::kResourceExhausted,
                                        HasSubstr("what stood before fails, too: the disk")));
  EXPECT_THAT(dropped_, IsEmpty());
}

TEST_F(TuningTest, GoesOnWithWhatWasKept) {
  FakeBench bench({{"a", BestAt(7)}, {"b", BestAt(4)}}, clock_);
  ASSERT_OK_AND_ASSIGN(const TuningResult result,
                       TuneWith(bench, {{"a", "w=6"}, {"of another model", "w=9"}}));
  EXPECT_THAT(kept_, ElementsAre(Pair("a", "w=7")));
  EXPECT_NEAR(result.kernels[0].default_ns, 130'000, 100) << "not that of what was kept";
  EXPECT_THAT(bench.compiled[2], Contains(Pair("a", "w=7")));
}

TEST_F(TuningTest, WhatWasKeptAndIsNotFasterIsGivenUp) {
  FakeBench bench({{"a", BestAt(4)}}, clock_);
  ASSERT_OK_AND_ASSIGN(const TuningResult result,
                       TuneWith(bench, {{"a", "w=9"}}, absl::ZeroDuration()));
  EXPECT_THAT(kept_, IsEmpty());
  EXPECT_EQ(result.kernels[0].schedule, "w=4");
  EXPECT_FALSE(result.whole.has_value());
  EXPECT_EQ(result.ns, result.default_ns);
}

TEST_F(TuningTest, AProgramThatIsSlowerAsAWholeKeepsNothing) {
  FakeBench bench({{"a", BestAt(5)}}, clock_);
  bench.verdict = Verdict::kWorse;
  ASSERT_OK_AND_ASSIGN(const TuningResult result, TuneWith(bench));
  EXPECT_THAT(kept_, IsEmpty());
  EXPECT_EQ(result.kernels[0].schedule, "w=4");
  EXPECT_EQ(result.whole->verdict, Verdict::kWorse);
}

TEST_F(TuningTest, NothingThatIsFasterIsNoError) {
  FakeBench bench({{"a", BestAt(4)}}, clock_);
  ASSERT_OK_AND_ASSIGN(const TuningResult result, TuneWith(bench));
  EXPECT_FALSE(result.whole.has_value());
  EXPECT_EQ(result.kernels[0].tried, 2);
  EXPECT_EQ(result.ns, result.default_ns);
  EXPECT_EQ(bench.compared, 0);
}

TEST_F(TuningTest, NoTrialBeginsAfterTheLimit) {
  FakeBench bench({{"a", BestAt(30)}}, clock_);
  ASSERT_OK_AND_ASSIGN(const TuningResult result, TuneWith(bench, {}, absl::Seconds(4)));
  EXPECT_FALSE(result.is_complete);
  EXPECT_EQ(result.trials, 4);  // A second each.
  EXPECT_THAT(kept_, ElementsAre(Pair("a", "w=8")));
}

TEST_F(TuningTest, ACompilerThatTellsNothingAndAFileThatCannotBeWrittenAreErrors) {
  FakeBench old({{"a", BestAt(7)}}, clock_);
  old.is_old = true;
  EXPECT_THAT(TuneWith(old), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("older")));
  FakeBench bench({{"a", BestAt(7)}}, clock_);
  keeping_ = absl::ResourceExhaustedError("the disk is full");
  EXPECT_THAT(TuneWith(bench), StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace slipway
