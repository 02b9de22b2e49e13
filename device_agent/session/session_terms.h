// What a session on this device has been given.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SESSION_TERMS_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SESSION_TERMS_H_

#include <string>

#include "absl/time/time.h"

namespace slipway {

struct SessionTerms {
  std::string session;
  std::string ticket;
  std::string device;
  std::string target;
  std::string
      address;  // Where clients of a server reach the agent; empty: through the server alone.
  absl::Duration idle;
  absl::Duration longest;
  // Who has given it is told when nothing was heard of the client for so long: more than a heartbeat's interval.
  absl::Duration silence = absl::Seconds(2);
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SESSION_TERMS_H_
