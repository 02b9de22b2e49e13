// Blobs between the agent's cache and the server, over connections that break.
#ifndef SLIPWAY_DEVICE_AGENT_BLOB_TRANSFER_H_
#define SLIPWAY_DEVICE_AGENT_BLOB_TRANSFER_H_

#include <stop_token>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/store/blob_store.h"
#include "device_agent/agent_transport.h"

namespace slipway {

// Brings a blob into the cache, resuming until the deadline. DEADLINE_EXCEEDED with the last reason;
// CANCELLED; other statuses are final.
absl::Status FetchBlob(AgentTransport& transport, const Digest& digest, BlobStore& cache,
                       absl::Time deadline, std::stop_token stop);

// Sends a blob of the cache, likewise.
absl::Status SendBlob(AgentTransport& transport, const Digest& digest, BlobStore& cache,
                      absl::Time deadline, std::stop_token stop);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_BLOB_TRANSFER_H_
