// SessionOperation: one thing that a user asked a device for; requests go out for it, and their responses come to it.
#ifndef SLIPWAY_CLIENT_SESSION_OPERATION_H_
#define SLIPWAY_CLIENT_SESSION_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/synchronization/mutex.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

// A request that has no id yet. `data` is sent from where it lies.
struct OutgoingRequest {
  v1::SessionRequest request;
  absl::Cord data;
  int64_t asked = 0;  // Bytes of data that its response will have.
};

// What came back for a request: `error` is what the device says of it.
struct RequestAnswer {
  absl::Status error;
  v1::SessionResponse response;
  absl::Cord data;
};

class SessionOperation : public std::enable_shared_from_this<SessionOperation> {
 public:
  virtual ~SessionOperation() = default;

  // Called for each answer, one at a time, in the order of the requests; `piece` counts these from 0. Returns what
  // became of the request: the device's error, or what is wrong with the answer. Not called for requests that got
  // none.
  virtual absl::Status Take(size_t piece, const RequestAnswer& answer) = 0;
  // Called when all requests are answered without an error: what is asked next, whose answers begin at piece 0 again.
  // Nothing: it is done. An error ends it. Must not wait.
  virtual absl::StatusOr<std::vector<OutgoingRequest>> Next() {
    return std::vector<OutgoingRequest>();
  }
  // Called once, after everything; `status` is the first error.
  virtual void Finish(const absl::Status& status) = 0;

 private:
  // What whoever carries the operation out keeps with it, under its own lock.
  friend class GrpcSessionEngine;
  size_t outstanding_ = 0;
  bool done_ = false;
  absl::Status status_;
  std::function<void()> then_;
  absl::CondVar* waiter_ = nullptr;  // Of who waits for it.
};

// An operation with a value that its answers make.
template <typename T>
class ValueOperation final : public SessionOperation {
 public:
  using TakeAnswer = std::function<absl::Status(size_t piece, const RequestAnswer&, T& value)>;

  // `take` is asked about answers without an error; those with one end in it.
  ValueOperation(T value, TakeAnswer take) : value_(std::move(value)), take_(std::move(take)) {}

  absl::Status Take(size_t piece, const RequestAnswer& answer) override {
    if (!answer.error.ok()) return answer.error;
    return take_ == nullptr ? absl::OkStatus() : take_(piece, answer, value_);
  }
  void Finish(const absl::Status& status) override {
    if (status.ok()) {
      result_ = std::move(value_);
    } else {
      result_ = status;
    }
    take_ = nullptr;
  }

  // REQUIRES: it is done.
  absl::StatusOr<T>& result() { return result_; }

 private:
  T value_;
  TakeAnswer take_;
  absl::StatusOr<T> result_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_OPERATION_H_
