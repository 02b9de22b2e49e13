// What goes to the server as blobs beside a request that names them.
#ifndef SLIPWAY_CLIENT_REQUEST_BLOBS_H_
#define SLIPWAY_CLIENT_REQUEST_BLOBS_H_

#include <vector>

#include "client/client.h"
#include "client/types.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

struct NamedBlob {
  Digest digest;
  Blob contents;
};

// The inputs, sorted, as blobs.
void SetEvaluation(const std::vector<NamedTensor>& inputs, v1::CompileOptions& options,
                   std::vector<NamedBlob>& blobs);

// Fills `spec` and returns the tensors that go as blobs.
std::vector<NamedBlob> SetRun(const Digest& artifact, const std::vector<NamedTensor>& inputs,
                              const RunOptions& options, v1::RunSpec& spec);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_REQUEST_BLOBS_H_
