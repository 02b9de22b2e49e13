// How much a peer may say: a bound for every text, bytes and repeated field of its messages.
#ifndef SLIPWAY_SERVER_PEERS_BOUNDS_H_
#define SLIPWAY_SERVER_PEERS_BOUNDS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/message.h"

namespace slipway::server {

// A field that may be larger than others: bytes of a text, entries of what is repeated.
struct Bound {
  absl::string_view field;  // "slipway.v1.CompileReport.printed_graph"
  int64_t most;
};
absl::Span<const Bound> LargeFields();

// OK when no field of `message`, and of those in it, is larger than its bound: that of LargeFields(), else
// kMaxReportedTextBytes and kMaxReportedEntries of server/limits.h; and no floating-point number is infinite or none.
// INVALID_ARGUMENT names the field. Takes time with the number of messages, texts and such numbers, not with integers.
absl::Status CheckBounds(const google::protobuf::Message& message);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_BOUNDS_H_
