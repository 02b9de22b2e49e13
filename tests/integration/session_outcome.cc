#include "tests/integration/session_outcome.h"

#include <signal.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "tests/common/command.h"

namespace slipway::testing {
namespace {

// What clients are promised.
constexpr absl::Duration kToldWithin = absl::Seconds(5);
// A party that was struck so long ago has recovered, and is no excuse.
constexpr absl::Duration kRecovery = absl::Seconds(10);
// For a report to travel, and for a server to start.
constexpr absl::Duration kLeaseSlack = absl::Seconds(3);
// Whoever waits in line may do so for as long as others hold the devices.
constexpr absl::Duration kUserMayTake = absl::Minutes(3);

absl::StatusOr<SessionError> ReadError(absl::string_view line) {
  const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 4));
  int64_t at = 0;
  int64_t waited = 0;
  int code = 0;
  if (words.size() != 5 || words[0] != "error" || !absl::SimpleAtoi(words[1], &at) ||
      !absl::SimpleAtoi(words[2], &waited) || !absl::SimpleAtoi(words[3], &code)) {
    return absl::InternalError(absl::StrCat("a user of a session says \"", line, "\""));
  }
  return SessionError{.at = absl::FromUnixNanos(at),
                      .waited = absl::Nanoseconds(waited),
                      .status = absl::Status(static_cast<absl::StatusCode>(code), words[4])};
}

// The device that a message names: "agent" and a digit; empty when it names none.
absl::string_view DeviceIn(absl::string_view message) {
  constexpr absl::string_view kDevice = "agent";
  for (size_t at = message.find(kDevice); at != absl::string_view::npos;
       at = message.find(kDevice, at + 1)) {
    const absl::string_view name = message.substr(at, kDevice.size() + 1);
    if (name.size() > kDevice.size() && absl::ascii_isdigit(name.back())) return name;
  }
  return "";
}

// Whether the error can be of that strike: of this party, and of this one of several, if it says which.
bool MayCome(const SessionError& error, Party party, const Strike& strike, pid_t client) {
  if (strike.party != party || strike.from > error.at) return false;
  if (party == Party::kClient) return strike.pid == client;
  if (party != Party::kAgent) return true;
  const absl::string_view device = DeviceIn(error.status.message());
  return device.empty() || device == strike.device;
}

// How long the server was away between the two.
absl::Duration ServerAway(absl::Time from, absl::Time until, const std::vector<Strike>& strikes) {
  absl::Duration away;
  for (const Strike& strike : strikes) {
    if (strike.party != Party::kServer) continue;
    away +=
        std::max(absl::ZeroDuration(), std::min(until, strike.until) - std::max(from, strike.from));
  }
  return away;
}

}  // namespace

absl::StatusOr<SessionOutcome> UseSession(const Cluster& cluster, const std::string& purpose,
                                          int calls, bool straight) {
  const CommandResult result = RunCommand(
      {.argv = {RunfilePath(absl::StrCat("tests/integration/", kSessionUser)), "--server",
                cluster.address(), "--purpose", purpose, "--calls", absl::StrCat(calls), "--idle",
                absl::FormatDuration(kSessionIdle), straight ? "--straight" : "--no-straight"},
       .environment = cluster.environment(),
       .timeout = kUserMayTake});
  SessionOutcome outcome{.purpose = purpose, .pid = result.pid, .end = absl::Now()};
  outcome.was_killed = result.status.signal == SIGKILL;
  if (!outcome.was_killed && !result.status.ok()) {
    return absl::InternalError(absl::StrCat(purpose, ": ", result.ToString()));
  }
  for (const absl::string_view line : absl::StrSplit(result.out, '\n', absl::SkipEmpty())) {
    outcome.closed = outcome.closed || line == "closed";
    if (line == "closed") continue;
    SLIPWAY_ASSIGN_OR_RETURN(SessionError error, ReadError(line));
    outcome.errors.push_back(std::move(error));
  }
  return outcome;
}

std::optional<Party> PartyOf(const absl::Status& error) {
  const absl::string_view message = error.message();
  for (const auto& [words, party] :
       {std::pair("the runner", Party::kRunner), std::pair("client", Party::kClient),
        std::pair("agent", Party::kAgent), std::pair("the server at", Party::kServer),
        std::pair("cannot be reached", Party::kServer)}) {
    if (absl::StrContains(message, words)) return party;
  }
  return {};
}

absl::Status CheckErrors(const SessionOutcome& outcome, const std::vector<Strike>& strikes) {
  for (const SessionError& error : outcome.errors) {
    const std::string what = absl::StrCat(
        outcome.purpose, " (pid ", outcome.pid, ") at ",
        absl::FormatTime("%H:%M:%E3S", error.at, absl::LocalTimeZone()), ", having waited for ",
        absl::FormatDuration(error.waited), ": ", error.status.ToString());
    const std::optional<Party> party = PartyOf(error.status);
    if (!party.has_value()) return absl::InternalError(absl::StrCat("names no party: ", what));
    const Strike* last = nullptr;
    for (const Strike& strike : strikes) {
      if (!MayCome(error, *party, strike, outcome.pid)) continue;
      if (last == nullptr || strike.until > last->until) last = &strike;
    }
    if (last == nullptr || error.at - last->until > kRecovery) {
      return absl::InternalError(absl::StrCat("names a party that was not struck: ", what));
    }
    // Who was stopped himself begins anew.
    absl::Time began = last->from;
    for (const Strike& strike : strikes) {
      if (strike.pid == outcome.pid && strike.until < error.at)
        began = std::max(began, strike.until);
    }
    if (std::min(error.waited, error.at - began) > kToldWithin) {
      return absl::InternalError(absl::StrCat("comes late: ", what));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLease(const SessionOutcome& outcome, const Job& job,
                        const std::vector<Strike>& strikes) {
  if (!job.ended()) {
    return absl::InternalError(absl::StrCat(job.id, " of ", outcome.purpose, " has not ended"));
  }
  const absl::Duration lease = kSessionIdle + kServerSilence + kLeaseSlack;
  const auto check = [&](absl::Time left) {
    const absl::Duration held = job.end_time - left - ServerAway(left, job.end_time, strikes);
    if (held <= lease) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(job.id, " of ", outcome.purpose, " (pid ", outcome.pid,
                                            ") ended ", absl::FormatDuration(held),
                                            " after its user left"));
  };
  for (const Strike& strike : strikes) {
    if (strike.pid == outcome.pid && job.end_time < strike.until) {
      SLIPWAY_RETURN_IF_ERROR(check(strike.from));
    }
  }
  return check(outcome.end);
}

}  // namespace slipway::testing
