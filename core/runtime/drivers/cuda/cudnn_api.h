// What of NVIDIA's cuDNN 9 is used: functions, types and numbers, as its public reference has them ("cuDNN Backend API", chapters on the graph library). The library
// itself is loaded where a program has convolutions for it (cudnn_library.h), and nothing of NVIDIA's is needed to build.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_API_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_API_H_

#include <cstddef>
#include <cstdint>

#include "core/runtime/drivers/cuda/cuda_api.h"

namespace slipway {

using CudnnStatus = int;
using CudnnHandle = struct CudnnContext_st*;
using CudnnDescriptor = struct CudnnDescriptor_st*;

// Results; the thousands of one that is none of these say what class it is of.
enum CudnnResult : CudnnStatus {
  kCudnnSuccess = 0,
  kCudnnNotInitialized = 1001,
  kCudnnBadParameter = 2000,
  kCudnnNotFinalized = 2004,
  kCudnnNotSupported = 3000,
  kCudnnInternalError = 4000,
  kCudnnHostAllocationFailed = 4003,
  kCudnnDeviceAllocationFailed = 4004,
  kCudnnExecutionFailed = 5000,
};

// Of cudnnBackendCreateDescriptor.
enum CudnnDescriptorType : int {
  kCudnnPointwise = 0,
  kCudnnConvolution = 1,
  kCudnnEngine = 2,
  kCudnnEngineConfig = 3,
  kCudnnEngineHeuristic = 4,
  kCudnnExecutionPlan = 5,
  kCudnnConvolutionForward = 10,
  kCudnnPointwiseOperation = 13,
  kCudnnOperationGraph = 15,
  kCudnnVariantPack = 16,
  kCudnnTensor = 17,
};

// Types of attributes' elements.
enum CudnnAttributeType : int {
  kCudnnTypeHandle = 0,
  kCudnnTypeDataType = 1,  // int32_t
  kCudnnTypeBoolean = 2,   // bool
  kCudnnTypeInt64 = 3,
  kCudnnTypeFloat = 4,
  kCudnnTypePointer = 6,
  kCudnnTypeConvolutionMode = 7,  // int32_t, as are the following ones
  kCudnnTypeHeuristicMode = 8,
  kCudnnTypeNumericalNote = 11,
  kCudnnTypePointwiseMode = 14,
  kCudnnTypeDescriptor = 15,
};

enum CudnnAttributeName : int {
  kCudnnPointwiseModeOf = 0,
  kCudnnPointwiseMath = 1,
  kCudnnConvolutionMath = 100,
  kCudnnConvolutionModeOf = 101,
  kCudnnConvolutionDilations = 102,
  kCudnnConvolutionStrides = 103,
  kCudnnConvolutionPadsBehind = 104,
  kCudnnConvolutionPadsBefore = 105,
  kCudnnConvolutionDimensions = 106,
  kCudnnHeuristicMode = 200,
  kCudnnHeuristicGraph = 201,
  kCudnnHeuristicResults = 202,
  kCudnnConfigEngine = 300,
  kCudnnPlanHandle = 400,
  kCudnnPlanConfig = 401,
  kCudnnPlanWorkspaceBytes = 402,
  kCudnnForwardAlpha = 700,
  kCudnnForwardBeta = 701,
  kCudnnForwardConvolution = 702,
  kCudnnForwardW = 703,
  kCudnnForwardX = 704,
  kCudnnForwardY = 705,
  kCudnnPointwiseDescriptor = 750,
  kCudnnPointwiseX = 751,
  kCudnnPointwiseB = 752,
  kCudnnPointwiseY = 753,
  kCudnnGraphHandle = 800,
  kCudnnGraphOperations = 801,
  kCudnnTensorAlignment = 900,
  kCudnnTensorDataType = 901,
  kCudnnTensorExtents = 902,
  kCudnnTensorStrides = 903,
  kCudnnTensorId = 906,
  kCudnnTensorIsVirtual = 907,
  kCudnnPackIds = 1000,
  kCudnnPackPointers = 1001,
  kCudnnPackWorkspace = 1003,
  kCudnnEngineNotes = 1303,
};

// Types of tensors' elements, and of sums.
enum CudnnDataType : int32_t { kCudnnFloat32 = 0, kCudnnFloat16 = 2, kCudnnBfloat16 = 9 };

enum CudnnConvolutionMode : int32_t { kCudnnCrossCorrelation = 1 };

enum CudnnPointwiseMode : int32_t {
  kCudnnAdd = 0,
  kCudnnIdentity = 21,
  kCudnnRelu = 100,
  kCudnnGeluTanh = 107,
};

enum CudnnHeuristicModes : int32_t { kCudnnHeuristicFallback = 2, kCudnnHeuristicA = 3 };

// What an engine tells of its numbers.
enum CudnnNumericalNote : int32_t {
  kCudnnTensorCores = 0,
  kCudnnDownConvertsInputs = 1,
  kCudnnReducedPrecisionSums = 2,
  kCudnnNondeterministic = 4,
};

// X(result, name here, name in the library, parameters): all are there from cuDNN 9.0 on.
#define SLIPWAY_CUDNN_FUNCTIONS(X)                                                               \
  X(size_t, GetVersion, cudnnGetVersion, ())                                                     \
  X(size_t, GetCudaVersion, cudnnGetCudartVersion, ())                                           \
  X(const char*, GetErrorString, cudnnGetErrorString, (CudnnStatus status))                      \
  X(void, GetLastErrorString, cudnnGetLastErrorString, (char* message, size_t bytes))            \
  X(CudnnStatus, Create, cudnnCreate, (CudnnHandle * handle))                                    \
  X(CudnnStatus, Destroy, cudnnDestroy, (CudnnHandle handle))                                    \
  X(CudnnStatus, SetStream, cudnnSetStream, (CudnnHandle handle, CUstream stream))               \
  X(CudnnStatus, CreateDescriptor, cudnnBackendCreateDescriptor,                                 \
    (int type, CudnnDescriptor* descriptor))                                                     \
  X(CudnnStatus, DestroyDescriptor, cudnnBackendDestroyDescriptor, (CudnnDescriptor descriptor)) \
  X(CudnnStatus, SetAttribute, cudnnBackendSetAttribute,                                         \
    (CudnnDescriptor descriptor, int name, int type, int64_t count, const void* elements))       \
  X(CudnnStatus, GetAttribute, cudnnBackendGetAttribute,                                         \
    (CudnnDescriptor descriptor, int name, int type, int64_t room, int64_t* count,               \
     void* elements))                                                                            \
  X(CudnnStatus, Finalize, cudnnBackendFinalize, (CudnnDescriptor descriptor))                   \
  X(CudnnStatus, Execute, cudnnBackendExecute,                                                   \
    (CudnnHandle handle, CudnnDescriptor plan, CudnnDescriptor pack))

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDNN_API_H_
