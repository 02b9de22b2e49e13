// ConstantBlobs: a program's constants as blobs.
#ifndef SLIPWAY_CORE_BACKENDS_PROGRAM_CONSTANT_BLOBS_H_
#define SLIPWAY_CORE_BACKENDS_PROGRAM_CONSTANT_BLOBS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/backends/keep_blob.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"

namespace slipway {

// From as many bytes on, a constant is a blob of its own, so that programs which share it share the
// blob; smaller ones lie in one blob together.
inline constexpr int64_t kOwnBlobBytes = 64 << 10;

struct PlacedConstant {
  Digest blob;
  int64_t offset = 0;  // A multiple of 64.
  int64_t size_bytes = 0;
};

struct ConstantBlobs {
  std::vector<PlacedConstant> constants;  // One a tensor.
  absl::flat_hash_map<Digest, Blob> blobs;
  int64_t total_bytes = 0;  // Of all blobs.
};

// The bytes of large tensors are made (Tensor::Loaded), handed to `keep` and let go again, a few at a time, on threads of
// its own. Errors of `keep`.
absl::StatusOr<ConstantBlobs> PlaceConstants(const std::vector<Tensor>& tensors,
                                             const KeepBlob& keep);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_PROGRAM_CONSTANT_BLOBS_H_
