#include "server/devices/standing.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/utf8.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

constexpr StandingRule kNo = StandingRule::kRefused;
constexpr StandingRule kSame = StandingRule::kStay;
constexpr StandingRule kGo = StandingRule::kMove;

// Rows are states, columns events in the order of StandingEvent. What is so already stays; a drain is the stronger
// one: it ends a quarantine, and a device that is drained is in none.
constexpr std::array<std::array<StandingRule, kStandingEventKinds>, 3> kTable = {{
    // The columns: drain, undrain, quarantine, unquarantine, worked, failed, probe passed, probe failed, changed.
    // clang-format off
    /* OPEN        */ {{kGo, kSame, kGo, kSame, kGo,   kGo,   kGo,   kGo,   kGo}},
    /* DRAINED     */ {{kGo, kGo,   kNo, kNo,   kSame, kSame, kSame, kSame, kGo}},
    /* QUARANTINED */ {{kGo, kNo,   kGo, kGo,   kSame, kSame, kGo,   kGo,   kGo}},
    // clang-format on
}};

// A call of a probe that takes so many times as long as usual, or so many times less, is no sound device's: others on the
// machine, its clock and its heat make less of a difference.
constexpr int kBand = 4;
constexpr size_t kMaxReasonBytes = 512;

absl::string_view Remedy(DeviceStanding::State state) {
  return state == DeviceStanding::DRAINED ? "slipway undrain" : "slipway unquarantine";
}

// What each event does where the table allows it.
struct Effect {
  DeviceStanding& standing;
  absl::Time now;

  void operator()(const DrainAsked& event) const {
    Close(DeviceStanding::DRAINED, event.by, event.reason);
  }
  void operator()(const UndrainAsked&) const { Open(); }
  void operator()(const QuarantineAsked& event) const {
    Close(DeviceStanding::QUARANTINED, event.by, event.reason);
  }
  void operator()(const UnquarantineAsked&) const {
    Open();
    Forget();
  }
  void operator()(const DeviceWorked&) const { ClearFailures(); }
  void operator()(const DeviceFailed& event) const {
    if (standing.failed_job() == event.job) return;
    standing.set_failed_job(event.job);
    CountFailure(event.why, event.limit);
  }
  void operator()(const ProbePassed& event) const {
    ProbeEnded("", event.call);
    if (standing.first_calls_ns_size() < kUsualProbes) {
      standing.add_first_calls_ns(absl::ToInt64Nanoseconds(event.call));
    }
    ClearFailures();
    if (standing.state() != DeviceStanding::QUARANTINED) return;
    standing.set_passes(standing.passes() + 1);
    if (standing.passes() >= kPassesToReturn) Open();
  }
  void operator()(const ProbeFailed& event) const {
    ProbeEnded(event.why, absl::ZeroDuration());
    standing.clear_passes();
    CountFailure(absl::StrCat("a probe: ", event.why), event.limit);
  }
  void operator()(const DeviceChanged&) const { Forget(); }

  void ProbeEnded(const std::string& error, absl::Duration call) const {
    standing.set_probe_end_ns(absl::ToUnixNanos(now));
    standing.set_probe_error(error);
    standing.set_probe_call_ns(absl::ToInt64Nanoseconds(call));
  }
  void ClearFailures() const {
    standing.clear_failures();
    standing.clear_failed_job();
  }
  void CountFailure(const std::string& why, int limit) const {
    standing.set_failures(standing.failures() + 1);
    if (limit == 0 || standing.failures() < limit || standing.state() != DeviceStanding::OPEN) {
      return;
    }
    Close(DeviceStanding::QUARANTINED, "",
          absl::StrCat(standing.failures(), " failures in a row, the last: ", why));
  }
  // What was found out about it.
  void Forget() const {
    ClearFailures();
    standing.clear_passes();
    standing.clear_first_calls_ns();
    standing.clear_probe_end_ns();
    standing.clear_probe_error();
    standing.clear_probe_call_ns();
  }

  void Close(DeviceStanding::State state, const std::string& by, const std::string& reason) const {
    // One that is asked for again is as old as it was.
    if (standing.state() != state) standing.set_since_ns(absl::ToUnixNanos(now));
    standing.set_state(state);
    standing.set_by(by);
    standing.set_reason(std::string(Utf8Prefix(reason, kMaxReasonBytes)));
    standing.clear_passes();
  }
  void Open() const {
    standing.set_state(DeviceStanding::OPEN);
    standing.clear_by();
    standing.clear_reason();
    standing.clear_since_ns();
    standing.clear_passes();
  }
};

}  // namespace

StandingRule StandingRuleFor(DeviceStanding::State state, size_t event) {
  const int row = static_cast<int>(state);
  if (row < 0 || row >= static_cast<int>(kTable.size()) || event >= kTable[row].size()) {
    return StandingRule::kRefused;
  }
  return kTable[row][event];
}

absl::optional<absl::Duration> UsualCall(const DeviceStanding& standing) {
  if (standing.first_calls_ns_size() < kUsualProbes) return absl::nullopt;
  std::vector<int64_t> calls(standing.first_calls_ns().begin(), standing.first_calls_ns().end());
  std::sort(calls.begin(), calls.end());
  return absl::Nanoseconds(calls[calls.size() / 2]);
}

absl::Status JudgeCall(const DeviceStanding& standing, absl::Duration call) {
  const absl::optional<absl::Duration> usual = UsualCall(standing);
  if (!usual.has_value() || (call <= *usual * kBand && call >= *usual / kBand)) {
    return absl::OkStatus();
  }
  return absl::AbortedError(absl::StrCat("a call took ", absl::FormatDuration(call),
                                         ", where it took ", absl::FormatDuration(*usual),
                                         " in its first probes"));
}

absl::string_view StandingName(DeviceStanding::State state) {
  switch (state) {
    case DeviceStanding::OPEN:
      return "open";
    case DeviceStanding::DRAINED:
      return "drained";
    case DeviceStanding::QUARANTINED:
      return "in quarantine";
    default:
      return "unknown";
  }
}

absl::StatusOr<DeviceStanding> ApplyToStanding(const DeviceStanding& standing,
                                               const StandingEvent& event, absl::Time now) {
  const StandingRule rule = StandingRuleFor(standing.state(), event.index());
  if (rule == StandingRule::kRefused) {
    return absl::FailedPreconditionError(
        absl::StrCat("device '", standing.device(), "' is ", StandingName(standing.state()),
                     ", which ends by: ", Remedy(standing.state()), " ", standing.device()));
  }
  DeviceStanding next = standing;
  if (rule == StandingRule::kMove) std::visit(Effect{next, now}, event);
  return next;
}

}  // namespace slipway::server
