#include "device_agent/attached/attached_state.h"

#include "absl/strings/escaping.h"
#include "core/base/utf8.h"

namespace slipway {
namespace {

constexpr uint64_t kMostFrequencyKhz = 100'000'000;
constexpr int64_t kColdest = -100'000;
constexpr int64_t kHottest = 300'000;
constexpr uint64_t kMostLoadMillis = 1'000'000'000;

}  // namespace

v1::MachineState StateOfAttached(const slipway_bare_state& state) {
  v1::MachineState machine;
  if (state.frequency_khz <= kMostFrequencyKhz) {
    machine.set_cpu_frequency_hz(static_cast<int64_t>(state.frequency_khz) * 1000);
  }
  if (state.temperature_millicelsius >= kColdest && state.temperature_millicelsius <= kHottest) {
    machine.set_temperature_millicelsius(state.temperature_millicelsius);
  }
  if (state.load_millis <= kMostLoadMillis) {
    machine.set_load_millis(static_cast<int64_t>(state.load_millis));
  }
  machine.set_governor(absl::Utf8SafeCEscape(ToUtf8(state.governor)));
  return machine;
}

}  // namespace slipway
