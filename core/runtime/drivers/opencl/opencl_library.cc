#include "core/runtime/drivers/opencl/opencl_library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

constexpr char kFile[] = "libOpenCL.so.1";

absl::Status NotHere(absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("opencl: this machine has no OpenCL 2.0: ", why,
                   ": install ocl-icd-libopencl1 and what the device's vendor offers "
                   "(pocl-opencl-icd computes on the CPU)"));
}

absl::StatusOr<OpenClLibrary> LoadNow() {
  // Not closed again: the functions are used until the process ends.
  void* const file = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) return NotHere(dlerror());
  OpenClLibrary library;
#define SLIPWAY_FIND(name)                                                         \
  library.name = reinterpret_cast<decltype(&::cl##name)>(dlsym(file, "cl" #name)); \
  if (library.name == nullptr) return NotHere(absl::StrCat(kFile, " lacks cl" #name));
  SLIPWAY_OPENCL_FUNCTIONS(SLIPWAY_FIND)
#undef SLIPWAY_FIND
  return library;
}

}  // namespace

absl::StatusOr<const OpenClLibrary*> OpenClLibrary::Load() {
  static const auto* const library = new absl::StatusOr<OpenClLibrary>(LoadNow());
  if (!library->ok()) return library->status();
  return &**library;
}

std::string OpenClErrorName(cl_int error) {
  const char* name = "error";
  switch (error) {
#define SLIPWAY_NAME(code) \
  case code:               \
    name = #code;          \
    break;
    SLIPWAY_NAME(CL_DEVICE_NOT_FOUND)
    SLIPWAY_NAME(CL_DEVICE_NOT_AVAILABLE)
    SLIPWAY_NAME(CL_COMPILER_NOT_AVAILABLE)
    SLIPWAY_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    SLIPWAY_NAME(CL_OUT_OF_RESOURCES)
    SLIPWAY_NAME(CL_OUT_OF_HOST_MEMORY)
    SLIPWAY_NAME(CL_BUILD_PROGRAM_FAILURE)
    SLIPWAY_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    SLIPWAY_NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    SLIPWAY_NAME(CL_INVALID_VALUE)
    SLIPWAY_NAME(CL_INVALID_DEVICE)
    SLIPWAY_NAME(CL_INVALID_CONTEXT)
    SLIPWAY_NAME(CL_INVALID_COMMAND_QUEUE)
    SLIPWAY_NAME(CL_INVALID_BINARY)
    SLIPWAY_NAME(CL_INVALID_BUILD_OPTIONS)
    SLIPWAY_NAME(CL_INVALID_PROGRAM)
    SLIPWAY_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    SLIPWAY_NAME(CL_INVALID_KERNEL_NAME)
    SLIPWAY_NAME(CL_INVALID_KERNEL)
    SLIPWAY_NAME(CL_INVALID_ARG_INDEX)
    SLIPWAY_NAME(CL_INVALID_ARG_VALUE)
    SLIPWAY_NAME(CL_INVALID_ARG_SIZE)
    SLIPWAY_NAME(CL_INVALID_KERNEL_ARGS)
    SLIPWAY_NAME(CL_INVALID_WORK_DIMENSION)
    SLIPWAY_NAME(CL_INVALID_WORK_GROUP_SIZE)
    SLIPWAY_NAME(CL_INVALID_WORK_ITEM_SIZE)
    SLIPWAY_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
    SLIPWAY_NAME(CL_INVALID_EVENT)
    SLIPWAY_NAME(CL_INVALID_OPERATION)
#undef SLIPWAY_NAME
    case -1001:  // Of the loader: cl_khr_icd.
      name = "CL_PLATFORM_NOT_FOUND_KHR";
      break;
    default:
      break;
  }
  return absl::StrCat(name, " (", error, ")");
}

absl::Status OpenClStatus(cl_int error, absl::string_view what) {
  if (error == CL_SUCCESS) return absl::OkStatus();
  const std::string message = absl::StrCat(what, ": ", OpenClErrorName(error));
  switch (error) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
      return absl::ResourceExhaustedError(message);
    case CL_DEVICE_NOT_AVAILABLE:
      return absl::UnavailableError(absl::StrCat(message, ": the device is lost"));
    case CL_INVALID_WORK_DIMENSION:
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
      return absl::InvalidArgumentError(message);
    default:
      return absl::InternalError(message);
  }
}

}  // namespace slipway
