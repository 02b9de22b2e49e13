#include "server/handlers/agent_offers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/status_macros.h"
#include "core/rpc/agent_statement.h"
#include "core/selector/selector.h"
#include "core/wire/digest_proto.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

constexpr size_t kMaxVersionBytes = 64;
constexpr int kMostAtOnce = 10'000;

absl::Status CheckVersion(absl::string_view version) {
  const bool is_one = !version.empty() && version.size() <= kMaxVersionBytes &&
                      std::all_of(version.begin(), version.end(), [](char c) {
                        return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                               absl::string_view("._-+").find(c) != absl::string_view::npos;
                      });
  if (is_one) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the version is \"", absl::Utf8SafeCEscape(version.substr(0, kMaxVersionBytes)),
                   "\"; 1 to ", kMaxVersionBytes, " letters, digits and \"._-+\" are wanted"));
}

absl::Status CheckSelector(const std::string& selector) {
  if (selector.empty()) return absl::OkStatus();
  if (IsSelector(selector)) return Selector::Parse(selector).status();
  return CheckPeerId("device", selector);
}

// 0 means 1.
absl::StatusOr<int> ReadCount(absl::string_view what, int count) {
  if (count >= 0 && count <= kMostAtOnce) return std::max(count, 1);
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", count, "; 1 to ", kMostAtOnce, " is wanted"));
}

absl::StatusOr<v1::AgentOffer> ReadOffer(const v1::AgentOffer& asked, const Digest& binary) {
  v1::AgentOffer offer;
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("platform", asked.platform()));
  SLIPWAY_RETURN_IF_ERROR(CheckVersion(asked.version()));
  SLIPWAY_RETURN_IF_ERROR(CheckSelector(asked.selector()));
  if (binary.size_bytes() > kMaxAgentBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the binary has ", binary.size_bytes(), " bytes; at most ", kMaxAgentBytes));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int at_once, ReadCount("at_once", asked.at_once()));
  SLIPWAY_ASSIGN_OR_RETURN(const int failures, ReadCount("max_failures", asked.max_failures()));
  *offer.mutable_binary() = ToProto(binary);
  offer.set_version(asked.version());
  offer.set_platform(asked.platform());
  offer.set_selector(asked.selector());
  offer.set_at_once(at_once);
  offer.set_max_failures(failures);
  return offer;
}

}  // namespace

absl::Status OfferAgent(const Caller& caller, const Environment& env,
                        const v1::OfferAgentRequest& request, v1::AgentOffer* response) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest binary, FromProto(request.offer().binary()),
                                "the binary");
  AgentOfferRecord record;
  SLIPWAY_ASSIGN_OR_RETURN(*record.mutable_offer(), ReadOffer(request.offer(), binary));
  if (env.statement_key == nullptr) {
    return absl::FailedPreconditionError(
        "this server signs nothing, since it is not called over TLS, and no agent takes a binary "
        "that is not signed: start it without --insecure, on a port");
  }
  const absl::Status here = env.blobs->Verify(binary);
  if (absl::IsNotFound(here) || absl::IsDataLoss(here)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the binary ", binary.ToString(), " is not here: send it first"));
  }
  SLIPWAY_RETURN_IF_ERROR(here);
  const absl::Time now = env.clock->Now();
  v1::AgentOffer& offer = *record.mutable_offer();
  offer.set_id(env.ids->Next(now));
  offer.set_by(caller.owner);
  offer.set_since_ns(absl::ToUnixNanos(now));
  SLIPWAY_ASSIGN_OR_RETURN(
      *record.mutable_statement(),
      SignAgent(*env.statement_key->signer(),
                {.binary = binary, .version = offer.version(), .platform = offer.platform()}, now));
  SLIPWAY_RETURN_IF_ERROR(env.agent_offers->Put(record));
  *response = offer;
  return absl::OkStatus();
}

absl::Status ListAgentOffers(const Environment& env, v1::ListAgentOffersResponse* response) {
  for (v1::AgentRollout& rollout : env.dispatcher->Rollouts()) {
    *response->add_rollouts() = std::move(rollout);
  }
  return absl::OkStatus();
}

absl::Status WithdrawAgentOffer(const Environment& env,
                                const v1::WithdrawAgentOfferRequest& request,
                                v1::AgentOffer* response) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("platform", request.platform()));
  SLIPWAY_ASSIGN_OR_RETURN(const AgentOfferRecord removed,
                           env.agent_offers->Remove(request.platform()));
  *response = removed.offer();
  return absl::OkStatus();
}

}  // namespace slipway::server
