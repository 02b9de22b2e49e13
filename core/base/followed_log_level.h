// FollowedLogLevel: what this process's log shows, as somebody else may say for a time.
#ifndef SLIPWAY_CORE_BASE_FOLLOWED_LOG_LEVEL_H_
#define SLIPWAY_CORE_BASE_FOLLOWED_LOG_LEVEL_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/log.h"

namespace slipway {

// Not thread-safe.
class FollowedLogLevel {
 public:
  // "debug", "info", "warning" or "error", from now on; empty: what it was when this was made. Anything else changes nothing: it may be
  // a level of a version to come.
  void Follow(absl::string_view level) {
    if (level == followed_) return;
    const absl::StatusOr<LogLevel> wanted =
        level.empty() ? absl::StatusOr<LogLevel>(own_) : ParseLogLevel(level);
    if (!wanted.ok()) return;
    followed_ = LogLevelName(*wanted);
    if (level.empty()) followed_ = "";
    SetLogLevel(*wanted);
    Log(LogLevel::kWarning, "the log shows another level", {{"now", LogLevelName(*wanted)}});
  }

 private:
  const LogLevel own_ = CurrentLogLevel();
  absl::string_view followed_;  // Of LogLevelName; empty: its own.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_FOLLOWED_LOG_LEVEL_H_
