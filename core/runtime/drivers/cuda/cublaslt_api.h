// What of NVIDIA's cuBLASLt is used: functions, types and numbers, as its public reference has them. The library itself is loaded where a program has
// products for it (cublaslt_library.h), and nothing of NVIDIA's is needed to build.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_API_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_API_H_

#include <cstddef>
#include <cstdint>

#include "core/runtime/drivers/cuda/cuda_api.h"

namespace slipway {

using CublasStatus = int;
using CublasLtHandle = struct CublasLtContext_st*;
using CublasLtMatmulDesc = struct CublasLtMatmulDesc_st*;
using CublasLtMatrixLayout = struct CublasLtMatrixLayout_st*;
using CublasLtPreference = struct CublasLtPreference_st*;

// Results that are told apart.
enum CublasResult : CublasStatus {
  kCublasSuccess = 0,
  kCublasNotInitialized = 1,
  kCublasAllocFailed = 3,
  kCublasInvalidValue = 7,
  kCublasArchMismatch = 8,
  kCublasMappingError = 11,
  kCublasExecutionFailed = 13,
  kCublasInternalError = 14,
  kCublasNotSupported = 15,
};

// Of cublasLtGetProperty.
enum CublasProperty { kCublasMajor = 0, kCublasMinor = 1, kCublasPatch = 2 };

// Types of elements: cudaDataType.
enum CublasType : int32_t { kCublasFloat32 = 0, kCublasFloat16 = 2, kCublasBfloat16 = 14 };

// Sums are of f32; factors of f32 may be rounded to the type that is named.
enum CublasCompute : int32_t {
  kCublasCompute32 = 68,
  kCublasComputeFast16 = 74,
  kCublasComputeFastBf16 = 75,
  kCublasComputeFastTf32 = 77,
};

enum CublasOrder : int32_t { kCublasColumnsFirst = 0, kCublasRowsFirst = 1 };
enum CublasOperation : int32_t { kCublasAsIs = 0, kCublasTransposed = 1 };

// Bits of an epilogue, beside which the one for none is 1.
enum CublasEpilogue : uint32_t {
  kCublasNothing = 1,
  kCublasRelu = 2,
  kCublasBias = 4,
  kCublasGelu = 32,
};

enum CublasLayoutAttribute {
  kCublasLayoutOrder = 1,        // int32_t
  kCublasLayoutBatchCount = 5,   // int32_t
  kCublasLayoutBatchStride = 6,  // int64_t, in elements
};

enum CublasDescAttribute {
  kCublasDescTransA = 3,       // int32_t
  kCublasDescTransB = 4,       // int32_t
  kCublasDescEpilogue = 7,     // uint32_t
  kCublasDescBiasPointer = 8,  // const void*
};

enum CublasPreferenceAttribute {
  kCublasMaxWorkspaceBytes = 1,  // uint64_t
  kCublasMinAlignmentA = 5,      // uint32_t, in bytes, and likewise
  kCublasMinAlignmentB = 6,
  kCublasMinAlignmentC = 7,
  kCublasMinAlignmentD = 8,
};

struct CublasLtAlgo {
  uint64_t data[8];
};

struct CublasLtHeuristic {
  CublasLtAlgo algo;
  size_t workspace_bytes;
  CublasStatus state;
  float waves;
  int reserved[4];
};

// X(name here, name in the library, parameters): all are there from cuBLASLt 11 on, and give a status.
#define SLIPWAY_CUBLASLT_FUNCTIONS(X)                                                           \
  X(Create, cublasLtCreate, (CublasLtHandle * handle))                                          \
  X(Destroy, cublasLtDestroy, (CublasLtHandle handle))                                          \
  X(GetProperty, cublasLtGetProperty, (int property, int* value))                               \
  X(DescCreate, cublasLtMatmulDescCreate,                                                       \
    (CublasLtMatmulDesc * desc, int32_t compute, int32_t scale))                                \
  X(DescDestroy, cublasLtMatmulDescDestroy, (CublasLtMatmulDesc desc))                          \
  X(DescSet, cublasLtMatmulDescSetAttribute,                                                    \
    (CublasLtMatmulDesc desc, int attribute, const void* value, size_t bytes))                  \
  X(LayoutCreate, cublasLtMatrixLayoutCreate,                                                   \
    (CublasLtMatrixLayout * layout, int32_t type, uint64_t rows, uint64_t columns, int64_t ld)) \
  X(LayoutDestroy, cublasLtMatrixLayoutDestroy, (CublasLtMatrixLayout layout))                  \
  X(LayoutSet, cublasLtMatrixLayoutSetAttribute,                                                \
    (CublasLtMatrixLayout layout, int attribute, const void* value, size_t bytes))              \
  X(PreferenceCreate, cublasLtMatmulPreferenceCreate, (CublasLtPreference * preference))        \
  X(PreferenceDestroy, cublasLtMatmulPreferenceDestroy, (CublasLtPreference preference))        \
  X(PreferenceSet, cublasLtMatmulPreferenceSetAttribute,                                        \
    (CublasLtPreference preference, int attribute, const void* value, size_t bytes))            \
  X(GetHeuristic, cublasLtMatmulAlgoGetHeuristic,                                               \
    (CublasLtHandle handle, CublasLtMatmulDesc desc, CublasLtMatrixLayout a,                    \
     CublasLtMatrixLayout b, CublasLtMatrixLayout c, CublasLtMatrixLayout d,                    \
     CublasLtPreference preference, int wanted, CublasLtHeuristic* found, int* count))          \
  X(Matmul, cublasLtMatmul,                                                                     \
    (CublasLtHandle handle, CublasLtMatmulDesc desc, const void* alpha, const void* a,          \
     CublasLtMatrixLayout a_layout, const void* b, CublasLtMatrixLayout b_layout,               \
     const void* beta, const void* c, CublasLtMatrixLayout c_layout, void* d,                   \
     CublasLtMatrixLayout d_layout, const CublasLtAlgo* algo, void* workspace,                  \
     size_t workspace_bytes, CUstream stream))

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUBLASLT_API_H_
