#include "device_agent/attached/blobs_of_request.h"

#include "absl/status/statusor.h"
#include "core/artifact/checked_manifest.h"
#include "core/wire/digest_proto.h"

namespace slipway {

std::vector<Digest> BlobsOf(const runner::Request& request) {
  if (request.operation().has_load() || request.has_measure()) {
    const absl::StatusOr<CheckedManifest> manifest =
        CheckedManifest::Parse(request.load().manifest());
    if (!manifest.ok()) return {};
    return {manifest->blobs().begin(), manifest->blobs().end()};
  }
  if (request.put().tensor().has_blob()) {
    const absl::StatusOr<Digest> digest = FromProto(request.put().tensor().blob());
    if (digest.ok()) return {*digest};
  }
  return {};
}

}  // namespace slipway
