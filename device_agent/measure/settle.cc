#include "device_agent/measure/settle.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr int64_t kDefaultLongestNs = 60'000'000'000;
constexpr int64_t kStillNs = 2'000'000'000;
constexpr int64_t kBetweenReadingsNs = 100'000'000;
constexpr double kFrequencyShare = 0.02;
constexpr int64_t kTemperatureRange = 1'000;

int64_t LongestNs(const v1::Settling& settling) {
  return settling.longest_ns() > 0 ? settling.longest_ns() : kDefaultLongestNs;
}

// Of all that tell; 0 where none does.
int64_t HottestOf(const v1::MachineState& state) {
  int64_t hottest = state.temperature_millicelsius();
  for (const v1::AcceleratorState& accelerator : state.accelerators()) {
    hottest = std::max(hottest, accelerator.temperature_millicelsius());
  }
  return hottest;
}

bool HasSlowedDown(const v1::MachineState& state) {
  return absl::c_any_of(state.accelerators(), [](const v1::AcceleratorState& accelerator) {
    return accelerator.throttled();
  });
}

bool TellsFrequency(const v1::MachineState& state) {
  return state.cpu_frequency_hz() > 0 ||
         absl::c_any_of(state.accelerators(), [](const v1::AcceleratorState& accelerator) {
           return accelerator.clock_hz() > 0;
         });
}

}  // namespace

void SteadyRule::Add(int64_t now_ns, const v1::MachineState& state) {
  Reading reading{now_ns, {{state.cpu_frequency_hz(), state.temperature_millicelsius()}}};
  for (const v1::AcceleratorState& accelerator : state.accelerators()) {
    reading.sensors.push_back({accelerator.clock_hz(), accelerator.temperature_millicelsius()});
  }
  readings_.push_back(std::move(reading));
  while (readings_.size() > 1 && readings_[1].at_ns <= now_ns - kStillNs) readings_.pop_front();
}

bool SteadyRule::IsSteady() const {
  if (readings_.empty() || readings_.back().at_ns - readings_.front().at_ns < kStillNs)
    return false;
  bool is_known = false;
  for (size_t i = 0; i < readings_.front().sensors.size(); ++i) {
    Sensor least = readings_.front().sensors[i];
    Sensor most = least;
    for (const Reading& reading : readings_) {
      if (i >= reading.sensors.size()) return false;
      const Sensor& sensor = reading.sensors[i];
      least.frequency_hz = std::min(least.frequency_hz, sensor.frequency_hz);
      most.frequency_hz = std::max(most.frequency_hz, sensor.frequency_hz);
      least.temperature = std::min(least.temperature, sensor.temperature);
      most.temperature = std::max(most.temperature, sensor.temperature);
    }
    is_known = is_known || most.frequency_hz != 0 || most.temperature != 0;
    if (static_cast<double>(most.frequency_hz - least.frequency_hz) >
            static_cast<double>(most.frequency_hz) * kFrequencyShare ||
        most.temperature - least.temperature > kTemperatureRange) {
      return false;
    }
  }
  return is_known;
}

void CoolDown(const v1::Settling& settling, const ReadState& read, Pacer& pacer,
              v1::Settled& settled) {
  if (settling.cool_down_millicelsius() == 0) return;
  const int64_t begin = pacer.NowNs();
  while (true) {
    const v1::MachineState state = read();
    const int64_t temperature = HottestOf(state);
    const int64_t now = pacer.NowNs();
    settled.set_cooled_ns(now - begin);
    if (temperature == 0) return;
    settled.set_is_cool(temperature <= settling.cool_down_millicelsius() && !HasSlowedDown(state));
    if (settled.is_cool() || now - begin >= LongestNs(settling)) return;
    pacer.WaitUntil(now + kBetweenReadingsNs);
  }
}

absl::Status Steady(const v1::Settling& settling, absl::FunctionRef<absl::Status()> call,
                    const ReadState& read, Pacer& pacer, v1::Settled& settled) {
  const int64_t begin = pacer.NowNs();
  SteadyRule rule;
  int64_t next = begin;
  while (settling.until_steady()) {
    const int64_t now = pacer.NowNs();
    if (now >= next) {
      const v1::MachineState state = read();
      rule.Add(now, state);
      next = now + kBetweenReadingsNs;
      settled.set_steadied_ns(now - begin);
      settled.set_is_steady(rule.IsSteady());
      const bool is_known = TellsFrequency(state) || HottestOf(state) > 0;
      if (settled.is_steady() || !is_known || now - begin >= LongestNs(settling)) break;
    }
    SLIPWAY_RETURN_IF_ERROR(call());
  }
  settled.set_temperature_millicelsius(static_cast<int32_t>(HottestOf(read())));
  return absl::OkStatus();
}

}  // namespace slipway
