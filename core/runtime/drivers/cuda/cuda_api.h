// What of NVIDIA's driver API is used: functions, types and numbers, as its public reference has them. The library itself is loaded when
// somebody asks for a device (cuda_library.h), and nothing of NVIDIA's is needed to build.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_API_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_API_H_

#include <cstddef>
#include <cstdint>

namespace slipway {

using CUresult = int;
using CUdevice = int;
// An address that host and all devices count alike.
using CUdeviceptr = unsigned long long;  // NOLINT(google-runtime-int)
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;

// Results that are told apart.
enum CudaResult : CUresult {
  kCudaSuccess = 0,
  kCudaInvalidValue = 1,
  kCudaOutOfMemory = 2,
  kCudaNotInitialized = 3,
  kCudaDeinitialized = 4,
  kCudaStubLibrary = 34,
  kCudaDeviceUnavailable = 46,
  kCudaNoDevice = 100,
  kCudaInvalidDevice = 101,
  kCudaDeviceNotLicensed = 102,
  kCudaInvalidImage = 200,
  kCudaInvalidContext = 201,
  kCudaNoBinaryForGpu = 209,
  kCudaEccUncorrectable = 214,
  kCudaInvalidPtx = 218,
  kCudaNvlinkUncorrectable = 220,
  kCudaJitCompilerNotFound = 221,
  kCudaUnsupportedPtxVersion = 222,
  kCudaJitCompilationDisabled = 223,
  kCudaInvalidSource = 300,
  kCudaInvalidHandle = 400,
  kCudaNotFound = 500,
  kCudaNotReady = 600,
  kCudaIllegalAddress = 700,
  kCudaLaunchOutOfResources = 701,
  kCudaLaunchTimeout = 702,
  kCudaContextIsDestroyed = 709,
  kCudaAssert = 710,
  kCudaHardwareStackError = 714,
  kCudaIllegalInstruction = 715,
  kCudaMisalignedAddress = 716,
  kCudaInvalidAddressSpace = 717,
  kCudaInvalidPc = 718,
  kCudaLaunchFailed = 719,
  kCudaSystemNotReady = 802,
  kCudaSystemDriverMismatch = 803,
  kCudaCompatNotSupported = 804,
  kCudaUnknown = 999,
};

// Of cuDeviceGetAttribute.
enum CudaDeviceAttribute {
  kCudaMaxThreadsPerBlock = 1,
  kCudaMaxBlockDimX = 2,
  kCudaMaxBlockDimY = 3,
  kCudaMaxBlockDimZ = 4,
  kCudaMaxGridDimX = 5,
  kCudaMaxGridDimY = 6,
  kCudaMaxGridDimZ = 7,
  kCudaMultiprocessorCount = 16,
  kCudaL2CacheBytes = 38,
  kCudaUnifiedAddressing = 41,
  kCudaCapabilityMajor = 75,
  kCudaCapabilityMinor = 76,
  kCudaMaxSharedMemoryPerBlockOptin = 97,
};

// Of cuFuncGetAttribute and cuFuncSetAttribute.
enum CudaFunctionAttribute {
  kCudaFunctionMaxThreadsPerBlock = 0,
  kCudaFunctionSharedBytes = 1,
  kCudaFunctionMaxDynamicSharedBytes = 8,
};

// Of cuModuleLoadDataEx.
enum CudaJitOption {
  kCudaJitErrorLogBuffer = 5,
  kCudaJitErrorLogBufferBytes = 6,
};

inline constexpr unsigned kCudaHostAllocPortable = 1;
inline constexpr unsigned kCudaHostAllocDeviceMap = 2;
inline constexpr unsigned kCudaStreamNonBlocking = 1;
inline constexpr unsigned kCudaEventDisableTiming = 2;
// Other threads may call what they like meanwhile.
inline constexpr int kCudaCaptureThreadLocal = 1;

// X(name here, name in the library, parameters): all are there from CUDA 10.2 on.
#define SLIPWAY_CUDA_FUNCTIONS(X)                                                                  \
  X(Init, cuInit, (unsigned flags))                                                                \
  X(DriverGetVersion, cuDriverGetVersion, (int* version))                                          \
  X(GetErrorName, cuGetErrorName, (CUresult result, const char** name))                            \
  X(GetErrorString, cuGetErrorString, (CUresult result, const char** text))                        \
  X(DeviceGetCount, cuDeviceGetCount, (int* count))                                                \
  X(DeviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                                      \
  X(DeviceGetName, cuDeviceGetName, (char* name, int bytes, CUdevice device))                      \
  X(DeviceGetPCIBusId, cuDeviceGetPCIBusId, (char* address, int bytes, CUdevice device))           \
  X(DeviceGetAttribute, cuDeviceGetAttribute, (int* value, int attribute, CUdevice device))        \
  X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))      \
  X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                      \
  X(CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext context))                                      \
  X(CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext * context))                                      \
  X(MemGetInfo, cuMemGetInfo_v2, (size_t * free, size_t * total))                                  \
  X(MemAlloc, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                \
  X(MemFree, cuMemFree_v2, (CUdeviceptr address))                                                  \
  X(MemHostAlloc, cuMemHostAlloc, (void** host, size_t bytes, unsigned flags))                     \
  X(MemFreeHost, cuMemFreeHost, (void* host))                                                      \
  X(MemHostGetDevicePointer, cuMemHostGetDevicePointer_v2,                                         \
    (CUdeviceptr * address, void* host, unsigned flags))                                           \
  X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                         \
    (CUdeviceptr to, const void* from, size_t bytes, CUstream stream))                             \
  X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                         \
    (void* to, CUdeviceptr from, size_t bytes, CUstream stream))                                   \
  X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                         \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                             \
  X(MemcpyPeerAsync, cuMemcpyPeerAsync,                                                            \
    (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, \
     CUstream stream))                                                                             \
  X(ModuleLoadDataEx, cuModuleLoadDataEx,                                                          \
    (CUmodule * module, const void* image, unsigned option_count, int* options, void** values))    \
  X(ModuleUnload, cuModuleUnload, (CUmodule module))                                               \
  X(ModuleGetFunction, cuModuleGetFunction,                                                        \
    (CUfunction * function, CUmodule module, const char* name))                                    \
  X(FuncGetAttribute, cuFuncGetAttribute, (int* value, int attribute, CUfunction function))        \
  X(FuncSetAttribute, cuFuncSetAttribute, (CUfunction function, int attribute, int value))         \
  X(StreamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                             \
  X(StreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                          \
  X(StreamSynchronize, cuStreamSynchronize, (CUstream stream))                                     \
  X(StreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))          \
  X(EventCreate, cuEventCreate, (CUevent * event, unsigned flags))                                 \
  X(EventDestroy, cuEventDestroy_v2, (CUevent event))                                              \
  X(EventRecord, cuEventRecord, (CUevent event, CUstream stream))                                  \
  X(EventSynchronize, cuEventSynchronize, (CUevent event))                                         \
  X(EventElapsedTime, cuEventElapsedTime, (float* milliseconds, CUevent from, CUevent to))         \
  X(LaunchKernel, cuLaunchKernel,                                                                  \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,     \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                   \
     void** parameters, void** extra))

// The same of graphs: all are there from CUDA 11.4 on.
inline constexpr int kCudaVersionOfGraphs = 11040;
#define SLIPWAY_CUDA_GRAPH_FUNCTIONS(X)                                         \
  X(StreamBeginCapture, cuStreamBeginCapture_v2, (CUstream stream, int mode))   \
  X(StreamEndCapture, cuStreamEndCapture, (CUstream stream, CUgraph * graph))   \
  X(GraphInstantiate, cuGraphInstantiateWithFlags,                              \
    (CUgraphExec * exec, CUgraph graph, unsigned long long flags)) /* NOLINT */ \
  X(GraphLaunch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))            \
  X(GraphDestroy, cuGraphDestroy, (CUgraph graph))                              \
  X(GraphExecDestroy, cuGraphExecDestroy, (CUgraphExec exec))

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_API_H_
