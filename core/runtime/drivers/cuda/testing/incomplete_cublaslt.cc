// A libcublasLt that lacks what it should have.
#include "core/runtime/drivers/cuda/cublaslt_api.h"

extern "C" __attribute__((visibility("default"))) slipway::CublasStatus cublasLtCreate(
    slipway::CublasLtHandle* /*handle*/) {
  return slipway::kCublasInternalError;
}
