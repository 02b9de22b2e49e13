// CudaLibrary: the functions of libcuda.so.1, which comes with NVIDIA's driver and is loaded when somebody asks for a device, never linked.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_LIBRARY_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/runtime/drivers/cuda/cuda_api.h"

namespace slipway {

struct CudaLibrary {
#define SLIPWAY_DECLARE(name, symbol, parameters) CUresult(*name) parameters = nullptr;
  SLIPWAY_CUDA_FUNCTIONS(SLIPWAY_DECLARE)
  // Null where the driver is older than they are.
  SLIPWAY_CUDA_GRAPH_FUNCTIONS(SLIPWAY_DECLARE)
#undef SLIPWAY_DECLARE
  // 12040 for CUDA 12.4: the newest that the driver knows.
  int version = 0;

  // The library of this machine, initialized; stays loaded until the process ends. FAILED_PRECONDITION says what to install, or that
  // there is no device.
  static absl::StatusOr<const CudaLibrary*> Load();

  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  std::string ErrorName(CUresult result) const;
  // The status for a failed call, "what: CUDA_ERROR_...", of the class that cuda_library.cc lists; OK for kCudaSuccess.
  absl::Status ToStatus(CUresult result, absl::string_view what) const;
};

// Whether a context is good for nothing after this result, whoever uses it.
bool EndsContext(CUresult result);

// "12.4" of 12040.
std::string CudaVersionName(int version);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_LIBRARY_H_
