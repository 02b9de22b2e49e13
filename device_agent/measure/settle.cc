#include "device_agent/measure/settle.h"

#include <algorithm>

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

}  // namespace

void SteadyRule::Add(int64_t now_ns, const v1::MachineState& state) {
  readings_.push_back({now_ns, state.cpu_frequency_hz(), state.temperature_millicelsius()});
  while (readings_.size() > 1 && readings_[1].at_ns <= now_ns - kStillNs) readings_.pop_front();
}

bool SteadyRule::IsSteady() const {
  if (readings_.empty() || readings_.back().at_ns - readings_.front().at_ns < kStillNs)
    return false;
  Reading least = readings_.front();
  Reading most = readings_.front();
  for (const Reading& reading : readings_) {
    least.frequency_hz = std::min(least.frequency_hz, reading.frequency_hz);
    most.frequency_hz = std::max(most.frequency_hz, reading.frequency_hz);
    least.temperature = std::min(least.temperature, reading.temperature);
    most.temperature = std::max(most.temperature, reading.temperature);
  }
  if (most.frequency_hz == 0 && most.temperature == 0) return false;
  return static_cast<double>(most.frequency_hz - least.frequency_hz) <=
             static_cast<double>(most.frequency_hz) * kFrequencyShare &&
         most.temperature - least.temperature <= kTemperatureRange;
}

void CoolDown(const v1::Settling& settling, const ReadState& read, Pacer& pacer,
              v1::Settled& settled) {
  if (settling.cool_down_millicelsius() == 0) return;
  const int64_t begin = pacer.NowNs();
  while (true) {
    const int64_t temperature = read().temperature_millicelsius();
    const int64_t now = pacer.NowNs();
    settled.set_cooled_ns(now - begin);
    if (temperature == 0) return;
    settled.set_is_cool(temperature <= settling.cool_down_millicelsius());
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
      const bool is_known = state.cpu_frequency_hz() > 0 || state.temperature_millicelsius() > 0;
      if (settled.is_steady() || !is_known || now - begin >= LongestNs(settling)) break;
    }
    SLIPWAY_RETURN_IF_ERROR(call());
  }
  settled.set_temperature_millicelsius(static_cast<int32_t>(read().temperature_millicelsius()));
  return absl::OkStatus();
}

}  // namespace slipway
