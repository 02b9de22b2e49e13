// Future: what a device will answer.
#ifndef SLIPWAY_CLIENT_FUTURE_H_
#define SLIPWAY_CLIENT_FUTURE_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace slipway {

// What a future holds of which nothing is wanted but that it is done.
struct Done {};

// Whoever will have the answer of a Future.
class PendingAnswer {
 public:
  virtual ~PendingAnswer() = default;
  virtual bool Wait(absl::Time deadline) = 0;
  virtual void Then(std::function<void()> callback) = 0;
  virtual void Cancel() = 0;
};

// Movable; letting it go leaves what is under way to its end. Thread-compatible.
template <typename T>
class Future {
 public:
  Future() = default;  // Of nothing; only to be assigned to.
  // `result` is there once `pending` says so.
  Future(std::shared_ptr<PendingAnswer> pending, std::shared_ptr<absl::StatusOr<T>> result)
      : pending_(std::move(pending)), result_(std::move(result)) {}

  // Whether the answer is there; at the latest at `deadline`.
  bool Wait(absl::Time deadline) const { return pending_->Wait(deadline); }
  bool ready() const { return Wait(absl::InfinitePast()); }
  // Waits for the answer, as long as the session lives, and hands it out, once.
  absl::StatusOr<T> Get() {
    Wait(absl::InfiniteFuture());
    return std::move(*result_);
  }
  // Has `callback` called with the answer, on a thread of the session's on which all callbacks follow each other; it
  // should return soon. Then the future is of nothing.
  void Then(std::function<void(absl::StatusOr<T>)> callback) {
    PendingAnswer& pending = *pending_;
    const std::shared_ptr<PendingAnswer> kept = std::move(pending_);
    pending.Then([callback = std::move(callback), result = std::move(result_)] {
      callback(std::move(*result));
    });
  }
  // Asks for what is under way to be given up: it then ends in CANCELLED, unless it was done before.
  void Cancel() { pending_->Cancel(); }

 private:
  std::shared_ptr<PendingAnswer> pending_;
  std::shared_ptr<absl::StatusOr<T>> result_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_FUTURE_H_
