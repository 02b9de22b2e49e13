// How many jobs a server accepts in a second, durably, and how long each of its clients waits for that.
#ifndef SLIPWAY_TESTS_BENCH_GRPC_ACCEPT_RATE_H_
#define SLIPWAY_TESTS_BENCH_GRPC_ACCEPT_RATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/digest.h"

namespace slipway::bench {

struct AcceptRate {
  double per_second = 0;
  // From a client's call to its answer.
  absl::Duration p50;
  absl::Duration p99;
};

// Lets `clients`, each with a connection of its own, create `jobs` runs of a program in all, each as soon as it has
// the answer to the one before. The server at `address` has the program's blobs, and room in its queue.
absl::StatusOr<AcceptRate> MeasureAccepts(const std::string& address, const Digest& program,
                                          int clients, int jobs);

}  // namespace slipway::bench

#endif  // SLIPWAY_TESTS_BENCH_GRPC_ACCEPT_RATE_H_
