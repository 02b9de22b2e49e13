// What a BenchmarkSpec may ask for, and what stands for what it leaves open: for the server that accepts it and the agent that
// measures. Pure and thread-safe.
#ifndef SLIPWAY_CORE_WIRE_BENCHMARK_SPEC_H_
#define SLIPWAY_CORE_WIRE_BENCHMARK_SPEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

// The version of benchmarks that this code knows, and the first one with scenarios and settling: AgentState.max_benchmark.
inline constexpr int kBenchmarkVersion = 1;

inline constexpr int kMaxSamples = 1'000'000;
inline constexpr int kMaxPrecisionGoalPpm = 1'000'000;
inline constexpr int kMaxInstances = 256;
inline constexpr int kMaxCallsPerQuery = 65'536;
inline constexpr int64_t kMaxQpsMillis = 1'000'000'000;

// INVALID_ARGUMENT names the field, what it is, and what it may be. RunSpec is looked at for its threads alone.
absl::Status CheckBenchmarkSpec(const v1::BenchmarkSpec& spec);

// The least version that an agent must know to do what is asked; 0: any does.
int BenchmarkVersionOf(const v1::BenchmarkSpec& spec);

// The scenario with defaults filled in, for a device with so many processors. REQUIRES: CheckBenchmarkSpec is OK,
// processors >= 1.
v1::Scenario WithDefaults(const v1::BenchmarkSpec& spec, int processors);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_BENCHMARK_SPEC_H_
