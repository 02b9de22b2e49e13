// SimulatedDevice: what benchmarks give on a machine over weeks, in which days differ and others come and go. Time is
// simulated.
#ifndef SLIPWAY_TESTS_LOAD_SIMULATED_DEVICE_H_
#define SLIPWAY_TESTS_LOAD_SIMULATED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "absl/time/time.h"
#include "client/comparison.h"
#include "client/types.h"
#include "tests/load/simulated_machine.h"

namespace slipway::testing {

// What the weeks do to the times of calls, as shares of the time of an undisturbed one.
struct DeviceNoise {
  MachineNoise machine;      // Within seconds and minutes.
  double day = 0;            // Each day is another: standard deviation.
  double hours = 0;          // Within some hours it becomes another: standard deviation.
  double walk_a_day = 0;     // What stays of each day, summed up: standard deviation.
  double cycle = 0;          // Warm by day, cool by night.
  double tenants_a_day = 0;  // Others move in,
  double tenant_hours = 1;   // stay for about so long,
  double tenant_share = 0;   // and cost up to so much each.
  double clock_change =
      0;  // Once in the time it is set to another clock rate, which costs or brings so much.
};

// Of any kind, from one that is used for nothing else (`severity` 0.1, say) to one that is never quiet (1).
DeviceNoise RandomDeviceNoise(std::mt19937_64& random, double severity);

// Not thread-safe. Times are in days from the beginning.
class SimulatedDevice {
 public:
  // A call of the baseline takes `call_ns` undisturbed, one of the candidate `ratio` times as long.
  SimulatedDevice(uint64_t seed, const DeviceNoise& noise, double days, double call_ns,
                  double ratio);

  // A benchmark of 100 samples, of A, the baseline, or B, the candidate.
  BenchmarkResult Benchmark(double day, Side side);
  // Both in turns. Adds what it takes on the device to `seconds`.
  absl::StatusOr<Comparison> Compare(double day, double margin, double& seconds);

 private:
  std::unique_ptr<SimulatedMachine> Machine(double day);
  double Normal() { return std::normal_distribution<>()(random_); }
  double Share() { return std::uniform_real_distribution<>(0, 1)(random_); }
  double Exponential(double mean) { return std::exponential_distribution<>(1 / mean)(random_); }

  const DeviceNoise noise_;
  const double call_ns_;
  const double ratio_;
  std::mt19937_64 random_;
  std::vector<double> slowness_;  // Of each quarter of an hour.
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_SIMULATED_DEVICE_H_
