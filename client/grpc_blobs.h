// Moves blobs between this client and a server.
#ifndef SLIPWAY_CLIENT_GRPC_BLOBS_H_
#define SLIPWAY_CLIENT_GRPC_BLOBS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/grpc_calls.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/blob.grpc.pb.h"

namespace slipway {

// A blob and its name.
struct NamedBlob {
  Digest digest;
  Blob contents;
};

// Sends those of `blobs` that the server lacks. Broken transfers go on where they broke for as long as
// `retry_for` allows without progress.
absl::Status UploadBlobs(v1::BlobService::StubInterface& stub, Calls& calls,
                         absl::Span<const NamedBlob> blobs, absl::Duration retry_for);

// Fetches a blob and checks it. DATA_LOSS when what came is something else.
absl::StatusOr<Blob> DownloadBlob(v1::BlobService::StubInterface& stub, Calls& calls,
                                  const Digest& digest, absl::Duration retry_for);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_GRPC_BLOBS_H_
