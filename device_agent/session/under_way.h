// UnderWay: whether a message is still on its way: waits to be written, or is being written.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_UNDER_WAY_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_UNDER_WAY_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace slipway {

// For what is sent without being asked for: one at a time, so that nothing gathers where the other side does not read.
// Thread-safe.
class UnderWay {
 public:
  // `on_gone` is called, on any thread and under any lock, when a message is not on its way any more.
  explicit UnderWay(std::function<void()> on_gone = nullptr)
      : state_(std::make_shared<State>(std::move(on_gone))) {}

  bool is_busy() const { return state_->is_busy; }
  // The message, which is on its way from now on until nobody holds bytes of it. REQUIRES: !is_busy(), not empty.
  absl::Cord Send(const absl::Cord& message) {
    state_->is_busy = true;
    auto bytes = std::make_shared<const std::string>(message);
    const absl::string_view view = *bytes;
    return absl::MakeCordFromExternal(view, [bytes = std::move(bytes), state = state_] {
      state->is_busy = false;
      if (state->on_gone) state->on_gone();
    });
  }

 private:
  struct State {
    explicit State(std::function<void()> gone) : on_gone(std::move(gone)) {}
    std::atomic<bool> is_busy{false};
    const std::function<void()> on_gone;
  };
  std::shared_ptr<State> state_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_UNDER_WAY_H_
