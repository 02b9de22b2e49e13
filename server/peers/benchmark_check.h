// Whether a benchmark's result can be true, as far as that can be told from here: numbers of a peer are kept for long, and compared.
#ifndef SLIPWAY_SERVER_PEERS_BENCHMARK_CHECK_H_
#define SLIPWAY_SERVER_PEERS_BENCHMARK_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway::server {

// INVALID_ARGUMENT, saying what cannot be, for a result without samples, with more than `most_samples` of them or with one that took no
// time, for samples that took longer together than a job may, and for what is negative and cannot be.
absl::Status CheckBenchmark(const v1::BenchmarkResult& result, int64_t most_samples);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_BENCHMARK_CHECK_H_
