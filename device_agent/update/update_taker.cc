#include "device_agent/update/update_taker.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/agent_stamp.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"
#include "device_agent/update/update_state.h"

namespace slipway {

absl::StatusOr<std::unique_ptr<UpdateTaker>> UpdateTaker::Create(absl::string_view state_dir,
                                                                 absl::string_view authority,
                                                                 bool is_supervised) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<StatementChecker> checker,
                           StatementChecker::Create(authority));
  SLIPWAY_ASSIGN_OR_RETURN(const Digest own, OwnBinary());
  const agent::UpdateState state = UpdateFolder(state_dir).Load().value_or(agent::UpdateState());
  Digest installed = own;
  if (is_supervised) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(installed, FromProto(state.installed()),
                                  "what is remembered of updates");
  }
  return std::unique_ptr<UpdateTaker>(
      new UpdateTaker(state_dir, std::move(checker), own, std::move(installed)));
}

v1::AgentUpdate UpdateTaker::Told() const {
  v1::AgentUpdate told;
  told.set_platform(OwnAgentStamp().platform);
  *told.mutable_binary() = ToProto(own_);
  // What another installed binary has given up, this one may take.
  const agent::UpdateState state = folder_.Load().value_or(agent::UpdateState());
  if (state.installed().sha256() == installed_.hex()) {
    told.set_failed(state.failed_offer());
    told.set_failure(state.failure());
  }
  return told;
}

absl::Status UpdateTaker::Bring(const v1::OfferedAgent& offer, BlobStore& store,
                                FetchFunction fetch) {
  const absl::StatusOr<OfferedBinary> offered =
      CheckAgentStatement(*checker_, offer.statement(), OwnAgentStamp().platform);
  if (absl::IsInternal(offered.status())) return offered.status();
  if (!offered.ok()) {
    return absl::PermissionDeniedError(
        absl::StrCat("the server that the agent has joined does not vouch for the binary, since ",
                     offered.status().message()));
  }
  const Digest& binary = offered->binary;
  if (binary == own_) {
    return absl::FailedPreconditionError("the binary that is offered runs already");
  }
  SLIPWAY_RETURN_IF_ERROR_WITH(fetch(binary), "fetching the binary");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::string bytes, ReadBlob(store, binary),
                                "reading the binary");
  SLIPWAY_RETURN_IF_ERROR_WITH(folder_.Keep(binary, bytes), "keeping the binary");
  return Annotate(folder_.Check(binary), "keeping the binary");
}

absl::Status UpdateTaker::Remember(const v1::OfferedAgent& offer, absl::Status status) {
  if (status.ok() || absl::IsCancelled(status)) return status;
  // If it cannot be remembered, the offer is given up again after a restart.
  const absl::Status stored =
      folder_
          .Change([&](agent::UpdateState state) {
            return AfterRefused(std::move(state), installed_, offer.id(), status.message());
          })
          .status();
  if (!stored.ok()) {
    Log(LogLevel::kWarning, "cannot remember that an offer was given up",
        {{"why", stored.message()}});
  }
  return status;
}

absl::Status UpdateTaker::Fetch(const v1::OfferedAgent& offer, BlobStore& store,
                                FetchFunction fetch) {
  return Remember(offer, Bring(offer, store, fetch));
}

absl::Status UpdateTaker::Take(const v1::OfferedAgent& offer) {
  SLIPWAY_ASSIGN_OR_RETURN(
      const OfferedBinary offered,
      CheckAgentStatement(*checker_, offer.statement(), OwnAgentStamp().platform));
  agent::KeptBinary tried;
  *tried.mutable_binary() = ToProto(offered.binary);
  tried.set_offer(offer.id());
  tried.set_version(offered.version);
  absl::Status status = folder_
                            .Change([&](agent::UpdateState state) {
                              return AfterTaken(std::move(state), installed_, tried);
                            })
                            .status();
  // Its supervisor may have tidied up meanwhile, when nothing named it yet.
  if (status.ok()) status = folder_.Check(offered.binary);
  return Remember(offer, std::move(status));
}

}  // namespace slipway
