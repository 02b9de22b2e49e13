// SimulatedMachine: how long calls of two programs take on a machine that others use, too. Time is simulated.
#ifndef SLIPWAY_TESTS_LOAD_SIMULATED_MACHINE_H_
#define SLIPWAY_TESTS_LOAD_SIMULATED_MACHINE_H_

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/comparison.h"
#include "client/types.h"
#include "tests/common/fake_clock.h"

namespace slipway::testing {

// What a machine does to the times of calls. Shares are of the time of an undisturbed call, durations in seconds.
struct MachineNoise {
  double drift_a_minute = 0;  // It becomes warm, say, or cools down.
  double wave = 0;            // Up and down,
  double wave_seconds = 10;   // once in this time.
  double slow_mode = 0;       // A second clock rate, and how long it keeps to either.
  double mode_seconds = 1;
  double neighbours_a_second = 0;  // Others come,
  double neighbour_seconds = 0.1;  // stay for about so long,
  double neighbour_share = 0;      // and cost up to so much each.
  double jitter = 0.01;            // Of each sample, standard deviation.
  double spikes = 0;               // Share of samples that take longer by an exponential share,
  double spike = 0.5;              // this one in the mean.
  double placement = 0.01;         // Of each load of a program, for as long as it is loaded.
  double first_loaded = 0;         // What it costs to be loaded first.
  double bad_loads = 0;            // Share of loads that get pages of a worse kind,
  double bad_load = 0;             // and what that costs as long as it is loaded.
};

// Machines from idle and steady to those where others always work.
MachineNoise RandomNoise(std::mt19937_64& random);

// Not thread-safe.
class SimulatedMachine {
 public:
  // A call of A takes `call_ns` undisturbed, one of B `ratio` times as long.
  SimulatedMachine(uint64_t seed, const MachineNoise& noise, double call_ns, double ratio);

  // As TimeBlocks wants it; samples last 1 ms at least.
  absl::StatusOr<std::vector<BenchmarkResult>> Time(absl::Span<const Side> order, int samples);
  const Clock& clock() const { return clock_; }
  // Others go on meanwhile.
  void Wait(absl::Duration time) { clock_.Advance(time); }

 private:
  double Seconds() const { return absl::ToDoubleSeconds(clock_.Monotonic()); }
  double Normal() { return normal_(random_); }
  double Exponential(double mean) { return std::exponential_distribution<>(1 / mean)(random_); }
  double Share() { return std::uniform_real_distribution<>(0, 1)(random_); }
  // By how much the machine is slower now.
  double Slowness();
  int64_t SampleNs(double undisturbed_ns);

  struct Neighbour {
    double until = 0;
    double cost = 0;
  };

  const MachineNoise noise_;
  const std::array<double, 2> call_ns_;  // Of A and B.
  FakeClock clock_;
  std::mt19937_64 random_;
  std::normal_distribution<> normal_;
  double phase_ = 0;
  bool is_slow_ = false;
  double next_mode_ = 0;
  double next_neighbour_ = 0;
  std::vector<Neighbour> neighbours_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_SIMULATED_MACHINE_H_
