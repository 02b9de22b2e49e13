#include "core/runtime/drivers/cuda/cublaslt_library.h"

#include <dlfcn.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using Code = absl::StatusCode;

constexpr int kNewest = 13;
constexpr int kOldest = 11;

absl::Status NotHere(absl::string_view why) {
  return absl::FailedPreconditionError(absl::StrCat("no cublasLt: ", why));
}

absl::StatusOr<CublasLtLibrary> Find(void* file, const std::string& path, int major) {
  CublasLtLibrary library;
#define SLIPWAY_FIND(name, symbol, parameters)                                       \
  library.name = reinterpret_cast<CublasStatus(*) parameters>(dlsym(file, #symbol)); \
  if (library.name == nullptr) return NotHere(absl::StrCat(path, " lacks " #symbol));
  SLIPWAY_CUBLASLT_FUNCTIONS(SLIPWAY_FIND)
#undef SLIPWAY_FIND
  int version[3] = {};
  for (const int property : {kCublasMajor, kCublasMinor, kCublasPatch}) {
    SLIPWAY_RETURN_IF_ERROR(
        ToStatus(library.GetProperty(property, &version[property]), "cublasLt's version"));
  }
  if (version[kCublasMajor] != major) {
    return NotHere(absl::StrCat(path, " is of version ", version[kCublasMajor]));
  }
  library.name =
      absl::StrCat("cublasLt ", major, ".", version[kCublasMinor], ".", version[kCublasPatch]);
  return library;
}

// A library is for the drivers of its CUDA, and of later ones. One that is there and cannot be used is told of rather than one that is not there.
absl::StatusOr<CublasLtLibrary> LoadNow(int cuda_version) {
  absl::Status absent = NotHere(absl::StrCat("the driver for CUDA ", cuda_version / 1000,
                                             " is older than all of its versions"));
  absl::Status unusable;
  for (int major = std::min(kNewest, cuda_version / 1000); major >= kOldest; --major) {
    const std::string path = absl::StrCat("libcublasLt.so.", major);
    // Not closed again: the functions are used until the process ends.
    void* const file = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
      absent = NotHere(dlerror());
      continue;
    }
    absl::StatusOr<CublasLtLibrary> library = Find(file, path, major);
    if (library.ok()) return library;
    unusable.Update(library.status());
  }
  return unusable.ok() ? absent : unusable;
}

struct ResultRow {
  CublasStatus result;
  const char* name;
  Code code;
};

// All others are INTERNAL.
constexpr ResultRow kResults[] = {
    {kCublasNotInitialized, "CUBLAS_STATUS_NOT_INITIALIZED", Code::kFailedPrecondition},
    {kCublasAllocFailed, "CUBLAS_STATUS_ALLOC_FAILED", Code::kResourceExhausted},
    {kCublasInvalidValue, "CUBLAS_STATUS_INVALID_VALUE", Code::kInvalidArgument},
    {kCublasArchMismatch, "CUBLAS_STATUS_ARCH_MISMATCH", Code::kUnimplemented},
    {kCublasMappingError, "CUBLAS_STATUS_MAPPING_ERROR", Code::kInternal},
    {kCublasExecutionFailed, "CUBLAS_STATUS_EXECUTION_FAILED", Code::kInternal},
    {kCublasInternalError, "CUBLAS_STATUS_INTERNAL_ERROR", Code::kInternal},
    {kCublasNotSupported, "CUBLAS_STATUS_NOT_SUPPORTED", Code::kUnimplemented},
};

}  // namespace

absl::StatusOr<const CublasLtLibrary*> CublasLtLibrary::Load(int cuda_version) {
  static const auto* const library = new absl::StatusOr<CublasLtLibrary>(LoadNow(cuda_version));
  if (!library->ok()) return library->status();
  return &**library;
}

absl::Status ToStatus(CublasStatus status, absl::string_view what) {
  if (status == kCublasSuccess) return absl::OkStatus();
  for (const ResultRow& row : kResults) {
    if (row.result != status) continue;
    return absl::Status(row.code, absl::StrCat(what, ": ", row.name, " (", status, ")"));
  }
  return absl::InternalError(absl::StrCat(what, ": cublasLt's status ", status));
}

}  // namespace slipway
