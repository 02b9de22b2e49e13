// The most multiply-adds that one core does, measured: what kernels are compared with.
#ifndef SLIPWAY_TESTS_BENCH_FMA_PEAK_H_
#define SLIPWAY_TESTS_BENCH_FMA_PEAK_H_

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace slipway::bench {

// Floating-point operations a second (a multiply-add counts as two) of f32 in the widest vectors this
// machine has, from registers alone, on the calling thread: the best of several short measurements within
// `duration`.
double MeasureFmaPeak(const Clock& clock, absl::Duration duration);

}  // namespace slipway::bench

#endif  // SLIPWAY_TESTS_BENCH_FMA_PEAK_H_
