// TensorMemory: where a runner's tensors that clients make get their bytes.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_TENSOR_MEMORY_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_TENSOR_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/tensor/tensor.h"

namespace slipway {

// Keeps the memory of large tensors that are gone for those that come: a page that the system gives anew costs more
// than what is then written into it. Not thread-safe, nor are the tensors' ends.
class TensorMemory {
 public:
  enum class Contents {
    kZero,
    kAny,  // Elements of the type, whichever.
  };

  TensorMemory();
  // Errors of Tensor::Create. The tensor may outlive this.
  absl::StatusOr<Tensor> Make(TensorType type, Contents contents);
  // Gives what is kept back to the system.
  void Release();
  // The same, before others need memory, unless half of the address space that the process may have is free.
  void MakeRoom();
  int64_t kept_bytes() const;

 private:
  struct Kept;
  const std::shared_ptr<Kept> kept_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_TENSOR_MEMORY_H_
