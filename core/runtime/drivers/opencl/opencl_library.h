// OpenClLibrary: the functions of libOpenCL.so.1, which is loaded when somebody asks for a device, never linked.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_LIBRARY_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_LIBRARY_H_

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// All of them are there from OpenCL 2.0 on.
#define SLIPWAY_OPENCL_FUNCTIONS(X)   \
  X(BuildProgram)                     \
  X(CreateContext)                    \
  X(CreateKernel)                     \
  X(CreateCommandQueueWithProperties) \
  X(CreateProgramWithBinary)          \
  X(CreateProgramWithSource)          \
  X(EnqueueBarrierWithWaitList)       \
  X(EnqueueMarkerWithWaitList)        \
  X(EnqueueNDRangeKernel)             \
  X(EnqueueSVMMemcpy)                 \
  X(Finish)                           \
  X(Flush)                            \
  X(GetDeviceIDs)                     \
  X(GetDeviceInfo)                    \
  X(GetEventInfo)                     \
  X(GetKernelArgInfo)                 \
  X(GetKernelInfo)                    \
  X(GetKernelWorkGroupInfo)           \
  X(GetPlatformIDs)                   \
  X(GetPlatformInfo)                  \
  X(GetProgramBuildInfo)              \
  X(GetProgramInfo)                   \
  X(ReleaseCommandQueue)              \
  X(ReleaseContext)                   \
  X(ReleaseEvent)                     \
  X(ReleaseKernel)                    \
  X(ReleaseProgram)                   \
  X(RetainEvent)                      \
  X(SVMAlloc)                         \
  X(SVMFree)                          \
  X(SetKernelArg)                     \
  X(SetKernelArgSVMPointer)           \
  X(WaitForEvents)

struct OpenClLibrary {
#define SLIPWAY_DECLARE(name) decltype(&::cl##name) name = nullptr;
  SLIPWAY_OPENCL_FUNCTIONS(SLIPWAY_DECLARE)
#undef SLIPWAY_DECLARE

  // The library of this machine; stays loaded until the process ends, as vendors' libraries seldom survive being unloaded.
  // FAILED_PRECONDITION says what to install.
  static absl::StatusOr<const OpenClLibrary*> Load();
};

// "CL_OUT_OF_RESOURCES (-5)".
std::string OpenClErrorName(cl_int error);

// The status for a failed call: RESOURCE_EXHAUSTED where the device has no more of something, UNAVAILABLE where it is there
// no longer, INVALID_ARGUMENT for sizes it does not launch, else INTERNAL; "what: CL_..."; OK for CL_SUCCESS.
absl::Status OpenClStatus(cl_int error, absl::string_view what);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_LIBRARY_H_
