#include "core/target/arithmetic_peaks.h"

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"
#include "core/target/on_threads.h"
#include "core/target/peak_tables.h"
#include "core/target/sum_loops.h"
#include "core/target/target.h"

namespace slipway {
namespace {

constexpr int64_t kRounds = 20'000;

#define SLIPWAY_FUNCTION(function, type, is_run_by, operations) function,
constexpr void (*kFunctions[])(int64_t rounds) = {SLIPWAY_OWN_LOOPS(SLIPWAY_FUNCTION)};

double MeasureOne(const SumLoop& loop, const Clock& clock, absl::Duration duration) {
  const absl::Duration end = clock.Monotonic() + duration;
  double best = 0;
  do {
    const absl::Duration start = clock.Monotonic();
    kFunctions[loop.number](kRounds);
    const double seconds = absl::ToDoubleSeconds(clock.Monotonic() - start);
    if (seconds > 0)
      best = std::max(best, 1.0 * static_cast<double>(loop.operations) * kRounds / seconds);
  } while (clock.Monotonic() < end);
  return best;
}

}  // namespace

std::vector<std::string> MeasuredTypes() {
  std::vector<std::string> types;
  for (const SumLoop& loop : SumLoopsFor(HostTarget().host())) types.emplace_back(loop.type);
  return types;
}

double MeasureArithmetic(absl::string_view type, int threads, const Clock& clock,
                         absl::Duration duration) {
  const std::vector<SumLoop> loops = SumLoopsFor(HostTarget().host());
  const auto loop = std::find_if(loops.begin(), loops.end(),
                                 [type](const SumLoop& one) { return one.type == type; });
  SLIPWAY_CHECK(loop != loops.end(), "a type that this machine has no instructions for");
  std::vector<double> rates(static_cast<size_t>(threads));
  OnThreads(threads, [&](int i) { rates[i] = MeasureOne(*loop, clock, duration); });
  double together = 0;
  for (const double rate : rates) together += rate;
  return together;
}

}  // namespace slipway
