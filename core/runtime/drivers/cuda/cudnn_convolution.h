// CudnnConvolution: a convolution by cuDNN, in one of the ways that its heuristics name.
//
// Source: NVIDIA, "cuDNN Backend API", chapter "Graph library".
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_CONVOLUTION_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_CONVOLUTION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/artifact/vendor_step.h"
#include "core/runtime/drivers/cuda/converting_code.h"
#include "core/runtime/drivers/cuda/cuda_way.h"
#include "core/runtime/drivers/cuda/cudnn_descriptor.h"
#include "core/runtime/drivers/cuda/cudnn_library.h"

namespace slipway {

class CudaDevice;

// A handle, which one thread at a time may use.
struct CudnnSession {
  CudnnHandle handle = nullptr;
  std::mutex mutex;
};

class CudnnConvolution final : public CudaWay {
 public:
  // What cuDNN may have beside room for a convolution's tensors in a form of its own, and what tensors may have that are brought to another form here.
  static constexpr int64_t kMostWorkspaceBytes = int64_t{32} << 20;
  static constexpr int64_t kMostTurnedBytes = int64_t{1} << 29;

  // As VendorLibrary::Find. REQUIRES: the step is a convolution. f32 and tf32 are told as they lie; what is multiplied in 16 bits is brought to channels
  // innermost first, to the workspace, and back, by `converting`, without which there is no way. All of them outlive the ways; the device's context is current.
  static absl::StatusOr<std::vector<std::unique_ptr<LibraryWay>>> Find(
      const CudaDevice& device, const CudnnLibrary& library, CudnnSession& session,
      const ConvertingCode* converting, const VendorStep& step, int most);
  ~CudnnConvolution() override;

  absl::Status Load() override;
  int64_t workspace_bytes() const override { return workspace_bytes_; }
  absl::Status Issue(const CudaDevice& device, CUstream stream,
                     const CudaWayAddresses& addresses) const override;

 private:
  struct Graph;  // What all ways have in common.

  CudnnConvolution(const CudaDevice& device, std::shared_ptr<const Graph> graph,
                   CudnnDescriptor config);
  absl::Status MakePlan();

  const CudaDevice& device_;
  const std::shared_ptr<const Graph> graph_;
  const CudnnDescriptor config_;  // The graph's.
  std::once_flag once_;
  absl::Status loaded_;
  std::unique_ptr<CudnnDescriptors> descriptors_;
  CudnnDescriptor plan_ = nullptr;
  int64_t workspace_bytes_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_CONVOLUTION_H_
