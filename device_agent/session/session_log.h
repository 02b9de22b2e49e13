// SessionLog: what a session's runners write to their standard streams, on its way to the client.
//
// It must hold up nobody: neither a program that floods it, nor answers behind it, nor the agent's memory. So it has a
// pace, and the connection never has more than one message of it; the rest waits here, and what is too much is dropped.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SESSION_LOG_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SESSION_LOG_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/log_lines.h"
#include "device_agent/session/under_way.h"

namespace slipway {

class SessionLog {
 public:
  // A message is hardly longer.
  static constexpr int64_t kMaxWaitingBytes = 128 << 10;
  // Bytes that go out at once, and in the long run.
  static constexpr int64_t kBurstBytes = 2 * kMaxWaitingBytes;
  static constexpr int64_t kBytesPerSecond = 1 << 20;

  // `on_news` is called when Next may have something, on any thread and under any lock.
  explicit SessionLog(std::function<void()> on_news)
      : on_news_(std::move(on_news)), lines_(kMaxWaitingBytes), under_way_(on_news_) {}

  // See LogLines. On any thread.
  void Add(absl::string_view text) {
    if (lines_.Add(text)) on_news_();
  }
  void EndLine() {
    if (lines_.EndLine()) on_news_();
  }

  // There is another way to send: nothing is on it yet.
  void BeginAnew() { under_way_ = UnderWay(on_news_); }
  // What to send at `now`: a message with whole lines, or nothing. One thread at a time, like due() and BeginAnew().
  absl::Cord Next(absl::Duration now);
  // When Next has something by the passing of time alone.
  absl::Duration due() const;

 private:
  const std::function<void()> on_news_;
  LogLines lines_;
  UnderWay under_way_;
  absl::Duration paid_until_ = -absl::InfiniteDuration();  // At kBytesPerSecond, what was sent.
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SESSION_LOG_H_
