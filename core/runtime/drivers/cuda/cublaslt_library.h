// CublasLtLibrary: the functions of libcublasLt.so, which comes with NVIDIA's toolkit, or with packages of Python, and is loaded where a program could use
// it, never linked. No program needs it.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_LIBRARY_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/runtime/drivers/cuda/cublaslt_api.h"

namespace slipway {

struct CublasLtLibrary {
#define SLIPWAY_DECLARE(name, symbol, parameters) CublasStatus(*name) parameters = nullptr;
  SLIPWAY_CUBLASLT_FUNCTIONS(SLIPWAY_DECLARE)
#undef SLIPWAY_DECLARE
  std::string name;  // "cublasLt 12.4.5".

  // The newest library of 11 to 13 that a driver for this CUDA (12040 for 12.4) runs; stays loaded until the process ends, and is the same for all who ask
  // first. FAILED_PRECONDITION says why there is none.
  static absl::StatusOr<const CublasLtLibrary*> Load(int cuda_version);
};

// The status for a failed call, "what: CUBLAS_STATUS_NOT_SUPPORTED (15)", of the class that cublaslt_library.cc lists; OK for kCublasSuccess.
absl::Status ToStatus(CublasStatus status, absl::string_view what);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_LIBRARY_H_
