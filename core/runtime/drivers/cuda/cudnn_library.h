// CudnnLibrary: the functions of libcudnn.so, which NVIDIA has for download and packages of Python bring, and which is loaded where a program could use it, never
// linked. No program needs it.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_LIBRARY_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/runtime/drivers/cuda/cudnn_api.h"

namespace slipway {

struct CudnnLibrary {
#define SLIPWAY_DECLARE(result, name, symbol, parameters) result(*name) parameters = nullptr;
  SLIPWAY_CUDNN_FUNCTIONS(SLIPWAY_DECLARE)
#undef SLIPWAY_DECLARE
  std::string name;  // "cudnn 9.8.0".

  // That of version 9, where it is for this CUDA (12040 for 12.4) or one before; stays loaded until the process ends, and is the same for all who ask first.
  // FAILED_PRECONDITION says why there is none.
  static absl::StatusOr<const CudnnLibrary*> Load(int cuda_version);

  // The status for a failed call of this thread, "what: CUDNN_STATUS_NOT_SUPPORTED (3000), why", of the class that cudnn_library.cc lists; OK for
  // kCudnnSuccess.
  absl::Status ToStatus(CudnnStatus status, absl::string_view what) const;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_LIBRARY_H_
