// What clients of an agent that ends are told.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_GOING_AWAY_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_GOING_AWAY_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace slipway {

inline absl::Status GoingAway(absl::string_view device) {
  return absl::UnavailableError(
      absl::StrCat("the agent of device \"", device,
                   "\" is going away: open a session on another device, or when it is back"));
}

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_GOING_AWAY_H_
