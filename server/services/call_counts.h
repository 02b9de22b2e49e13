// CallCounts: how many calls came, and what became of them.
#ifndef SLIPWAY_SERVER_SERVICES_CALL_COUNTS_H_
#define SLIPWAY_SERVER_SERVICES_CALL_COUNTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/metrics/histogram.h"
#include "server/services/access.h"

namespace slipway::server {

// OK to UNAUTHENTICATED; others count as UNKNOWN.
inline constexpr size_t kStatusCodes = 17;

// Thread-safe; waits for nobody.
class CallCounts {
 public:
  struct OfRpc {
    std::atomic<int64_t> begun = 0;
    std::array<std::atomic<int64_t>, kStatusCodes> ended = {};  // By code.
    DurationHistogram seconds{kAnswerBounds};
  };

  void Began(Rpc rpc) { of_[Index(rpc)].begun.fetch_add(1, std::memory_order_relaxed); }
  // Its answer was ready. Of calls that are streams, only those are told that are not let in.
  void Ended(Rpc rpc, absl::StatusCode code) {
    const auto given = static_cast<size_t>(code);
    const size_t known =
        given < kStatusCodes ? given : static_cast<size_t>(absl::StatusCode::kUnknown);
    of_[Index(rpc)].ended[known].fetch_add(1, std::memory_order_relaxed);
  }
  // For so long it was worked on, or waited for that: until its answer was ready, or, of Sync, until its report was taken in.
  void Took(Rpc rpc, absl::Duration time) { of_[Index(rpc)].seconds.Add(time); }

  const OfRpc& of(Rpc rpc) const { return of_[Index(rpc)]; }

 private:
  static size_t Index(Rpc rpc) { return static_cast<size_t>(rpc); }

  std::array<OfRpc, kAccess.size()> of_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_CALL_COUNTS_H_
