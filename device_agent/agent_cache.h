// The cache of an agent: blobs of programs and tensors, on the machine whose runner reads them.
#ifndef SLIPWAY_DEVICE_AGENT_AGENT_CACHE_H_
#define SLIPWAY_DEVICE_AGENT_AGENT_CACHE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/store/blob_store.h"
#include "device_agent/pinned_blobs.h"

namespace slipway {

// `folder` holds at most so many bytes; 0: no limit. What is pinned stays; `pinned` must outlive the store. Errors of
// FileBlobStore::Create.
absl::StatusOr<std::unique_ptr<BlobStore>> OpenAgentCache(const std::string& folder,
                                                          int64_t quota_bytes,
                                                          const PinnedBlobs& pinned);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_AGENT_CACHE_H_
