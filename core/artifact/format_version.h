// Which version of the format a manifest needs.
#ifndef SLIPWAY_CORE_ARTIFACT_FORMAT_VERSION_H_
#define SLIPWAY_CORE_ARTIFACT_FORMAT_VERSION_H_

#include <cstdint>
#include <string>

#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// The lowest version whose readers can follow all that the manifest uses: what a writer states.
uint32_t LowestFormatVersion(const v1::Manifest& manifest);

// The first thing it uses that came with version 2, for people: "symbols", "step 3 of function 0: a launch". Empty
// when it uses none.
std::string FirstUseOfVersion2(const v1::Manifest& manifest);

}  // namespace slipway

#endif  // SLIPWAY_CORE_ARTIFACT_FORMAT_VERSION_H_
