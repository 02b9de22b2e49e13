// Two programs with the same inputs, timed in turns in a session.
#ifndef SLIPWAY_CLIENT_CLI_PROGRAMS_IN_TURNS_H_
#define SLIPWAY_CLIENT_CLI_PROGRAMS_IN_TURNS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/artifact_summary.h"
#include "client/comparison.h"
#include "client/session.h"
#include "client/types.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

// Not thread-safe, but for Interrupt. `session` must outlive this.
class ProgramsInTurns {
 public:
  // Of `types`, those that are not given are random, from `seed`. They are put on the device when they are needed, and again after
  // an error, by which they may be lost.
  ProgramsInTurns(Session& session, std::vector<NamedType> types, std::vector<NamedTensor> given,
                  uint64_t seed, int threads)
      : session_(session),
        types_(std::move(types)),
        given_(std::move(given)),
        seed_(seed),
        threads_(threads) {}

  // What is timed next ends in CANCELLED.
  void Interrupt() { is_interrupted_ = true; }

  // Loads both anew, the first of `order` first, and times them in this order; one result for each of it. Errors say of which.
  absl::StatusOr<std::vector<BenchmarkResult>> Time(const Digest& a, const Digest& b,
                                                    absl::Span<const Side> order,
                                                    const TimingOptions& options);

 private:
  absl::Status PutInputs();
  absl::StatusOr<std::vector<BenchmarkResult>> TimeLoaded(const std::array<Digest, 2>& artifacts,
                                                          absl::Span<const Side> order,
                                                          const TimingOptions& options);

  Session& session_;
  const std::vector<NamedType> types_;
  const std::vector<NamedTensor> given_;
  const uint64_t seed_;
  const int threads_;
  std::vector<RemoteTensor> inputs_;  // Empty, or of all types.
  std::atomic<bool> is_interrupted_ = false;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_PROGRAMS_IN_TURNS_H_
