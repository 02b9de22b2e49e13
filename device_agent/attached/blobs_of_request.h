// Which blobs a request to a runner names.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_BLOBS_OF_REQUEST_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_BLOBS_OF_REQUEST_H_

#include <vector>

#include "core/base/digest.h"
#include "device_agent/runner/runner.pb.h"

namespace slipway {

// Those it cannot be carried out without: of the program it loads, or a tensor that it puts. None where it is malformed, which the
// runner says.
std::vector<Digest> BlobsOf(const runner::Request& request);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_BLOBS_OF_REQUEST_H_
