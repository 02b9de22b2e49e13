#include "server/devices/standing.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace slipway::server {
namespace {

constexpr StandingRule kNo = StandingRule::kRefused;
constexpr StandingRule kSame = StandingRule::kStay;
constexpr StandingRule kGo = StandingRule::kMove;

// Rows are states, columns events in the order of StandingEvent. What is so already stays; a drain is the stronger
// one: it ends a quarantine, and a device that is drained is in none.
constexpr std::array<std::array<StandingRule, kStandingEventKinds>, 3> kTable = {{
    // The columns: drain, undrain, quarantine, unquarantine.
    // clang-format off
    /* OPEN        */ {{kGo, kSame, kGo, kSame}},
    /* DRAINED     */ {{kGo, kGo,   kNo, kNo}},
    /* QUARANTINED */ {{kGo, kNo,   kGo, kGo}},
    // clang-format on
}};

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
  void operator()(const UnquarantineAsked&) const { Open(); }

  void Close(DeviceStanding::State state, const std::string& by, const std::string& reason) const {
    // One that is asked for again is as old as it was.
    if (standing.state() != state) standing.set_since_ns(absl::ToUnixNanos(now));
    standing.set_state(state);
    standing.set_by(by);
    standing.set_reason(reason);
  }
  void Open() const {
    standing.set_state(DeviceStanding::OPEN);
    standing.clear_by();
    standing.clear_reason();
    standing.clear_since_ns();
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
