// StepOrder: which steps of a function have surely ended when another begins.
#ifndef SLIPWAY_CORE_ARTIFACT_STEP_ORDER_H_
#define SLIPWAY_CORE_ARTIFACT_STEP_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/artifact/limits.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Whether the step runs on the host when all steps before it have ended, and no later one begins before it has.
bool IsControlStep(const v1::Step& step);

// Happens-before by vector clocks (Mattern, "Virtual Time and Global States of Distributed Systems", 1989): a queue
// of a device is a process, an `after` edge a message, a control step a barrier. Immutable.
class StepOrder {
 public:
  // Checks devices, queues and `after` of the steps. INVALID_ARGUMENT names the step; RESOURCE_EXHAUSTED the limit.
  static absl::StatusOr<StepOrder> Of(const v1::Manifest& manifest, const v1::Function& function,
                                      const ReaderLimits& limits);

  // Whether step `earlier` has ended when `later` begins. REQUIRES: earlier < later.
  bool IsBefore(int earlier, int later) const;

  // Whether every step has ended before the next one begins.
  bool IsSequential() const { return lanes_ <= 1; }

 private:
  struct Place {
    uint32_t lane;      // Which of the queues in use.
    uint32_t position;  // Among the steps of that queue.
    int barrier;        // The last control step up to this one; -1 without one.
    // Where its clock begins: for each lane known by then, how many of its steps ended before.
    size_t clock;
    uint32_t clock_size;
  };

  void Add(int index, const v1::Step& step, uint32_t lane,
           std::vector<std::vector<uint32_t>>& lane_clocks);

  size_t lanes_ = 0;
  std::vector<Place> places_;
  std::vector<uint32_t> clocks_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_STEP_ORDER_H_
