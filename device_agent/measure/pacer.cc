#include "device_agent/measure/pacer.h"

#include "absl/time/clock.h"
#include "core/base/clock.h"

namespace slipway {
namespace {

// By which a sleep may end late: timer slack of 50 us, and waking up.
constexpr int64_t kSleepSlackNs = 150'000;

}  // namespace

int64_t SystemPacer::NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

void SystemPacer::WaitUntil(int64_t moment_ns) {
  int64_t left = moment_ns - NowNs();
  while (left > kSleepSlackNs) {
    absl::SleepFor(absl::Nanoseconds(left - kSleepSlackNs));
    left = moment_ns - NowNs();
  }
  while (NowNs() < moment_ns) {
  }
}

}  // namespace slipway
