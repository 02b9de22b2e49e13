#include "client/agent_offers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/rpc/agent_statement.h"
#include "core/wire/digest_proto.h"

namespace slipway {

absl::StatusOr<AgentBinary> ReadAgentBinary(const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, kMaxAgentBytes));
  std::optional<AgentStamp> stamp = FindAgentStamp(bytes);
  if (!stamp.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", path, "\" is no binary of the agent: it does not say its version and platform"));
  }
  const Digest digest = Digest::Of(bytes);
  return AgentBinary{
      .contents = Blob::Own(std::move(bytes)), .digest = digest, .stamp = *std::move(stamp)};
}

v1::OfferAgentRequest ToProto(const AgentOfferOptions& options, const AgentBinary& binary) {
  v1::OfferAgentRequest request;
  v1::AgentOffer& offer = *request.mutable_offer();
  *offer.mutable_binary() = ToProto(binary.digest);
  offer.set_version(binary.stamp.version);
  offer.set_platform(binary.stamp.platform);
  offer.set_selector(options.selector);
  offer.set_at_once(options.at_once);
  offer.set_max_failures(options.max_failures);
  return request;
}

absl::StatusOr<AgentOffer> AgentOfferFromProto(const v1::AgentOffer& proto) {
  const absl::StatusOr<Digest> binary = FromProto(proto.binary());
  if (!binary.ok()) {
    return absl::InternalError(absl::StrCat("the server's answer on what it offers to \"",
                                            proto.platform(),
                                            "\" names no binary: ", binary.status().message()));
  }
  return AgentOffer{.id = proto.id(),
                    .binary = *binary,
                    .version = proto.version(),
                    .platform = proto.platform(),
                    .selector = proto.selector(),
                    .at_once = proto.at_once(),
                    .max_failures = proto.max_failures(),
                    .by = proto.by(),
                    .since = absl::FromUnixNanos(proto.since_ns())};
}

absl::StatusOr<std::vector<AgentRollout>> RolloutsFromProto(
    const v1::ListAgentOffersResponse& proto) {
  std::vector<AgentRollout> rollouts;
  for (const v1::AgentRollout& each : proto.rollouts()) {
    AgentRollout& rollout = rollouts.emplace_back();
    SLIPWAY_ASSIGN_OR_RETURN(rollout.offer, AgentOfferFromProto(each.offer()));
    rollout.updated = each.updated();
    rollout.under_way = each.under_way();
    rollout.waiting = each.waiting();
    rollout.failed = each.failed();
    rollout.is_halted = each.halted();
    rollout.failed_device = each.failed_device();
    rollout.failure = each.failure();
  }
  return rollouts;
}

absl::StatusOr<std::optional<AgentUpdate>> AgentUpdateFromProto(const v1::Device& proto) {
  if (!proto.has_update()) return std::optional<AgentUpdate>();
  const v1::AgentUpdate& update = proto.update();
  const absl::StatusOr<Digest> binary = FromProto(update.binary());
  if (!binary.ok()) {
    return absl::InternalError(absl::StrCat("the server's answer on device \"",
                                            proto.description().id(),
                                            "\" names no binary: ", binary.status().message()));
  }
  return AgentUpdate{.platform = update.platform(),
                     .binary = *binary,
                     .is_taking = !update.taking().empty(),
                     .failure = update.failure()};
}

v1::SetAvailabilityRequest::Action ActionToProto(DeviceAction action) {
  switch (action) {
    case DeviceAction::kDrain:
      return v1::SetAvailabilityRequest::DRAIN;
    case DeviceAction::kUndrain:
      return v1::SetAvailabilityRequest::UNDRAIN;
    case DeviceAction::kQuarantine:
      return v1::SetAvailabilityRequest::QUARANTINE;
    case DeviceAction::kUnquarantine:
      break;
  }
  return v1::SetAvailabilityRequest::UNQUARANTINE;
}

}  // namespace slipway
