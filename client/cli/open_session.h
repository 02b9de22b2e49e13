// Sessions as verbs open them: flags, and what is told while the device is waited for.
#ifndef SLIPWAY_CLIENT_CLI_OPEN_SESSION_H_
#define SLIPWAY_CLIENT_CLI_OPEN_SESSION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/connection.h"
#include "client/cli/environment.h"
#include "client/session.h"
#include "core/base/flags.h"

namespace slipway::cli {

struct SessionFlags {
  std::string device;
  std::string target;
  std::string purpose;
  std::vector<std::string> tags;  // "KEY=VALUE"
  absl::Duration wait = absl::Hours(1);
  absl::Duration idle = absl::Seconds(10);
  absl::Duration longest = absl::Hours(24);
  int64_t priority = 0;

  void AddTo(FlagSet& flags);
};

// Where a session is, so that another command can take it up.
struct LeaseName {
  std::string session;
  std::string ticket;
};
// "SESSION:TICKET"; else a wrong call.
absl::StatusOr<LeaseName> ParseLease(const std::string& text);

// Opens a session at `place`, or takes up that of `lease` unless that is empty. While it waits for the device, it says so on
// the environment's err; an interrupt ends it. `on_log` as in SessionOptions.
absl::StatusOr<ResumedSession> OpenSession(Environment& environment, const ServerPlace& place,
                                           const SessionFlags& flags, const std::string& lease,
                                           std::function<void(const std::string&)> on_log);

// The same for a verb that works with a server, too: a device there is made sure of, and interrupts are the client's again
// when it is open.
absl::StatusOr<Session> OpenDevice(Environment& environment, Connection& connection,
                                   const SessionFlags& flags);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_OPEN_SESSION_H_
