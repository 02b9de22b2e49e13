// ListenerCheck: whether a server still lets in who connects to it.
#ifndef SLIPWAY_SERVER_LISTENER_CHECK_H_
#define SLIPWAY_SERVER_LISTENER_CHECK_H_

#include <cstdint>
#include <functional>
#include <utility>

namespace slipway::server {

// Not thread-safe.
class ListenerCheck {
 public:
  struct Parts {
    std::function<int64_t()>
        accepted;                 // Connections so far: whoever made them, they are a sign of life.
    std::function<void()> knock;  // Makes one; shall not wait.
  };
  ListenerCheck(int most_unanswered, Parts parts)
      : most_unanswered_(most_unanswered), parts_(std::move(parts)) {}

  // To be called at an interval in which any connection is accepted: knocks. False when the last `most_unanswered` knocks brought nothing.
  bool Knock() {
    const int64_t accepted = parts_.accepted();
    unanswered_ = accepted == seen_ ? unanswered_ + 1 : 0;
    seen_ = accepted;
    parts_.knock();
    return unanswered_ < most_unanswered_;
  }

 private:
  const int most_unanswered_;
  const Parts parts_;
  int64_t seen_ = -1;
  int unanswered_ = 0;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_LISTENER_CHECK_H_
