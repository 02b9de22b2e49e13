#include "device_agent/agent_cache.h"

#include <utility>

#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/store/file_blob_store.h"
#include "core/store/quota_blob_store.h"

namespace slipway {

absl::StatusOr<std::unique_ptr<BlobStore>> OpenAgentCache(const std::string& folder,
                                                          int64_t quota_bytes,
                                                          const PinnedBlobs& pinned) {
  FileBlobStore::Options options;
  options.folder = folder;
  options.durable = false;
  options.marks_sound =
      true;  // Processes follow each other: `slipway run` starts an agent for each call.
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<BlobStore> store, FileBlobStore::Create(options));
  if (quota_bytes == 0) return store;
  QuotaBlobStore::Options quota;
  quota.quota_bytes = quota_bytes;
  quota.pinned = [&pinned] { return pinned.Get(); };
  // What an attempt needs is pinned; all else can be fetched again.
  quota.keep_for = absl::ZeroDuration();
  return std::make_unique<QuotaBlobStore>(std::move(store), quota);
}

}  // namespace slipway
