// CudaWork: what a stream is to do, written down before the driver gets it.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_WORK_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_WORK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/runtime/device.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/drivers/cuda/cuda_way.h"

namespace slipway {

class CudaDevice;

// Launches and copies within the device, in their order. Two of equal words do the same with the same addresses.
class CudaWork {
 public:
  using Label = std::shared_ptr<const std::string>;

  // `parameters` are the 64-bit values of all parameters; `label` says in errors which launch it was.
  void AddLaunch(CUfunction function, const LaunchSizes& sizes,
                 absl::Span<const uint64_t> parameters, Label label);
  void AddCopy(CUdeviceptr to, CUdeviceptr from, int64_t bytes);
  // By a library; the way outlives the work, and all that is made of it.
  void AddWay(const CudaWay& way, const CudaWayAddresses& addresses, Label label);
  // Keeps its memory.
  void Clear();

  int64_t count() const { return static_cast<int64_t>(labels_.size()); }
  const std::vector<uint64_t>& words() const { return words_; }

  // Gives all of it to the stream, a call each. The device's context is current.
  absl::Status Issue(const CudaDevice& device, CUstream stream) const;

 private:
  // Of each piece: the function, or 0 for a copy, or 1 for a library's way; how many words follow; these.
  std::vector<uint64_t> words_;
  std::vector<Label> labels_;  // Null for a copy.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_WORK_H_
