// Bytes of tensors in pieces.
#ifndef SLIPWAY_CLIENT_SESSION_TRANSFER_H_
#define SLIPWAY_CLIENT_SESSION_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/session/engine.h"
#include "client/session/operation.h"
#include "core/base/blob.h"
#include "core/tensor/dtype.h"

namespace slipway {

// How long a request that is quick by itself may wait behind others.
void MayWait(v1::SessionRequest& request);
// Zero is the device's default.
void SetDeadline(absl::Duration deadline, v1::SessionRequest& request);

// The bytes where they lie.
absl::Cord Share(const Blob& bytes);

// Most bytes of a tensor in one request.
int64_t PieceBytes(const SessionEngine& engine);

// Requests that write `bytes` into `tensor` from `offset` on; they share the bytes.
void AppendWrites(uint64_t tensor, int64_t offset, const Blob& bytes, int64_t piece_bytes,
                  std::vector<OutgoingRequest>& requests);

// Requests that read `size` bytes of `tensor` from `offset` on.
std::vector<OutgoingRequest> MakeReads(uint64_t tensor, int64_t offset, int64_t size,
                                       int64_t piece_bytes);
// Copies what came for the request `piece` of these to where it belongs in `bytes`, all that is read. INTERNAL when it
// has another size, or bytes that are no elements of `dtype`.
absl::Status TakeRead(size_t piece, const absl::Cord& data, DataType dtype, int64_t piece_bytes,
                      absl::Span<char> bytes);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_TRANSFER_H_
