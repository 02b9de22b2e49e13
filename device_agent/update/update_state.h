// Which binary of the agent is to run. Pure: a state and what happened give the next state; update_supervisor acts on it.
//
// Each step is stored before it is done, so that wherever it is cut off, what is read next time leads to a binary that runs: what
// is being tried is tried again, at most kMaxTrialStarts times, and then given up; what ran well once, and ends again and again
// soon after it began, is given up for what ran before it; and the installed binary is always there.
#ifndef SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_STATE_H_
#define SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_STATE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "device_agent/update/update_state.pb.h"

namespace slipway {

// One that was cut off, by a power loss, say, may be tried once more.
inline constexpr int kMaxTrialStarts = 2;
inline constexpr int kMaxQuickStarts = 3;

struct BinaryChoice {
  agent::UpdateState state;               // To be stored before it is started.
  std::optional<agent::KeptBinary> kept;  // What to run; the installed binary if unset.
  bool is_trial = false;                  // The server must hear of it in time.
};

// `check` says whether a kept binary is there, byte for byte.
BinaryChoice ChooseBinary(agent::UpdateState state, const Digest& installed,
                          absl::FunctionRef<absl::Status(const Digest& binary)> check);

// `tried` is to be tried next.
agent::UpdateState AfterTaken(agent::UpdateState state, const Digest& installed,
                              const agent::KeptBinary& tried);
// The server has heard of what is tried: it runs from now on.
agent::UpdateState AfterReported(agent::UpdateState state);
// What is tried has failed. REQUIRES: something is.
agent::UpdateState AfterTrialFailed(agent::UpdateState state, absl::string_view why);
// What runs has run for long enough, or was ended in order.
agent::UpdateState AfterRanWell(agent::UpdateState state);
// An offer was given up before there was anything to try.
agent::UpdateState AfterRefused(agent::UpdateState state, const Digest& installed,
                                absl::string_view offer, absl::string_view why);

// The kept binaries that it names; all others may go.
std::vector<Digest> NamedBinaries(const agent::UpdateState& state);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_STATE_H_
