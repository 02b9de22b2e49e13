// RequestLine: what of a session is to be sent, under way or answered. Pure bookkeeping: it knows no connection.
//
// Requests wait in a line, get their ids when they are sent, and are kept until they are answered, since a connection
// that breaks may have lost them.
#ifndef SLIPWAY_CLIENT_SESSION_REQUEST_LINE_H_
#define SLIPWAY_CLIENT_SESSION_REQUEST_LINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "client/session/operation.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// What a device allows; see SessionResponse.Opened.
struct RequestLimits {
  int64_t max_requests = 1;
  int64_t max_data_under_way_bytes = 1;
};

// Not thread-safe.
class RequestLine {
 public:
  // A request in the line. `operation` is null when nobody wants to know what became of it.
  struct Entry {
    std::shared_ptr<SessionOperation> operation;
    size_t piece = 0;
    OutgoingRequest outgoing;
    bool is_cancelled = false;
  };

  void SetLimits(const RequestLimits& limits) { limits_ = limits; }

  void Add(Entry entry);
  // A handle that nobody has any more. Goes along with the next message; several become one request.
  void Free(uint64_t handle);
  // A heartbeat goes along with the next message.
  void Beat() { beat_ = true; }
  // Once everything before it is sent; nothing may be added after it.
  void Close() { closing_ = true; }
  // Takes what is not sent of `operation` out of the line.
  std::vector<Entry> TakeUnsent(const SessionOperation& operation);
  // Asks the device to give up what is sent of `operation`.
  void Cancel(const SessionOperation& operation);

  // Whether requests wait that somebody wants to be sent: frees alone do not hurry.
  bool is_waiting() const { return wanted_ > 0 || (closing_ && !close_sent_); }
  // The next message, which counts as sent; empty when there is nothing to say, or the limits forbid it.
  absl::Cord NextMessage();

  // The line of a client that takes a session up from elsewhere: it begins behind what was asked there, and answers to
  // that mean nothing to it. Before the first Resume.
  void BeginElsewhere() { received_ = kFromElsewhere; }

  // The last response that has come, as SessionRequest.Resume has it.
  uint64_t received() const { return received_; }
  // The request that the response `id` answers; one without an operation where it was asked elsewhere. INTERNAL when the device may not answer that one now.
  absl::StatusOr<Entry> Answer(uint64_t id);
  // No request is sent until the next Resume. So it begins.
  void Suspend() { is_open_ = false; }
  // After the device said which requests it has taken: the others are to be sent again. INTERNAL when it cannot be.
  absl::Status Resume(uint64_t taken);
  // Whether nothing is to be sent, not even frees, or to be answered.
  bool is_empty() const { return sent_.empty() && unsent_.empty(); }
  // Everything that is not answered, in order.
  std::vector<Entry> TakeAll();

 private:
  static constexpr uint64_t kFromElsewhere = std::numeric_limits<uint64_t>::max();

  bool MaySend(const OutgoingRequest& outgoing) const;
  static int64_t DataBytes(const OutgoingRequest& outgoing);

  RequestLimits limits_;
  std::deque<Entry> sent_;  // Ids from received_ + 1 on.
  std::deque<Entry> unsent_;
  size_t wanted_ = 0;  // Of unsent_, those that are not frees.
  std::vector<uint64_t> cancels_;
  uint64_t received_ = 0;
  uint64_t asked_elsewhere_ = 0;  // The last request that another client sent.
  uint64_t acked_ = 0;
  int64_t data_under_way_bytes_ = 0;
  int64_t data_not_acked_bytes_ = 0;
  bool is_open_ = false;
  bool beat_ = false;
  bool closing_ = false;
  bool close_sent_ = false;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_REQUEST_LINE_H_
