#include "device_agent/measure/scenarios.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/statistics/bound.h"
#include "core/statistics/quantile.h"
#include "core/wire/benchmark_spec.h"
#include "device_agent/measure/rate_search.h"
#include "device_agent/measure/samples.h"
#include "device_agent/measure/stamps.h"

namespace slipway {
namespace {

// Threads are woken and stand ready when the first query comes.
constexpr int64_t kLeadNs = 2'000'000;
// Calls that tell how long one takes: the fastest of so many, or of those in this time.
constexpr int kProbes = 10;
constexpr int64_t kProbeNs = 200'000'000;

// A number of instances that work, as ThreadPool wants it.
struct EachInstance {
  absl::FunctionRef<absl::Status(size_t)> work;
  std::atomic<bool>& is_failed;
  absl::Mutex mutex;
  absl::Status first;
};

int32_t WorkOne(slipway_context* /*context*/, int32_t index, uint8_t* closure) {
  auto& each = *reinterpret_cast<EachInstance*>(closure);
  const absl::Status status = each.work(static_cast<size_t>(index));
  if (status.ok()) return 0;
  each.is_failed = true;
  absl::MutexLock lock(&each.mutex);
  each.first.Update(status);
  return 1;
}

double Qps(int64_t qps_millis) { return static_cast<double>(qps_millis) / 1e3; }

v1::ScenarioResult::Verdict ToProto(BoundVerdict verdict) {
  switch (verdict) {
    case BoundVerdict::kMet:
      return v1::ScenarioResult::MET;
    case BoundVerdict::kMissed:
      return v1::ScenarioResult::MISSED;
    case BoundVerdict::kUndecided:
      break;
  }
  return v1::ScenarioResult::UNDECIDED;
}

// One scenario from the first call to the result.
class Scene {
 public:
  Scene(Instances& instances, const ScenarioOptions& options, Pacer& pacer,
        v1::BenchmarkResult& result)
      : instances_(instances), options_(options), pacer_(pacer), result_(result) {}

  absl::Status Run() {
    *result_.mutable_scenario()->mutable_scenario() = options_.scenario;
    switch (options_.scenario.kind()) {
      case v1::Scenario::MULTI_STREAM:
        return MultiStream();
      case v1::Scenario::OFFLINE:
        return Offline();
      case v1::Scenario::SERVER:
        return options_.scenario.find_qps() ? FindQps() : Serve();
      default:
        return absl::InvalidArgumentError("no such scenario");
    }
  }

 private:
  absl::Status WarmUp() {
    return instances_.Each([this](size_t instance) {
      for (int i = 0; i < options_.warmup && !instances_.is_failed(); ++i) {
        SLIPWAY_RETURN_IF_ERROR(instances_.CallOne(instance));
      }
      return absl::OkStatus();
    });
  }

  // None where calls are on another machine.
  using Watch = std::optional<WatchingThread>;
  Watch BeginWatch() const {
    return options_.device_ns ? Watch() : Watch(std::in_place, options_.accelerators);
  }

  void Begin() { result_.set_start_time_ns(absl::ToUnixNanos(absl::Now())); }

  absl::Status MultiStream() {
    const int calls = options_.scenario.calls_per_query();
    const SampleOptions samples = {.warmup = options_.warmup,
                                   .samples = options_.samples,
                                   .single_calls = true,
                                   .device_ns = options_.device_ns,
                                   .accelerators = options_.accelerators,
                                   .precision_goal_ppm = options_.precision_goal_ppm};
    SLIPWAY_RETURN_IF_ERROR(
        TakeSamples([&] { return CallAtOnce(instances_, calls); }, samples, result_));
    v1::ScenarioResult& scenario = *result_.mutable_scenario();
    // Without what is done between queries, which come without a gap.
    int64_t in_samples = 0;
    for (const int64_t ns : result_.samples_ns()) in_samples += ns;
    scenario.set_duration_ns(in_samples);
    scenario.set_calls(int64_t{calls} * result_.samples_ns_size());
    return absl::OkStatus();
  }

  absl::Status Offline() {
    int64_t calls = 1;
    while (true) {
      const int64_t begin = pacer_.NowNs();
      for (int64_t i = 0; i < calls; ++i) SLIPWAY_RETURN_IF_ERROR(instances_.CallOne(0));
      const int64_t next = NextIterations(calls, pacer_.NowNs() - begin);
      if (next <= calls) break;
      calls = next;
    }
    result_.set_iterations_per_sample(calls);
    SLIPWAY_RETURN_IF_ERROR(WarmUp());
    Begin();
    Watch watch = BeginWatch();
    SLIPWAY_ASSIGN_OR_RETURN(const Queries queries,
                             CallOffline(instances_, options_.samples, calls, pacer_));
    if (watch.has_value()) watch->Finish(queries.moments_ns, result_);
    Keep(queries);
    return absl::OkStatus();
  }

