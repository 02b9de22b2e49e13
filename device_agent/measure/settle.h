// Settling: waiting for a machine that is cool enough, or holds still.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_SETTLE_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_SETTLE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "device_agent/measure/pacer.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// Whether frequencies and temperatures, of the processor and of each accelerator, have held still over the last 2 s: a frequency within 2 %, a temperature within 1
// degree. What is unknown (0) is not looked at; where all are it never does. Pure.
class SteadyRule {
 public:
  void Add(int64_t now_ns, const v1::MachineState& state);
  bool IsSteady() const;

 private:
  struct Sensor {
    int64_t frequency_hz;
    int64_t temperature;
  };
  struct Reading {
    int64_t at_ns;
    std::vector<Sensor>
        sensors;  // The processor's, and those of the state's accelerators, always of as many.
  };
  std::deque<Reading> readings_;  // Of the last 2 s, and one before.
};

// The machine's, with the accelerators to wait for, always the same ones.
using ReadState = std::function<v1::MachineState()>;

// Waits until no thermal zone and no accelerator is hotter than settling.cool_down_millicelsius, and none of these is slowed down, if it is to. Sets cooled_ns and is_cool.
void CoolDown(const v1::Settling& settling, const ReadState& read, Pacer& pacer,
              v1::Settled& settled);

// Calls until machine and accelerators hold still, if it is to. Sets steadied_ns, is_steady and the highest temperature of all. Errors of `call`. An accelerator may be slowed down by what it
// may draw for as long as it is called: that is no reason to wait here.
absl::Status Steady(const v1::Settling& settling, absl::FunctionRef<absl::Status()> call,
                    const ReadState& read, Pacer& pacer, v1::Settled& settled);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_SETTLE_H_
