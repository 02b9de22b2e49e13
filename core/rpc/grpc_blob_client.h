// BlobClient: moves blobs between a store and a server, over connections that break.
#ifndef SLIPWAY_CORE_RPC_GRPC_BLOB_CLIENT_H_
#define SLIPWAY_CORE_RPC_GRPC_BLOB_CLIENT_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/rpc/grpc_calls.h"
#include "core/rpc/retry.h"
#include "core/store/blob_store.h"
#include "proto/slipway/v1/blob.grpc.pb.h"

namespace slipway {

// Broken transfers go on where they broke. Statuses are those of BlobService and of the store, and name the
// blob; UNAVAILABLE, DEADLINE_EXCEEDED and CANCELLED come as RetryPolicy says. Thread-safe.
class BlobClient {
 public:
  // Tells the content of a blob.
  using Source = absl::FunctionRef<absl::StatusOr<Blob>(const Digest&)>;

  // `calls` must outlive this.
  explicit BlobClient(Calls& calls);

  // Brings a blob into `store`, unless it is there. What came before a failure is kept as BlobWriter keeps it.
  // DATA_LOSS when what came is something else.
  absl::Status Fetch(const Digest& digest, BlobStore& store, const RetryPolicy& policy);

  // Sends those of `digests` that the server lacks, in their order; `source` is asked for these alone.
  absl::Status Send(absl::Span<const Digest> digests, Source source, const RetryPolicy& policy);

 private:
  absl::Status FetchOnce(const Digest& digest, BlobStore& store, const RetryPolicy& policy,
                         bool& progressed);
  absl::Status SendOne(const Digest& digest, Source source, const RetryPolicy& policy);
  absl::Status WriteFrom(int64_t offset, const Digest& digest, const Blob& blob,
                         const RetryPolicy& policy);

  Calls& calls_;
  const std::unique_ptr<v1::BlobService::StubInterface> stub_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_BLOB_CLIENT_H_
