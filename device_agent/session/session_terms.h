// What a session is opened with, checked.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SESSION_TERMS_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SESSION_TERMS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {

struct SessionTerms {
  std::string session;
  std::string ticket;
  std::string device;
  std::string target;
  std::string address;  // Where the agent listens; empty: nowhere.
  absl::Duration idle;
  absl::Duration longest;
};

// An open, as it is meant: with defaults where it leaves something out.
struct SessionWish {
  std::string device;
  std::string target;
  std::string purpose;
  std::string request_id;
  absl::Duration idle;
  absl::Duration longest;
  absl::Duration wait;  // Zero: not at all.
};

// INVALID_ARGUMENT names what is out of range.
absl::StatusOr<SessionWish> ReadWish(const v1::SessionRequest::Open& open);

// 128 random bits as text: an id or a ticket that nobody guesses.
std::string RandomName();

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SESSION_TERMS_H_
