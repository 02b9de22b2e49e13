// Liveness: decides from the times at which things came when to send a heartbeat and when a peer is gone. Pure.
#ifndef SLIPWAY_CLIENT_SESSION_LIVENESS_H_
#define SLIPWAY_CLIENT_SESSION_LIVENESS_H_

#include <algorithm>

#include "absl/time/time.h"

namespace slipway {

// Times are those of Clock::Monotonic. Not thread-safe.
class Liveness {
 public:
  enum class Action {
    kNone,
    kBeat,  // Send a heartbeat.
    kAsk,   // Nothing has come for too long: find out who is gone.
  };

  // Heartbeats every `interval`; a peer is suspect after `silence`.
  Liveness(absl::Duration interval, absl::Duration silence, absl::Duration now)
      : interval_(interval), silence_(silence), heard_(now), beat_(now), looked_(now) {}

  // Something came.
  void Heard(absl::Duration now) {
    heard_ = now;
    asked_ = false;
  }

  // What to do at `now`; to be asked at next() at the latest.
  Action At(absl::Duration now) {
    // Who did not look for so long was stopped itself, and knows nothing of its peers.
    if (now - looked_ > 2 * interval_) Heard(now);
    looked_ = now;
    if (!asked_ && now - heard_ >= silence_) {
      asked_ = true;
      return Action::kAsk;
    }
    if (now - beat_ < interval_) return Action::kNone;
    beat_ = now;
    return Action::kBeat;
  }
  absl::Duration next() const {
    const absl::Duration beat = beat_ + interval_;
    return asked_ ? beat : std::min(beat, heard_ + silence_);
  }

  // Whether something has come since kAsk.
  bool has_heard() const { return !asked_; }
  // How long nothing has come.
  absl::Duration silent_for(absl::Duration now) const { return now - heard_; }

 private:
  absl::Duration interval_;
  absl::Duration silence_;
  absl::Duration heard_;
  absl::Duration beat_;
  absl::Duration looked_;
  bool asked_ = false;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_LIVENESS_H_
