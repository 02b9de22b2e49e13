// Where the blobs of an artifact go while it is made.
#ifndef SLIPWAY_CORE_BACKENDS_KEEP_BLOB_H_
#define SLIPWAY_CORE_BACKENDS_KEEP_BLOB_H_

#include <functional>

#include "absl/status/statusor.h"
#include "core/base/blob.h"
#include "core/base/digest.h"

namespace slipway {

// Takes a blob that an artifact is made of, and gives it back as the artifact shall have it: the same, or the one in a store,
// which takes no memory. Thread-safe.
using KeepBlob = std::function<absl::StatusOr<Blob>(const Digest&, Blob)>;
inline absl::StatusOr<Blob> KeepInMemory(const Digest&, Blob blob) { return blob; }

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_KEEP_BLOB_H_
