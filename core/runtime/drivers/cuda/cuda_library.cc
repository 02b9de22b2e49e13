#include "core/runtime/drivers/cuda/cuda_library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using Code = absl::StatusCode;

constexpr char kFile[] = "libcuda.so.1";

absl::Status NotHere(absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("cuda: this machine has no CUDA: ", why,
                   ": install NVIDIA's driver, of CUDA 10.2 or newer; no toolkit is needed"));
}

absl::StatusOr<CudaLibrary> LoadNow() {
  // Not closed again: the functions are used until the process ends.
  void* const file = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) return NotHere(dlerror());
  CudaLibrary library;
#define SLIPWAY_FIND(name, symbol, parameters)                                   \
  library.name = reinterpret_cast<CUresult(*) parameters>(dlsym(file, #symbol)); \
  if (library.name == nullptr) return NotHere(absl::StrCat(kFile, " lacks " #symbol));
  SLIPWAY_CUDA_FUNCTIONS(SLIPWAY_FIND)
  SLIPWAY_RETURN_IF_ERROR(library.ToStatus(library.Init(0), "cuda: NVIDIA's driver"));
  SLIPWAY_RETURN_IF_ERROR(
      library.ToStatus(library.DriverGetVersion(&library.version), "cuda: the driver's version"));
  if (library.version < kCudaVersionOfGraphs) return library;
  SLIPWAY_CUDA_GRAPH_FUNCTIONS(SLIPWAY_FIND)
#undef SLIPWAY_FIND
  return library;
}

struct ResultRow {
  CUresult result;
  Code code;
  bool ends_context;
};

// All others are INTERNAL, and leave the context as it was.
constexpr ResultRow kResults[] = {
    {kCudaInvalidValue, Code::kInvalidArgument, false},
    {kCudaOutOfMemory, Code::kResourceExhausted, false},
    {kCudaDeinitialized, Code::kUnavailable, true},
    {kCudaStubLibrary, Code::kFailedPrecondition, false},
    {kCudaDeviceUnavailable, Code::kUnavailable, true},
    {kCudaNoDevice, Code::kFailedPrecondition, false},
    {kCudaInvalidDevice, Code::kFailedPrecondition, false},
    {kCudaDeviceNotLicensed, Code::kFailedPrecondition, false},
    {kCudaInvalidImage, Code::kInvalidArgument, false},
    {kCudaNoBinaryForGpu, Code::kFailedPrecondition, false},
    {kCudaEccUncorrectable, Code::kUnavailable, true},
    {kCudaInvalidPtx, Code::kInvalidArgument, false},
    {kCudaNvlinkUncorrectable, Code::kUnavailable, true},
    {kCudaJitCompilerNotFound, Code::kFailedPrecondition, false},
    {kCudaUnsupportedPtxVersion, Code::kFailedPrecondition, false},
    {kCudaJitCompilationDisabled, Code::kFailedPrecondition, false},
    {kCudaInvalidSource, Code::kInvalidArgument, false},
    {kCudaNotFound, Code::kInvalidArgument, false},
    {kCudaIllegalAddress, Code::kInternal, true},
    {kCudaLaunchOutOfResources, Code::kResourceExhausted, false},
    {kCudaLaunchTimeout, Code::kInternal, true},
    {kCudaContextIsDestroyed, Code::kUnavailable, true},
    {kCudaAssert, Code::kInternal, true},
    {kCudaHardwareStackError, Code::kInternal, true},
    {kCudaIllegalInstruction, Code::kInternal, true},
    {kCudaMisalignedAddress, Code::kInternal, true},
    {kCudaInvalidAddressSpace, Code::kInternal, true},
    {kCudaInvalidPc, Code::kInternal, true},
    {kCudaLaunchFailed, Code::kInternal, true},
    {kCudaSystemNotReady, Code::kUnavailable, false},
    {kCudaSystemDriverMismatch, Code::kFailedPrecondition, false},
    {kCudaCompatNotSupported, Code::kFailedPrecondition, false},
    {kCudaUnknown, Code::kUnavailable, true},
};

const ResultRow* FindRow(CUresult result) {
  for (const ResultRow& row : kResults) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<const CudaLibrary*> CudaLibrary::Load() {
  static const auto* const library = new absl::StatusOr<CudaLibrary>(LoadNow());
  if (!library->ok()) return library->status();
  return &**library;
}

std::string CudaLibrary::ErrorName(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (GetErrorName(result, &name) != kCudaSuccess || name == nullptr) name = "an unknown error";
  if (GetErrorString(result, &text) != kCudaSuccess || text == nullptr) text = "";
  return absl::StrCat(name, " (", result, ")", *text == '\0' ? "" : ": ", text);
}

absl::Status CudaLibrary::ToStatus(CUresult result, absl::string_view what) const {
  if (result == kCudaSuccess) return absl::OkStatus();
  const ResultRow* const row = FindRow(result);
  return absl::Status(row == nullptr ? Code::kInternal : row->code,
                      absl::StrCat(what, ": ", ErrorName(result)));
}

bool EndsContext(CUresult result) {
  const ResultRow* const row = FindRow(result);
  return row != nullptr && row->ends_context;
}

std::string CudaVersionName(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

}  // namespace slipway
