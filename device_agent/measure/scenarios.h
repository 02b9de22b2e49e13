// The scenarios in which calls do not simply follow each other: several at once, all at once, at random
// (v1.Scenario says what each is).
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_SCENARIOS_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_SCENARIOS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/runtime/thread_pool.h"
#include "device_agent/measure/accelerator_watch.h"
#include "device_agent/measure/arrivals.h"
#include "device_agent/measure/pacer.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// Instances of a program, each with a thread of its own. Not thread-safe.
class Instances {
 public:
  // Calls one instance; different ones are called at the same time.
  using Call = std::function<absl::Status()>;
  // REQUIRES: calls is not empty.
  explicit Instances(std::vector<Call> calls);

  size_t size() const { return calls_.size(); }
  absl::Status CallOne(size_t instance) const { return calls_[instance](); }

  // Does `work` once for each instance, at the same time, until all have ended. The first error; the others are to look at
  // `is_failed` before each call.
  absl::Status Each(absl::FunctionRef<absl::Status(size_t instance)> work);
  bool is_failed() const { return is_failed_; }

 private:
  const std::vector<Call> calls_;
  ThreadPool threads_;
  std::atomic<bool> is_failed_{false};
};

// So many calls, all at once.
absl::Status CallAtOnce(Instances& instances, int calls);

// What queries took.
struct Queries {
  std::vector<int64_t> latencies_ns;
  // When each came or, of groups, ended; on the pacer's clock.
  std::vector<int64_t> moments_ns;
  int64_t duration_ns = 0;  // From the first issue to the last end.
};

// All at once: groups of calls, each by one instance, from when all were issued to the end of each, in the order of the ends.
absl::StatusOr<Queries> CallOffline(Instances& instances, int64_t groups, int64_t calls_per_group,
                                    Pacer& pacer);

// Queries of one call that come as `arrivals` says; whichever instance is free takes the one that came first. A latency is from
// when the query came, also while all instances were busy, to its end; in the order in which they came.
absl::StatusOr<Queries> ServeQueries(Instances& instances, int64_t queries,
                                     PoissonArrivals arrivals, Pacer& pacer);

struct ScenarioOptions {
  v1::Scenario
      scenario;  // MULTI_STREAM, OFFLINE or SERVER, with defaults filled in (core/wire/benchmark_spec.h).
  int warmup = 10;
  int samples = 100;
  int64_t precision_goal_ppm = 0;  // Of MULTI_STREAM; see SampleOptions.
  uint64_t seed = 0;               // Of arrivals.
  // The clock of the machine that calls are on, where it is another one (SampleOptions.device_ns): that of MULTI_STREAM's samples. Queries that
  // come at their own times come by this machine's, and have the way there in them. Of what this one did meanwhile nothing is told.
  std::function<int64_t()> device_ns = {};
  // Looked at meanwhile (stamps.h); null: there are none.
  AcceleratorWatch* accelerators = nullptr;
};

// Sets samples, calls in each, when they began, what the machine did meanwhile (stamps.h), and the scenario's result.
// Errors of calls.
absl::Status TakeScenario(Instances& instances, const ScenarioOptions& options, Pacer& pacer,
                          v1::BenchmarkResult& result);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_SCENARIOS_H_
