#include "tests/load/simulated_device.h"

#include <algorithm>
#include <cmath>

namespace slipway::testing {
namespace {

constexpr int kQuartersADay = 96;
constexpr double kTwoPi = 6.283185307179586;
// How fast the hours forget: what is left after a quarter of an hour.
constexpr double kKeep = 0.92;

MachineNoise Scaled(MachineNoise noise, double severity) {
  for (double* share :
       {&noise.drift_a_minute, &noise.wave, &noise.slow_mode, &noise.neighbour_share, &noise.jitter,
        &noise.spikes, &noise.placement, &noise.first_loaded, &noise.bad_load}) {
    *share *= severity;
  }
  return noise;
}

}  // namespace

DeviceNoise RandomDeviceNoise(std::mt19937_64& random, double severity) {
  const auto between = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  const auto of_any_size = [&](double least, double most) {
    return std::exp(between(std::log(least), std::log(most)));
  };
  const auto perhaps = [&] { return between(0, 1) < 0.5; };
  DeviceNoise noise;
  noise.machine = RandomNoise(random);
  noise.machine.bad_loads = perhaps() ? between(0, 0.1) : 0;
  noise.machine.bad_load = between(0, 0.1);
  noise.machine = Scaled(noise.machine, severity);
  noise.day = severity * of_any_size(0.002, 0.02);
  noise.hours = severity * of_any_size(0.001, 0.01);
  noise.walk_a_day = perhaps() ? severity * between(0, 0.005) : 0;
  noise.cycle = perhaps() ? severity * between(0, 0.02) : 0;
  noise.tenants_a_day = perhaps() ? of_any_size(0.1, 2) : 0;
  noise.tenant_hours = of_any_size(0.5, 12);
  noise.tenant_share = severity * between(0.02, 0.3);
  noise.clock_change = perhaps() ? severity * between(-0.05, 0.05) : 0;
  return noise;
}

SimulatedDevice::SimulatedDevice(uint64_t seed, const DeviceNoise& noise, double days,
                                 double call_ns, double ratio)
    : noise_(noise), call_ns_(call_ns), ratio_(ratio), random_(seed) {
  const auto quarters = static_cast<size_t>(days * kQuartersADay) + 1;
  const double phase = Share();
  const double clock_change = Share() * static_cast<double>(quarters);
  double day = 0;
  double hours = Normal();
  double walk = 0;
  for (size_t i = 0; i < quarters; ++i) {
    if (i % kQuartersADay == 0) {
      day = noise.day * Normal();
      walk += noise.walk_a_day * Normal();
    }
    hours = kKeep * hours + std::sqrt(1 - kKeep * kKeep) * Normal();
    const auto now = static_cast<double>(i);
    double slowness = std::exp(day + walk + noise.hours * hours) *
                      (1 + noise.cycle * std::sin(kTwoPi * (phase + now / kQuartersADay)));
    if (now >= clock_change) slowness *= 1 + noise.clock_change;
    slowness_.push_back(slowness);
  }
  if (noise.tenants_a_day <= 0) return;
  for (double at = Exponential(1 / noise.tenants_a_day); at < days;
       at += Exponential(1 / noise.tenants_a_day)) {
    const double until = at + Exponential(noise.tenant_hours) / 24;
    const double cost = noise.tenant_share * Share();
    for (auto i = static_cast<size_t>(at * kQuartersADay);
         i < slowness_.size() && static_cast<double>(i) < until * kQuartersADay; ++i) {
      slowness_[i] *= 1 + cost;
    }
  }
}

std::unique_ptr<SimulatedMachine> SimulatedDevice::Machine(double day) {
  const auto quarter = std::min(static_cast<size_t>(day * kQuartersADay), slowness_.size() - 1);
  auto machine = std::make_unique<SimulatedMachine>(random_(), noise_.machine,
                                                    call_ns_ * slowness_[quarter], ratio_);
  // So that neighbours may be there already.
  machine->Wait(absl::Seconds(10 * Share()));
  return machine;
}

BenchmarkResult SimulatedDevice::Benchmark(double day, Side side) {
  return Machine(day)->Time({side}, 100)->front();
}

absl::StatusOr<Comparison> SimulatedDevice::Compare(double day, double margin, double& seconds) {
  const std::unique_ptr<SimulatedMachine> machine = Machine(day);
  const absl::Duration begin = machine->clock().Monotonic();
  const absl::StatusOr<Comparison> comparison = ComparePrograms(
      [&](absl::Span<const Side> order, int samples) { return machine->Time(order, samples); },
      {.margin = margin}, machine->clock());
  seconds += absl::ToDoubleSeconds(machine->clock().Monotonic() - begin);
  return comparison;
}

}  // namespace slipway::testing
