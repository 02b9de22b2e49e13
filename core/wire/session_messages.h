// The messages of a session (session.proto) without copies of the bytes they carry: a message is a cord whose last
// piece is the data of its last request or response, where it lies.
//
// Messages that are put behind each other are one message with the requests, or responses, of both; the data must
// come last.
#ifndef SLIPWAY_CORE_WIRE_SESSION_MESSAGES_H_
#define SLIPWAY_CORE_WIRE_SESSION_MESSAGES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/time/time.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// How much there is in a message at most. Who sends keeps to it, and who receives takes all of it; gRPC
// (core/rpc/grpc_settings.h) and a runner's socket (device_agent/runner/frame.h) have room for more.
//
// Data: tensors and blobs go in pieces.
inline constexpr int64_t kMaxSessionDataBytes = 1 << 20;
// A request without its data: handles and names.
inline constexpr int64_t kMaxSessionRequestBytes = 1 << 20;
// An answer without its data: a million samples, or a profile of 100,000 steps of 150 bytes each. What would be longer
// is an error in its place, RESOURCE_EXHAUSTED.
inline constexpr int64_t kMaxSessionAnswerBytes = 16 << 20;
// What gathers in front of that while the message before it is written; both sides begin a new one long before.
inline constexpr int64_t kMaxSessionGatheredBytes = 2 << 20;
// So in all, from a client and from a device.
inline constexpr int64_t kMaxSessionRequestsBytes =
    kMaxSessionGatheredBytes + kMaxSessionRequestBytes + kMaxSessionDataBytes;
inline constexpr int64_t kMaxSessionResponsesBytes =
    kMaxSessionGatheredBytes + kMaxSessionAnswerBytes + kMaxSessionDataBytes;
// Who has made a connection says by then what it is for.
inline constexpr absl::Duration kFirstRequestWithin = absl::Seconds(5);

// A message that was taken apart.
template <typename Message>
struct SessionParts {
  Message message;  // No request or response of it has data.
  absl::Cord data;  // That of the last one.
};
using SessionRequestParts = SessionParts<v1::SessionRequests>;
using SessionResponseParts = SessionParts<v1::SessionResponses>;

// `data` shares the message's memory. INVALID_ARGUMENT for bytes that are no such message, one that is too large, and
// data that is too large or does not come last.
absl::StatusOr<SessionRequestParts> ParseSessionRequests(const absl::Cord& message);
absl::StatusOr<SessionResponseParts> ParseSessionResponses(const absl::Cord& message);

// A message of one request or response; `data` is shared. REQUIRES: it has no data of its own.
absl::Cord WriteSessionRequest(const v1::SessionRequest& request, const absl::Cord& data = {});
absl::Cord WriteSessionResponse(const v1::SessionResponse& response, const absl::Cord& data = {});
// Says that the session has ended with `why`; see SessionResponse.Ended.
absl::Cord WriteSessionEnd(const absl::Status& why);
// A message that says nothing but what was taken.
absl::Cord WriteSessionAck(uint64_t acked);

}  // namespace slipway

#endif  // SLIPWAY_CORE_WIRE_SESSION_MESSAGES_H_
