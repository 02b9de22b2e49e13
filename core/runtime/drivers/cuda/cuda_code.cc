#include "core/runtime/drivers/cuda/cuda_code.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_device.h"
#include "core/runtime/drivers/cuda/ptx_entries.h"
#include "core/runtime/drivers/vendor_log.h"

namespace slipway {
namespace {

// PTX goes on to run on every later device, but for that of "sm_90a", whose instructions one capability has.
absl::Status CheckCapability(const CudaDevice& device, const PtxText& text) {
  absl::string_view digits = text.target;
  const bool is_specific = absl::ConsumeSuffix(&digits, "a");
  const int capability = device.facts().capability;
  int needed = 0;
  if (!absl::ConsumePrefix(&digits, "sm_") || !absl::SimpleAtoi(digits, &needed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("PTX for '", absl::Utf8SafeCEscape(text.target),
                     "' is none for the devices of a compute capability, 'sm_80'"));
  }
  if (is_specific ? needed == capability : needed <= capability) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the code is for ", text.target, ", ", device.name(), " is sm_", capability));
}

absl::StatusOr<CUmodule> LoadModule(const CudaDevice& device, const PtxText& read,
                                    absl::string_view text) {
  const CudaLibrary& cuda = device.cuda();
  std::string log(CudaCode::kMaxLogBytes, '\0');
  int options[] = {kCudaJitErrorLogBuffer, kCudaJitErrorLogBufferBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  const CUresult result =
      cuda.ModuleLoadDataEx(&module, std::string(text).c_str(), 2, options, values);
  if (result == kCudaSuccess) return module;
  std::string what = "code of PTX";
  if (result == kCudaUnsupportedPtxVersion) {
    absl::StrAppend(&what, " ", absl::Utf8SafeCEscape(read.version), ", which the driver for CUDA ",
                    CudaVersionName(cuda.version), " does not know");
  }
  const std::string said = BoundedLog(log.c_str(), CudaCode::kMaxLogBytes);
  absl::Status status = device.ToStatus(result, what);
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), said.empty() ? "" : "\n", said));
}

absl::StatusOr<CudaEntry> FindEntry(const CudaDevice& device, const PtxText& read, CUmodule module,
                                    const std::string& name) {
  const CudaLibrary& cuda = device.cuda();
  const std::string shown = absl::StrCat("entry '", absl::Utf8SafeCEscape(name), "'");
  const auto found = read.entries.find(name);
  if (found == read.entries.end()) {
    return absl::InvalidArgumentError(absl::StrCat("the program has no ", shown));
  }
  CudaEntry entry;
  SLIPWAY_RETURN_IF_ERROR(
      device.ToStatus(cuda.ModuleGetFunction(&entry.function, module, name.c_str()), shown));
  int max_group = 0;
  int shared_bytes = 0;
  SLIPWAY_RETURN_IF_ERROR(device.ToStatus(
      cuda.FuncGetAttribute(&max_group, kCudaFunctionMaxThreadsPerBlock, entry.function), shown));
  SLIPWAY_RETURN_IF_ERROR(device.ToStatus(
      cuda.FuncGetAttribute(&shared_bytes, kCudaFunctionSharedBytes, entry.function), shown));
  entry.facts = {.name = name,
                 .parameters = found->second.parameters,
                 .tensors = found->second.tensors,
                 .max_group = max_group,
                 .shared_bytes = shared_bytes};
  // Without being told, a device lets a group share 48 KiB.
  const int64_t rest = device.facts().limits.shared_bytes - shared_bytes;
  if (rest < 0) return entry;
  SLIPWAY_RETURN_IF_ERROR(
      device.ToStatus(cuda.FuncSetAttribute(entry.function, kCudaFunctionMaxDynamicSharedBytes,
                                            static_cast<int>(rest)),
                      shown));
  return entry;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceCode>> CudaCode::Load(const CudaDevice& device,
                                                           const v1::Code& code,
                                                           absl::string_view text) {
  if (code.kind() != v1::Code::KIND_PTX) {
    return absl::UnimplementedError(absl::StrCat(device.name(), " loads code of KIND_PTX, not ",
                                                 v1::Code::Kind_Name(code.kind())));
  }
  if (text.empty() || text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a text of PTX has 1 to ", kMaxTextBytes, " bytes, not ", text.size()));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const PtxText read, ReadPtx(text));
  SLIPWAY_RETURN_IF_ERROR(CheckCapability(device, read));
  const CurrentContext current(device);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  SLIPWAY_ASSIGN_OR_RETURN(const CUmodule module, LoadModule(device, read, text));
  std::unique_ptr<CudaCode> loaded(new CudaCode(device, module));
  for (const std::string& name : code.entries()) {
    SLIPWAY_ASSIGN_OR_RETURN(CudaEntry entry, FindEntry(device, read, module, name));
    loaded->entries_.push_back(std::move(entry));
  }
  return std::unique_ptr<DeviceCode>(std::move(loaded));
}

CudaCode::~CudaCode() {
  const CurrentContext current(device_);
  device_.cuda().ModuleUnload(module_);
}

}  // namespace slipway
