#include "device_agent/measure/scenarios.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/wire/benchmark_spec.h"
#include "device_agent/measure/rate_search.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

// Time that passes when somebody waits, or works.
class FakePacer final : public Pacer {
 public:
  int64_t NowNs() override { return now_; }
  void WaitUntil(int64_t moment_ns) override { now_ = std::max(now_, moment_ns); }
  void Work(int64_t ns) { now_ += ns; }

 private:
  int64_t now_ = 5'000;
};

TEST(PoissonArrivals, AreThoseOfAnIndependentImplementation) {
  // By Python: SplitMix64 from 42, -log(1 - u) * 1e6.
  PoissonArrivals arrivals(1000, 42);
  for (const int64_t expected : {1353110, 1527357, 1853920, 2275805, 2314577}) {
    EXPECT_NEAR(static_cast<double>(arrivals.Next()), static_cast<double>(expected), 1);
  }
}

// How far the gaps' distribution is from the exponential one: A. Kolmogorov, Sulla determinazione empirica di una legge di
// distribuzione (1933). Above 1.95 / sqrt(n) in 1 of 1,000 samples.
TEST(PoissonArrivals, HaveExponentialGaps) {
  constexpr int kGaps = 20'000;
  for (const uint64_t seed : {0u, 1u, 7u, 123456789u}) {
    for (const double qps : {0.5, 250.0, 1e6}) {
      PoissonArrivals arrivals(qps, seed);
      std::vector<double> gaps;
      int64_t last = 0;
      for (int i = 0; i < kGaps; ++i) {
        const int64_t at = arrivals.Next();
        ASSERT_GE(at, last);
        gaps.push_back(static_cast<double>(at - last) * 1e-9);
        last = at;
      }
      std::sort(gaps.begin(), gaps.end());
      double distance = 0;
      for (int i = 0; i < kGaps; ++i) {
        const double expected = 1 - std::exp(-gaps[i] * qps);
        distance = std::max({distance, std::abs(expected - double{1.0 * i} / kGaps),
                             std::abs(expected - double{i + 1.0} / kGaps)});
      }
      // Whole nanoseconds are a thousandth of the mean gap at most.
      EXPECT_LT(distance, 1.95 / std::sqrt(kGaps) + 1e-3) << "seed " << seed << " qps " << qps;
    }
  }
}

TEST(PoissonArrivals, OfTheLowestRateEndInTime) {
  PoissonArrivals arrivals(1e-300, 1);
  for (int i = 0; i < 100; ++i) EXPECT_LE(arrivals.Next(), INT64_MAX);
}

// With one instance the latencies are those of Lindley's recursion (D. V. Lindley, The theory of queues with a single
// server, 1952): what waits is what was left when the query before came, less the time since.
TEST(ServeQueries, CountsWaitingInTheLatency) {
  FakePacer pacer;
  const std::vector<int64_t> takes = {900'000, 5'000'000, 10'000, 2'000'000, 300'000, 700'000};
  size_t calls = 0;
  Instances instances({[&] {
    pacer.Work(takes[calls++ % takes.size()]);
    return absl::OkStatus();
  }});
  ASSERT_OK_AND_ASSIGN(const Queries queries,
                       ServeQueries(instances, 200, PoissonArrivals(800, 3), pacer));
  PoissonArrivals arrivals(800, 3);
  int64_t waits = 0;
  int64_t before = 0;
  for (size_t i = 0; i < 200; ++i) {
    const int64_t came = arrivals.Next();
    if (i > 0) {
      waits = std::max<int64_t>(0, waits + takes[(i - 1) % takes.size()] - (came - before));
    }
    before = came;
    ASSERT_EQ(queries.latencies_ns[i], waits + takes[i % takes.size()]) << i;
  }
  EXPECT_EQ(calls, 200);
}

