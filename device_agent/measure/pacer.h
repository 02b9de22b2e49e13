// Pacer: the clock that calls are timed by, and waiting for a moment of it.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_PACER_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_PACER_H_

#include <cstdint>

namespace slipway {

// Thread-safe.
class Pacer {
 public:
  virtual ~Pacer() = default;
  // Monotonic, nanoseconds.
  virtual int64_t NowNs() = 0;
  // Returns at that moment; at once when it has passed.
  virtual void WaitUntil(int64_t moment_ns) = 0;
};

// The machine's own. It sleeps until shortly before the moment and looks at the clock from then on, so that it is late by
// less than a microsecond.
class SystemPacer final : public Pacer {
 public:
  int64_t NowNs() override;
  void WaitUntil(int64_t moment_ns) override;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_PACER_H_