  absl::Status Serve() {
    result_.set_iterations_per_sample(1);
    SLIPWAY_RETURN_IF_ERROR(WarmUp());
    Begin();
    SLIPWAY_ASSIGN_OR_RETURN(const Queries queries, Trial(options_.scenario.qps_millis(), result_));
    Keep(queries);
    result_.mutable_scenario()->set_verdict(Judge(queries).verdict());
    return absl::OkStatus();
  }

  // The rate at which all instances are busy.
  absl::StatusOr<double> Capacity() {
    int64_t fastest = INT64_MAX;
    const int64_t begin = pacer_.NowNs();
    for (int i = 0; i < kProbes && (i == 0 || pacer_.NowNs() - begin < kProbeNs); ++i) {
      const int64_t call = pacer_.NowNs();
      SLIPWAY_RETURN_IF_ERROR(instances_.CallOne(0));
      fastest = std::min(fastest, std::max<int64_t>(1, pacer_.NowNs() - call));
    }
    return static_cast<double>(instances_.size()) * 1e9 / static_cast<double>(fastest);
  }

  absl::Status FindQps() {
    result_.set_iterations_per_sample(1);
    SLIPWAY_RETURN_IF_ERROR(WarmUp());
    const double most = Qps(kMaxQpsMillis);
    double first = Qps(options_.scenario.qps_millis());
    if (first == 0) {
      SLIPWAY_ASSIGN_OR_RETURN(first, Capacity());
      first = std::clamp(first, 1e-3, most);
    }
    Begin();
    RateSearch search(first, 1e-3, most);
    std::optional<Kept> met;
    std::optional<Kept> lowest;
    while (const std::optional<double> rate = search.Next()) {
      const int64_t qps_millis = std::clamp<int64_t>(std::llround(*rate * 1e3), 1, kMaxQpsMillis);
      v1::BenchmarkResult watched;
      SLIPWAY_ASSIGN_OR_RETURN(Queries queries, Trial(qps_millis, watched));
      const v1::ScenarioResult::Trial trial = Judge(queries, qps_millis);
      *result_.mutable_scenario()->add_trials() = trial;
      const bool is_met = trial.verdict() == v1::ScenarioResult::MET;
      search.Tell(is_met);
      std::optional<Kept>& kept = is_met ? met : lowest;
      if (is_met || !kept.has_value() || qps_millis < kept->trial.qps_millis()) {
        kept = Kept{trial, std::move(queries), std::move(watched)};
      }
    }
    const Kept& kept = met.has_value() ? *met : *lowest;
    Keep(kept.queries);
    // What the machine did is that of the trial that counts.
    result_.MergeFrom(kept.watched);
    result_.mutable_scenario()->mutable_scenario()->set_qps_millis(kept.trial.qps_millis());
    result_.mutable_scenario()->set_verdict(kept.trial.verdict());
    return absl::OkStatus();
  }

  // `watched` gets what the machine did meanwhile.
  absl::StatusOr<Queries> Trial(int64_t qps_millis, v1::BenchmarkResult& watched) {
    Watch watch = BeginWatch();
    SLIPWAY_ASSIGN_OR_RETURN(Queries queries,
                             ServeQueries(instances_, options_.samples,
                                          PoissonArrivals(Qps(qps_millis), options_.seed), pacer_));
    if (watch.has_value()) watch->Finish(queries.moments_ns, watched);
    return queries;
  }

  v1::ScenarioResult::Trial Judge(const Queries& queries, int64_t qps_millis = 0) const {
    const v1::Scenario& scenario = options_.scenario;
    v1::ScenarioResult::Trial trial;
    trial.set_qps_millis(qps_millis);
    const std::vector<double> series(queries.latencies_ns.begin(), queries.latencies_ns.end());
    const Estimate latency = EstimateQuantile(series, scenario.percentile_ppm() / 1e6);
    trial.set_latency_ns(static_cast<int64_t>(latency.value));
    if (scenario.latency_bound_ns() > 0) {
      trial.set_verdict(
          ToProto(JudgeBound(latency, static_cast<double>(scenario.latency_bound_ns()))));
    }
    return trial;
  }

