// What gRPC itself costs between two processes of this machine, to measure others against: one call and its answer,
// and bytes streamed in messages of 1 MiB, as anybody would write them.
#ifndef SLIPWAY_TESTS_BENCH_GRPC_BARE_RATES_H_
#define SLIPWAY_TESTS_BENCH_GRPC_BARE_RATES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace slipway::bench {

// Serves until its parent ends; writes its address to the descriptor. Returns the process's exit code.
int ServeBareRates(int ready_fd);

// Not thread-safe.
class BareRates {
 public:
  // `address` of a process that serves them.
  static absl::StatusOr<std::unique_ptr<BareRates>> Connect(const std::string& address);
  virtual ~BareRates() = default;

  // A unary call with a small message there and back.
  virtual absl::StatusOr<absl::Duration> Call() = 0;

  // A stream alone: so many bytes, made from one message and dropped where they arrive.
  virtual absl::StatusOr<absl::Duration> Send(int64_t bytes) = 0;
  virtual absl::StatusOr<absl::Duration> Receive(int64_t bytes) = 0;

  // The least that moves a tensor: from the caller's memory into memory of the other process, which keeps it, and
  // back. Get wants as many bytes as were put.
  virtual absl::StatusOr<absl::Duration> Put(absl::string_view bytes) = 0;
  virtual absl::StatusOr<absl::Duration> Get(absl::Span<char> bytes) = 0;
};

}  // namespace slipway::bench

#endif  // SLIPWAY_TESTS_BENCH_GRPC_BARE_RATES_H_
