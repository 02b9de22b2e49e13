#include "device_agent/blob_transfer.h"

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "device_agent/backoff.h"

namespace slipway {
namespace {

// Tries while the server cannot be reached.
absl::Status Persist(AgentTransport& transport, absl::FunctionRef<absl::Status()> attempt,
                     absl::Time deadline, std::stop_token stop) {
  Backoff backoff;
  while (true) {
    absl::Status status = attempt();
    if (stop.stop_requested()) return absl::CancelledError("no longer wanted");
    if (!absl::IsUnavailable(status)) return status;
    const absl::Duration pause = backoff.Next();
    if (absl::Now() + pause >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("the server could not be reached in time: ", status.message()));
    }
    transport.Pause(pause, stop);
  }
}

}  // namespace

absl::Status FetchBlob(AgentTransport& transport, const Digest& digest, BlobStore& cache,
                       absl::Time deadline, std::stop_token stop) {
  return Annotate(Persist(
                      transport,
                      [&]() -> absl::Status {
                        absl::StatusOr<std::unique_ptr<BlobWriter>> writer = cache.Write(digest);
                        // Another process that shares the cache has brought it.
                        if (absl::IsAlreadyExists(writer.status())) return absl::OkStatus();
                        SLIPWAY_RETURN_IF_ERROR(writer.status());
                        if ((*writer)->committed_bytes() < digest.size_bytes()) {
                          SLIPWAY_RETURN_IF_ERROR(transport.ReadBlob(digest, **writer, stop));
                        }
                        return (*writer)->Commit();
                      },
                      deadline, stop),
                  absl::StrCat("cannot fetch blob ", digest.ToString()));
}

absl::Status SendBlob(AgentTransport& transport, const Digest& digest, BlobStore& cache,
                      absl::Time deadline, std::stop_token stop) {
  SLIPWAY_ASSIGN_OR_RETURN(const Blob blob, cache.Get(digest));
  return Annotate(
      Persist(
          transport, [&] { return transport.WriteBlob(digest, blob, stop); }, deadline, stop),
      absl::StrCat("cannot send blob ", digest.ToString()));
}

}  // namespace slipway
