// In what state the machine was while the samples of a benchmark were taken, and which of them not to count.
#ifndef SLIPWAY_CLIENT_SAMPLE_CONDITIONS_H_
#define SLIPWAY_CLIENT_SAMPLE_CONDITIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/types.h"

namespace slipway {

// By the stamps of a result. 0 and empty where nothing is known.
struct SampleConditions {
  int64_t samples = 0;    // That have stamps.
  int64_t disturbed = 0;  // Of them, while others took too much.
  // While the processor throttled for heat, an accelerator was slowed down, or the frequency of one of them was below 9/10 of its highest
  // meanwhile.
  int64_t throttled = 0;
  int64_t throttled_accelerators = 0;  // Of them, those for which it was an accelerator.
  int64_t least_hz = 0, most_hz = 0;
  int64_t least_millicelsius = 0, most_millicelsius = 0;
  std::vector<std::string> governors;  // Each once, in their order.
  struct Accelerator {
    std::string name;
    int64_t least_hz = 0, most_hz = 0;
    int64_t least_millicelsius = 0, most_millicelsius = 0;
    int64_t least_milliwatts = 0, most_milliwatts = 0;
  };
  std::vector<Accelerator> accelerators;  // That the program uses.
};
SampleConditions ConditionsOf(const BenchmarkResult& result);

// The same without the samples that were disturbed or throttled, as asked for. FAILED_PRECONDITION where the result has no
// stamps, or no sample would be left.
absl::StatusOr<BenchmarkResult> LeaveOut(const BenchmarkResult& result, bool disturbed,
                                         bool throttled);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SAMPLE_CONDITIONS_H_
