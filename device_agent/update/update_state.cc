#include "device_agent/update/update_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/utf8.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

constexpr size_t kMaxFailureBytes = 1024;

// A state that says nothing of another installed binary.
agent::UpdateState Of(agent::UpdateState state, const Digest& installed) {
  if (state.installed().sha256() == installed.hex()) return state;
  agent::UpdateState fresh;
  *fresh.mutable_installed() = ToProto(installed);
  return fresh;
}

void GiveUp(agent::UpdateState& state, const agent::KeptBinary& binary, absl::string_view why) {
  state.set_failed_offer(binary.offer());
  state.set_failure(std::string(
      Utf8Prefix(absl::StrCat("version ", binary.version(), " ", why), kMaxFailureBytes)));
  state.set_starts(0);
}

absl::Status CheckKept(const agent::KeptBinary& kept,
                       absl::FunctionRef<absl::Status(const Digest& binary)> check) {
  const absl::StatusOr<Digest> binary = FromProto(kept.binary());
  return binary.ok() ? check(*binary) : binary.status();
}

}  // namespace

BinaryChoice ChooseBinary(agent::UpdateState state, const Digest& installed,
                          absl::FunctionRef<absl::Status(const Digest& binary)> check) {
  state = Of(std::move(state), installed);
  if (state.has_trial()) {
    const absl::Status sound = CheckKept(state.trial(), check);
    if (sound.ok() && state.starts() < kMaxTrialStarts) {
      state.set_starts(state.starts() + 1);
      return {.state = state, .kept = state.trial(), .is_trial = true};
    }
    state = AfterTrialFailed(
        std::move(state),
        sound.ok() ? absl::StrCat("was started ", kMaxTrialStarts,
                                  " times, and each time something ended it before the server had "
                                  "heard of it")
                   : absl::StrCat("is damaged: ", sound.message()));
  }
  while (state.has_current()) {
    const absl::Status sound = CheckKept(state.current(), check);
    if (sound.ok() && state.starts() < kMaxQuickStarts) {
      state.set_starts(state.starts() + 1);
      return {.state = state, .kept = state.current()};
    }
    GiveUp(state, state.current(),
           sound.ok()
               ? absl::StrCat("ended ", kMaxQuickStarts, " times in a row soon after it had begun")
               : absl::StrCat("is damaged: ", sound.message()));
    if (state.has_previous()) {
      *state.mutable_current() = state.previous();
      state.clear_previous();
    } else {
      state.clear_current();
    }
  }
  return {.state = std::move(state), .kept = std::nullopt};
}

agent::UpdateState AfterTaken(agent::UpdateState state, const Digest& installed,
                              const agent::KeptBinary& tried) {
  state = Of(std::move(state), installed);
  *state.mutable_trial() = tried;
  state.set_starts(0);
  return state;
}

agent::UpdateState AfterReported(agent::UpdateState state) {
  if (!state.has_trial()) return state;
  if (state.has_current()) {
    *state.mutable_previous() = state.current();
  } else {
    state.clear_previous();
  }
  *state.mutable_current() = state.trial();
  state.clear_trial();
  state.clear_failed_offer();
  state.clear_failure();
  state.set_starts(1);
  return state;
}

agent::UpdateState AfterTrialFailed(agent::UpdateState state, absl::string_view why) {
  const agent::KeptBinary trial = state.trial();
  GiveUp(state, trial, why);
  state.clear_trial();
  return state;
}

agent::UpdateState AfterRanWell(agent::UpdateState state) {
  state.set_starts(0);
  return state;
}

agent::UpdateState AfterRefused(agent::UpdateState state, const Digest& installed,
                                absl::string_view offer, absl::string_view why) {
  state = Of(std::move(state), installed);
  if (state.has_trial() && state.trial().offer() == offer) state.clear_trial();
  state.set_failed_offer(std::string(offer));
  state.set_failure(std::string(Utf8Prefix(why, kMaxFailureBytes)));
  return state;
}

std::vector<Digest> NamedBinaries(const agent::UpdateState& state) {
  std::vector<Digest> named;
  for (const agent::KeptBinary* kept : {&state.current(), &state.previous(), &state.trial()}) {
    const absl::StatusOr<Digest> binary = FromProto(kept->binary());
    if (binary.ok()) named.push_back(*binary);
  }
  return named;
}

}  // namespace slipway
