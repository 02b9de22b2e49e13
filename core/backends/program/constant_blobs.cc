#include "core/backends/program/constant_blobs.h"

#include <memory>
#include <string>
#include <utility>

#include "core/artifact/limits.h"

namespace slipway {

ConstantBlobs PlaceConstants(const std::vector<Tensor>& tensors) {
  ConstantBlobs result;
  result.constants.resize(tensors.size());
  std::string merged;
  for (size_t i = 0; i < tensors.size(); ++i) {
    PlacedConstant& placed = result.constants[i];
    placed.size_bytes = tensors[i].byte_size();
    if (placed.size_bytes >= kOwnBlobBytes) {
      placed.blob = Digest::Of(tensors[i].bytes());
      auto owner = std::make_shared<const Tensor>(tensors[i]);
      const absl::string_view bytes = owner->bytes();
      result.blobs.try_emplace(placed.blob, bytes, std::move(owner));
    } else {
      placed.offset = static_cast<int64_t>(merged.size());
      merged.append(tensors[i].bytes().data(), tensors[i].bytes().size());
      merged.resize((merged.size() + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment);
    }
  }
  const Digest merged_digest = Digest::Of(merged);
  bool any_merged = false;
  for (PlacedConstant& placed : result.constants) {
    if (placed.size_bytes >= kOwnBlobBytes) continue;
    placed.blob = merged_digest;
    any_merged = true;
  }
  if (any_merged) result.blobs.try_emplace(merged_digest, Blob::Own(std::move(merged)));
  for (const auto& [digest, blob] : result.blobs) result.total_bytes += blob.size_bytes();
  return result;
}

}  // namespace slipway