// A queue with exponential arrivals and service takes 1 / (service rate - arrival rate) in the mean.
TEST(ServeQueries, TakesAsLongAsTheTheoryOfQueuesSays) {
  FakePacer pacer;
  PoissonArrivals service(1000, 99);
  int64_t ended = 0;
  Instances instances({[&] {
    const int64_t end = service.Next();
    pacer.Work(end - ended);
    ended = end;
    return absl::OkStatus();
  }});
  ASSERT_OK_AND_ASSIGN(const Queries queries,
                       ServeQueries(instances, 400'000, PoissonArrivals(500, 5), pacer));
  double sum = 0;
  for (const int64_t ns : queries.latencies_ns) sum += static_cast<double>(ns);
  EXPECT_NEAR(sum / 400'000, 2e6, 0.06e6);
  EXPECT_NEAR(400'000 / (static_cast<double>(queries.duration_ns) * 1e-9), 500, 5);
}

TEST(ServeQueries, TellsTheErrorOfACall) {
  FakePacer pacer;
  int calls = 0;
  Instances instances(
      {[&] { return ++calls == 5 ? absl::InternalError("broken") : absl::OkStatus(); }});
  EXPECT_THAT(ServeQueries(instances, 100, PoissonArrivals(100, 1), pacer),
              StatusIs(absl::StatusCode::kInternal, "broken"));
  EXPECT_EQ(calls, 5);
}

// Each call ends when as many as there are instances are under way.
class Meeting {
 public:
  explicit Meeting(int people) : people_(people) {}
  absl::Status Come() {
    absl::MutexLock lock(&mutex_);
    ++there_;
    const int wanted = (there_ + people_ - 1) / people_ * people_;
    const auto all_are = [&] { return there_ >= wanted; };
    return mutex_.AwaitWithTimeout(absl::Condition(&all_are), absl::Seconds(30))
               ? absl::OkStatus()
               : absl::DeadlineExceededError("instances are not called at the same time");
  }

 private:
  const int people_;
  absl::Mutex mutex_;
  int there_ = 0;
};

TEST(Instances, AreCalledAtTheSameTime) {
  for (const int count : {2, 5}) {
    Meeting meeting(count);
    SystemPacer pacer;
    Instances instances(
        std::vector<Instances::Call>(static_cast<size_t>(count), [&] { return meeting.Come(); }));
    EXPECT_OK(CallAtOnce(instances, 4 * count));
    EXPECT_OK(CallOffline(instances, 4 * count, 1, pacer).status());
    EXPECT_OK(ServeQueries(instances, 4 * count, PoissonArrivals(1e6, 1), pacer).status());
  }
}

TEST(CallAtOnce, MakesEachCallOnce) {
  std::atomic<int> calls{0};
  Instances instances(std::vector<Instances::Call>(3, [&] {
    ++calls;
    return absl::OkStatus();
  }));
  EXPECT_OK(CallAtOnce(instances, 17));
  EXPECT_EQ(calls, 17);
  EXPECT_OK(CallAtOnce(instances, 1));
  EXPECT_EQ(calls, 18);
}

TEST(CallOffline, CountsFromWhenAllWereIssued) {
  FakePacer pacer;
  Instances instances({[&] {
    pacer.Work(10);
    return absl::OkStatus();
  }});
  ASSERT_OK_AND_ASSIGN(const Queries queries, CallOffline(instances, 4, 3, pacer));
  EXPECT_THAT(queries.latencies_ns, ElementsAre(30, 60, 90, 120));
  EXPECT_EQ(queries.duration_ns, 120);
}

// The highest rate that is found where a bound is met up to `most`.
std::optional<double> Find(double first, double most, int* trials) {
  RateSearch search(first, 1e-3, 1e6);
  *trials = 0;
  while (const std::optional<double> rate = search.Next()) {
    EXPECT_GE(*rate, 1e-3);
    EXPECT_LE(*rate, 1e6);
    search.Tell(*rate <= most);
    if (++*trials > 100) break;
  }
  return search.Best();
}

TEST(RateSearch, ComesWithinTwoPercent) {
  for (const double first : {1e-3, 40.0, 1000.0, 1e6}) {
    for (const double share : {0.04, 0.3, 0.999, 1.0, 1.5, 20.0}) {
      const double most = first * share;
      if (most < 1e-3 || most > 1e6) continue;
      int trials = 0;
      const std::optional<double> best = Find(first, most, &trials);
      ASSERT_TRUE(best.has_value()) << first << " " << most;
      EXPECT_LE(*best, most);
      EXPECT_GE(*best * 1.021, most) << first << " " << most;
      EXPECT_LE(trials, 32);
    }
  }
}

TEST(RateSearch, EndsWhereNothingIsMetOrAllIs) {
  int trials = 0;
  EXPECT_FALSE(Find(1000, 0, &trials).has_value());
  EXPECT_LE(trials, 7);
  EXPECT_EQ(Find(500'000, 1e9, &trials), 1e6);
  EXPECT_LE(trials, 7);
  EXPECT_EQ(Find(1, 1e9, &trials), 64);
}

v1::Scenario ServerScenario(int64_t qps_millis, int64_t bound_ns) {
  v1::BenchmarkSpec spec;
  spec.mutable_scenario()->set_kind(v1::Scenario::SERVER);
  spec.mutable_scenario()->set_qps_millis(qps_millis);
  spec.mutable_scenario()->set_latency_bound_ns(bound_ns);
  return WithDefaults(spec, 1);
}

// Calls take a millisecond, in made-up time.
absl::StatusOr<v1::BenchmarkResult> Take(const v1::Scenario& scenario, int samples) {
  FakePacer pacer;
  Instances instances({[&] {
    pacer.Work(1'000'000);
    return absl::OkStatus();
  }});
  v1::BenchmarkResult result;
  const absl::Status taken = TakeScenario(
      instances, {.scenario = scenario, .warmup = 2, .samples = samples, .seed = 4}, pacer, result);
  if (!taken.ok()) return taken;
  return result;
}

TEST(TakeScenario, SaysWhetherTheBoundIsMet) {
  ASSERT_OK_AND_ASSIGN(const v1::BenchmarkResult slow, Take(ServerScenario(300'000, 8e6), 5000));
  EXPECT_EQ(slow.samples_ns_size(), 5000);
  EXPECT_EQ(slow.iterations_per_sample(), 1);
  EXPECT_THAT(slow.samples_ns(), Each(Ge(1'000'000)));
  EXPECT_EQ(slow.scenario().verdict(), v1::ScenarioResult::MET);
  EXPECT_EQ(slow.scenario().calls(), 5000);
  EXPECT_EQ(slow.scenario().scenario().percentile_ppm(), 990'000);
  ASSERT_OK_AND_ASSIGN(const v1::BenchmarkResult tight, Take(ServerScenario(300'000, 1.1e6), 5000));
  EXPECT_EQ(tight.scenario().verdict(), v1::ScenarioResult::MISSED);
  // More than the instance can do: the line grows for as long as it lasts, and no bound is met.
  ASSERT_OK_AND_ASSIGN(const v1::BenchmarkResult flood, Take(ServerScenario(2'000'000, 8e6), 5000));
  EXPECT_NE(flood.scenario().verdict(), v1::ScenarioResult::MET);
  EXPECT_GT(flood.samples_ns(4999), 1'000'000'000);
  ASSERT_OK_AND_ASSIGN(const v1::BenchmarkResult few, Take(ServerScenario(300'000, 8e6), 50));
  EXPECT_EQ(few.scenario().verdict(), v1::ScenarioResult::UNDECIDED);
  ASSERT_OK_AND_ASSIGN(const v1::BenchmarkResult free, Take(ServerScenario(300'000, 0), 50));
  EXPECT_EQ(free.scenario().verdict(), v1::ScenarioResult::VERDICT_UNSPECIFIED);
}

TEST(TakeScenario, FindsTheHighestRateThatMeetsTheBound) {
  v1::Scenario scenario = ServerScenario(0, 5'000'000);
  scenario.set_find_qps(true);
  ASSERT_OK_AND_ASSIGN(const v1::BenchmarkResult found, Take(scenario, 5000));
  EXPECT_EQ(found.scenario().verdict(), v1::ScenarioResult::MET);
  const int64_t best = found.scenario().scenario().qps_millis();
  // With deterministic service of 1 ms a p99 of 5 ms is reached at a load of about 0.6.
  EXPECT_GT(best, 400'000);
  EXPECT_LT(best, 750'000);
  EXPECT_EQ(found.samples_ns_size(), 5000);
  int64_t met = 0;
  for (const auto& trial : found.scenario().trials()) {
    if (trial.verdict() == v1::ScenarioResult::MET) met = std::max(met, trial.qps_millis());
  }
  EXPECT_EQ(met, best);
  // The call alone takes longer than that.
  scenario.set_latency_bound_ns(900'000);
  ASSERT_OK_AND_ASSIGN(const v1::BenchmarkResult none, Take(scenario, 2000));
  EXPECT_EQ(none.scenario().verdict(), v1::ScenarioResult::MISSED);
  EXPECT_EQ(none.samples_ns_size(), 2000);
  EXPECT_THAT(none.scenario().trials_size(), Le(7));
}

TEST(TakeScenario, TakesManyCallsAtOnce) {
  v1::BenchmarkSpec spec;
  spec.mutable_scenario()->set_kind(v1::Scenario::MULTI_STREAM);
  std::atomic<int> calls{0};
  Instances instances(std::vector<Instances::Call>(2, [&] {
    ++calls;
    return absl::OkStatus();
  }));
  SystemPacer pacer;
  v1::BenchmarkResult result;
  ASSERT_OK(TakeScenario(instances, {.scenario = WithDefaults(spec, 2), .warmup = 1, .samples = 6},
                         pacer, result));
  EXPECT_EQ(calls, 7 * 8);
  EXPECT_EQ(result.samples_ns_size(), 6);
  EXPECT_EQ(result.iterations_per_sample(), 1);
  EXPECT_EQ(result.scenario().calls(), 48);
  EXPECT_EQ(result.scenario().scenario().calls_per_query(), 8);

  spec.mutable_scenario()->set_kind(v1::Scenario::OFFLINE);
  v1::BenchmarkResult offline;
  ASSERT_OK(TakeScenario(instances, {.scenario = WithDefaults(spec, 2), .warmup = 1, .samples = 6},
                         pacer, offline));
  EXPECT_EQ(offline.samples_ns_size(), 6);
  EXPECT_GT(offline.iterations_per_sample(), 100);
  EXPECT_EQ(offline.scenario().calls(), 6 * offline.iterations_per_sample());
  EXPECT_TRUE(std::is_sorted(offline.samples_ns().begin(), offline.samples_ns().end()));
}

}  // namespace
}  // namespace slipway
