#include "core/runtime/drivers/cuda/cudnn_library.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using Code = absl::StatusCode;

// The one whose numbers cudnn_api.h has: 8 had other results.
constexpr size_t kMajor = 9;
constexpr char kPath[] = "libcudnn.so.9";

absl::Status NotHere(absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat("no cudnn: ", why));
}

absl::StatusOr<CudnnLibrary> LoadNow(int cuda_version) {
  // Not closed again: the functions are used until the process ends.
  void* const file = dlopen(kPath, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) return NotHere(dlerror());
  CudnnLibrary library;
#define SLIPWAY_FIND(result, name, symbol, parameters)                         \
  library.name = reinterpret_cast<result(*) parameters>(dlsym(file, #symbol)); \
  if (library.name == nullptr) return NotHere(absl::StrCat(kPath, " lacks " #symbol));
  SLIPWAY_CUDNN_FUNCTIONS(SLIPWAY_FIND)
#undef SLIPWAY_FIND
  const size_t version = library.GetVersion();
  const size_t major = version / 10000;
  if (major != kMajor) return NotHere(absl::StrCat(kPath, " is of version ", version));
  const size_t wanted = library.GetCudaVersion() / 1000;
  if (wanted > static_cast<size_t>(cuda_version / 1000)) {
    return NotHere(absl::StrCat(kPath, " is for CUDA ", wanted, ", the driver for CUDA ",
                                cuda_version / 1000));
  }
  library.name = absl::StrCat("cudnn ", major, ".", version / 100 % 100, ".", version % 100);
  return library;
}

Code CodeOf(CudnnStatus status) {
  switch (status) {
    case kCudnnHostAllocationFailed:
    case kCudnnDeviceAllocationFailed:
      return Code::kResourceExhausted;
    default:
      break;
  }
  switch (status / 1000 * 1000) {
    case kCudnnNotInitialized / 1000 * 1000:
      return Code::kFailedPrecondition;
    case kCudnnBadParameter:
      return Code::kInvalidArgument;
    case kCudnnNotSupported:
      return Code::kUnimplemented;
    default:
      return Code::kInternal;
  }
}

}  // namespace

absl::StatusOr<const CudnnLibrary*> CudnnLibrary::Load(int cuda_version) {
  static const auto* const library = new absl::StatusOr<CudnnLibrary>(LoadNow(cuda_version));
  if (!library->ok()) return library->status();
  return &**library;
}

absl::Status CudnnLibrary::ToStatus(CudnnStatus status, absl::string_view what) const {
  if (status == kCudnnSuccess) return absl::OkStatus();
  char why[256] = "";
  GetLastErrorString(why, sizeof(why));
  return absl::Status(CodeOf(status), absl::StrCat(what, ": ", GetErrorString(status), " (", status,
                                                   ")", why[0] == '\0' ? "" : ", ", why));
}

}  // namespace slipway
