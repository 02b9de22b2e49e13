// UpdateTaker: what an agent does about what its server offers, up to the moment in which the other binary is tried.
#ifndef SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_TAKER_H_
#define SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_TAKER_H_

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/digest.h"
#include "core/identity/signed_statement.h"
#include "core/rpc/agent_statement.h"
#include "core/store/blob_store.h"
#include "device_agent/update/update_folder.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway {

// Not thread-safe. REQUIRES: the agent has its state folder for itself.
class UpdateTaker {
 public:
  // `authority`: PEM, of the server that the agent has joined. `is_supervised`: whether a supervisor has started this process.
  // INVALID_ARGUMENT when the authority is none; errors of reading this process's own binary.
  static absl::StatusOr<std::unique_ptr<UpdateTaker>> Create(absl::string_view state_dir,
                                                             absl::string_view authority,
                                                             bool is_supervised);

  // What the agent reports at first.
  v1::AgentUpdate Told() const;

  // Brings a binary into `store`; statuses as of AgentTransport::FetchBlob.
  using FetchFunction = absl::FunctionRef<absl::Status(const Digest& binary)>;
  // Checks that the server has signed the offer, and keeps what it names beside the installed binary. PERMISSION_DENIED: it has not,
  // or not for this platform; FAILED_PRECONDITION: that runs already; errors of `fetch` and of the disk. An error, but for
  // CANCELLED, is remembered: the offer is given up.
  absl::Status Fetch(const v1::OfferedAgent& offer, BlobStore& store, FetchFunction fetch);
  // What Fetch has kept of the same offer is to be tried next. Errors of the disk, remembered if that can be; those of Fetch where
  // it has gone since.
  absl::Status Take(const v1::OfferedAgent& offer);

 private:
  UpdateTaker(absl::string_view state_dir, std::unique_ptr<StatementChecker> checker, Digest own,
              Digest installed)
      : folder_(state_dir),
        checker_(std::move(checker)),
        own_(std::move(own)),
        installed_(std::move(installed)) {}
  absl::Status Bring(const v1::OfferedAgent& offer, BlobStore& store, FetchFunction fetch);
  absl::Status Remember(const v1::OfferedAgent& offer, absl::Status status);

  const UpdateFolder folder_;
  const std::unique_ptr<StatementChecker> checker_;
  const Digest own_;        // The binary of this process.
  const Digest installed_;  // The same unless a supervisor has started it.
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_UPDATE_UPDATE_TAKER_H_
