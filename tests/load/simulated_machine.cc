#include "tests/load/simulated_machine.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slipway::testing {
namespace {

constexpr double kMinSampleNs = 1e6;
constexpr double kLoadSeconds = 0.002;
constexpr double kTwoPi = 6.283185307179586;

}  // namespace

MachineNoise RandomNoise(std::mt19937_64& random) {
  const auto between = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  const auto of_any_size = [&](double least, double most) {
    return std::exp(between(std::log(least), std::log(most)));
  };
  const auto perhaps = [&] { return between(0, 1) < 0.5; };
  MachineNoise noise;
  noise.drift_a_minute = between(-0.1, 0.1);
  noise.wave = perhaps() ? between(0, 0.05) : 0;
  noise.wave_seconds = of_any_size(0.1, 60);
  noise.slow_mode = perhaps() ? between(0.02, 0.25) : 0;
  noise.mode_seconds = of_any_size(0.02, 20);
  noise.neighbours_a_second = perhaps() ? of_any_size(0.05, 5) : 0;
  noise.neighbour_seconds = of_any_size(0.005, 1);
  noise.neighbour_share = between(0.05, 1);
  noise.jitter = of_any_size(0.002, 0.03);
  noise.spikes = perhaps() ? between(0, 0.05) : 0;
  noise.spike = of_any_size(0.05, 2);
  noise.placement = of_any_size(0.002, 0.015);
  noise.first_loaded = between(-0.01, 0.01);
  return noise;
}

SimulatedMachine::SimulatedMachine(uint64_t seed, const MachineNoise& noise, double call_ns,
                                   double ratio)
    : noise_(noise), call_ns_{call_ns, call_ns * ratio}, random_(seed) {
  phase_ = Share();
  next_mode_ = Exponential(noise.mode_seconds);
  if (noise.neighbours_a_second > 0) next_neighbour_ = Exponential(1 / noise.neighbours_a_second);
}

double SimulatedMachine::Slowness() {
  const double now = Seconds();
  while (next_mode_ <= now) {
    is_slow_ = !is_slow_;
    next_mode_ += Exponential(noise_.mode_seconds);
  }
  while (noise_.neighbours_a_second > 0 && next_neighbour_ <= now) {
    neighbours_.push_back({next_neighbour_ + Exponential(noise_.neighbour_seconds),
                           noise_.neighbour_share * Share()});
    next_neighbour_ += Exponential(1 / noise_.neighbours_a_second);
  }
  std::erase_if(neighbours_, [&](const Neighbour& other) { return other.until <= now; });
  double slowness = 1 + noise_.drift_a_minute * now / 60 +
                    noise_.wave * std::sin(kTwoPi * (phase_ + now / noise_.wave_seconds));
  if (is_slow_) slowness *= 1 + noise_.slow_mode;
  for (const Neighbour& other : neighbours_) slowness *= 1 + other.cost;
  return slowness;
}

int64_t SimulatedMachine::SampleNs(double undisturbed_ns) {
  double ns = undisturbed_ns * Slowness() * std::exp(noise_.jitter * Normal());
  if (Share() < noise_.spikes) ns *= 1 + Exponential(noise_.spike);
  clock_.Advance(absl::Nanoseconds(ns));
  return std::max<int64_t>(1, std::llround(ns));
}

absl::StatusOr<std::vector<BenchmarkResult>> SimulatedMachine::Time(absl::Span<const Side> order,
                                                                    int samples) {
  std::array<double, 2> placements;
  for (double& placement : placements) {
    placement = 1 + noise_.placement * Normal();
    if (noise_.bad_loads > 0 && Share() < noise_.bad_loads) placement *= 1 + noise_.bad_load;
  }
  placements[order[0] == Side::kB] *= 1 + noise_.first_loaded;
  clock_.Advance(absl::Seconds(2 * kLoadSeconds));
  std::vector<BenchmarkResult> blocks;
  for (const Side side : order) {
    const double call_ns = call_ns_[side == Side::kB] * placements[side == Side::kB];
    BenchmarkResult& block = blocks.emplace_back();
    block.iterations_per_sample = static_cast<int64_t>(std::ceil(kMinSampleNs / call_ns));
    const double sample_ns = call_ns * static_cast<double>(block.iterations_per_sample);
    // What is dropped: calls until their number is known, and the warm-up.
    for (int i = 0; i < 2; ++i) SampleNs(sample_ns);
    for (int i = 0; i < samples; ++i) block.samples_ns.push_back(SampleNs(sample_ns));
  }
  return blocks;
}

}  // namespace slipway::testing
