// The manifest as bytes.
#ifndef SLIPWAY_CORE_ARTIFACT_MANIFEST_H_
#define SLIPWAY_CORE_ARTIFACT_MANIFEST_H_

#include <string>

#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// The canonical bytes; their digest names the artifact. CheckedManifest::Parse is the way back.
std::string SerializeManifest(const v1::Manifest& manifest);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_MANIFEST_H_
