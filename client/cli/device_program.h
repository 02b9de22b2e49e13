// DeviceProgram: an artifact that the server has, loaded on a device and called with tensors in files.
#ifndef SLIPWAY_CLIENT_CLI_DEVICE_PROGRAM_H_
#define SLIPWAY_CLIENT_CLI_DEVICE_PROGRAM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/session.h"
#include "core/base/digest.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

// Not thread-safe.
class DeviceProgram {
 public:
  static absl::StatusOr<DeviceProgram> Load(Session& session, const Digest& artifact, int threads);

  // The outputs for these inputs, both in the program's order.
  absl::StatusOr<std::vector<NamedTensor>> Call(absl::Span<const Tensor> inputs);
  // The shortest of some calls.
  absl::StatusOr<absl::Duration> Time(absl::Span<const Tensor> inputs);

 private:
  DeviceProgram(Session& session, RemoteProgram program)
      : session_(&session), program_(std::move(program)) {}
  absl::StatusOr<std::vector<RemoteTensor>> Put(absl::Span<const Tensor> tensors);

  Session* session_;
  RemoteProgram program_;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_DEVICE_PROGRAM_H_
