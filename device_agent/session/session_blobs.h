// SessionBlobs: the blobs of a session's programs, from its client, the agent's cache or the server.
#ifndef SLIPWAY_DEVICE_AGENT_SESSION_SESSION_BLOBS_H_
#define SLIPWAY_DEVICE_AGENT_SESSION_SESSION_BLOBS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/digest.h"
#include "core/store/blob_store.h"
#include "device_agent/pinned_blobs.h"

namespace slipway {

// Not thread-safe.
class SessionBlobs {
 public:
  struct Tools {
    BlobStore* cache = nullptr;
    // Gets what the session uses, for as long as it does.
    PinnedBlobs* pinned = nullptr;
    // Gets a blob from the agent's server into the cache: NOT_FOUND when that has none. Empty: there is no server.
    std::function<absl::Status(const Digest&, absl::Time until, std::stop_token)> fetch;
    // Says whether a program may be loaded, before anything of it but the manifest is fetched. Empty: every one.
    std::function<absl::Status(const CheckedManifest&, absl::Time until, std::stop_token)> let_in =
        nullptr;
  };
  explicit SessionBlobs(Tools tools) : tools_(std::move(tools)) {}
  ~SessionBlobs() { tools_.pinned->Clear(); }

  // Takes a piece of a blob; the number of its bytes that are here now. OUT_OF_RANGE when the piece does not begin
  // there, and `*held` says where it should; errors of the store.
  absl::Status Write(const Digest& blob, int64_t offset, const absl::Cord& data, int64_t* held);

  // A program's manifest, when it and all blobs it names are here, fetched if need be. Those that cannot be had are
  // put into `*missing`, and then there is none. Errors of CheckedManifest::Parse, Tools::let_in and of fetching.
  absl::StatusOr<std::optional<CheckedManifest>> Gather(const Digest& manifest, absl::Time until,
                                                        std::stop_token stop,
                                                        std::vector<Digest>* missing);

 private:
  void Pin(const Digest& blob);
  absl::Status Fetch(absl::Span<const Digest> blobs, absl::Time until, std::stop_token stop,
                     std::vector<Digest>* missing);

  const Tools tools_;
  absl::flat_hash_set<Digest> pinned_;
  absl::flat_hash_map<Digest, std::unique_ptr<BlobWriter>> writers_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_SESSION_SESSION_BLOBS_H_
