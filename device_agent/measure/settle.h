// Settling: waiting for a machine that is cool enough, or holds still.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_SETTLE_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_SETTLE_H_

#include <cstdint>
#include <deque>
#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "device_agent/measure/pacer.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// Whether frequency and temperature have held still over the last 2 s: the frequency within 2 %, the temperature within 1
// degree. What is unknown (0) is not looked at; where both are it never does. Pure.
class SteadyRule {
 public:
  void Add(int64_t now_ns, const v1::MachineState& state);
  bool IsSteady() const;

 private:
  struct Reading {
    int64_t at_ns;
    int64_t frequency_hz;
    int64_t temperature;
  };
  std::deque<Reading> readings_;  // Of the last 2 s, and one before.
};

using ReadState = std::function<v1::MachineState()>;

// Waits until no thermal zone is hotter than settling.cool_down_millicelsius, if it is to. Sets cooled_ns and is_cool.
void CoolDown(const v1::Settling& settling, const ReadState& read, Pacer& pacer,
              v1::Settled& settled);

// Calls until the machine holds still, if it is to. Sets steadied_ns, is_steady and the temperature. Errors of `call`.
absl::Status Steady(const v1::Settling& settling, absl::FunctionRef<absl::Status()> call,
                    const ReadState& read, Pacer& pacer, v1::Settled& settled);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_SETTLE_H_
