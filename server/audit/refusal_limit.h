// RefusalLimit: which refused calls are written down, since anybody may be refused as often as he likes.
#ifndef SLIPWAY_SERVER_AUDIT_REFUSAL_LIMIT_H_
#define SLIPWAY_SERVER_AUDIT_REFUSAL_LIMIT_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway::server {

// A minute begins with the first refusal after the one before is over. Not thread-safe. Times are monotonic.
class RefusalLimit {
 public:
  static constexpr absl::Duration kMinute = absl::Minutes(1);
  static constexpr int kMost = 60;           // In a minute.
  static constexpr int kMostOfAddress = 20;  // Of these, so that one stranger hides no other.

  // Whether one more from there is written; else it is counted. `address` is as gRPC names it; the port does not matter.
  bool LetIn(absl::string_view address, absl::Duration now);

  // How many were left out, once for each that was, when their minute is over; 0 when there is nothing to tell.
  int64_t TakeLeftOut(absl::Duration now);
  // The same at any time.
  int64_t TakeLeftOut();

 private:
  absl::Duration began_ = -absl::InfiniteDuration();
  int written_ = 0;
  absl::flat_hash_map<std::string, int> of_host_;  // Of those that are written: kMost at most.
  int64_t left_out_ = 0;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_AUDIT_REFUSAL_LIMIT_H_
