// Many histories on simulated devices, and how often `slipway gate` is right about them.
#ifndef SLIPWAY_TESTS_LOAD_GATE_RUNS_H_
#define SLIPWAY_TESTS_LOAD_GATE_RUNS_H_

#include <cstdint>

namespace slipway::testing {

// A device on which little, something, and much happens: see RandomDeviceNoise.
struct DeviceKind {
  const char* name;
  double severity;
};
inline constexpr DeviceKind kDeviceKinds[] = {{"quiet", 0.1}, {"ordinary", 0.3}, {"restless", 1}};

// How often there was each verdict.
struct VerdictCounts {
  int64_t passed = 0;
  int64_t regressed = 0;
  int64_t undecided = 0;

  void operator+=(const VerdictCounts& other);
};

struct GateCounts {
  int64_t histories = 0;
  VerdictCounts
      gate;  // As `slipway gate` decides: by the history, or else by timing both in turns.
  VerdictCounts history;  // The history alone.
  VerdictCounts naive;    // The newest result against the median of the baseline's.
  int64_t in_turns = 0;   // Histories that were not enough,
  double turns_s = 0;     // and the seconds that timing both took on the device, together.

  void operator+=(const GateCounts& other);
};

// `histories` of 10 to 40 results of a baseline in 3 to 30 days, and then 1 to 10 of a candidate that takes `ratio` times
// as long, each on a device of its own of this kind. Results come one at a time or some together, and the candidate's within
// one hour or as far apart as the baseline's. The largest regression is 3 %.
GateCounts RunGates(uint64_t seed, int64_t histories, const DeviceKind& kind, double ratio);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_GATE_RUNS_H_