  void Keep(const Queries& queries) {
    result_.mutable_samples_ns()->Assign(queries.latencies_ns.begin(), queries.latencies_ns.end());
    v1::ScenarioResult& scenario = *result_.mutable_scenario();
    scenario.set_duration_ns(queries.duration_ns);
    scenario.set_calls(static_cast<int64_t>(queries.latencies_ns.size()) *
                       result_.iterations_per_sample());
  }

  struct Kept {
    v1::ScenarioResult::Trial trial;
    Queries queries;
    v1::BenchmarkResult watched;
  };

  Instances& instances_;
  const ScenarioOptions& options_;
  Pacer& pacer_;
  v1::BenchmarkResult& result_;
};

}  // namespace

Instances::Instances(std::vector<Call> calls)
    : calls_(std::move(calls)), threads_(static_cast<int>(calls_.size())) {
  SLIPWAY_CHECK(!calls_.empty(), "no instance");
}

absl::Status Instances::Each(absl::FunctionRef<absl::Status(size_t instance)> work) {
  EachInstance each{work, is_failed_, {}, {}};
  threads_.ParallelFor(nullptr, WorkOne, 0, static_cast<int32_t>(size()),
                       reinterpret_cast<uint8_t*>(&each));
  absl::MutexLock lock(&each.mutex);
  return each.first;
}

absl::Status CallAtOnce(Instances& instances, int calls) {
  std::atomic<int64_t> next{0};
  return instances.Each([&](size_t instance) {
    while (next.fetch_add(1, std::memory_order_relaxed) < calls && !instances.is_failed()) {
      SLIPWAY_RETURN_IF_ERROR(instances.CallOne(instance));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Queries> CallOffline(Instances& instances, int64_t groups, int64_t calls_per_group,
                                    Pacer& pacer) {
  Queries queries;
  queries.latencies_ns.resize(static_cast<size_t>(groups));
  std::atomic<int64_t> next{0};
  const int64_t begin = pacer.NowNs();
  SLIPWAY_RETURN_IF_ERROR(instances.Each([&](size_t instance) {
    while (!instances.is_failed()) {
      const int64_t group = next.fetch_add(1, std::memory_order_relaxed);
      if (group >= groups) break;
      for (int64_t i = 0; i < calls_per_group; ++i) {
        SLIPWAY_RETURN_IF_ERROR(instances.CallOne(instance));
      }
      queries.latencies_ns[static_cast<size_t>(group)] = pacer.NowNs() - begin;
    }
    return absl::OkStatus();
  }));
  std::sort(queries.latencies_ns.begin(), queries.latencies_ns.end());
  queries.duration_ns = queries.latencies_ns.back();
  for (const int64_t ns : queries.latencies_ns) queries.moments_ns.push_back(begin + ns);
  return queries;
}

absl::StatusOr<Queries> ServeQueries(Instances& instances, int64_t count, PoissonArrivals arrivals,
                                     Pacer& pacer) {
  Queries queries;
  queries.latencies_ns.resize(static_cast<size_t>(count));
  queries.moments_ns.resize(static_cast<size_t>(count));
  // Whoever holds it waits for the next query, which he takes; so queries are taken in their order, and one thread at most
  // looks at the clock.
  std::mutex taking;
  int64_t next = 0;
  const int64_t begin = pacer.NowNs() + kLeadNs;
  std::atomic<int64_t> last{begin};
  SLIPWAY_RETURN_IF_ERROR(instances.Each([&](size_t instance) {
    while (true) {
      int64_t query = 0;
      int64_t came = 0;
      {
        const std::lock_guard<std::mutex> lock(taking);
        if (next == count || instances.is_failed()) return absl::OkStatus();
        query = next++;
        came = begin + arrivals.Next();
        queries.moments_ns[static_cast<size_t>(query)] = came;
        pacer.WaitUntil(came);
      }
      SLIPWAY_RETURN_IF_ERROR(instances.CallOne(instance));
      const int64_t end = pacer.NowNs();
      queries.latencies_ns[static_cast<size_t>(query)] = end - came;
      int64_t latest = last.load(std::memory_order_relaxed);
      while (end > latest && !last.compare_exchange_weak(latest, end)) {
      }
    }
  }));
  queries.duration_ns = last - queries.moments_ns.front();
  return queries;
}

absl::Status TakeScenario(Instances& instances, const ScenarioOptions& options, Pacer& pacer,
                          v1::BenchmarkResult& result) {
  return Scene(instances, options, pacer, result).Run();
}

}  // namespace slipway
