#include "core/runtime/drivers/cuda/cuda_driver.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cublaslt_library.h"
#include "core/runtime/drivers/cuda/cuda_device.h"
#include "core/runtime/drivers/cuda/cuda_library.h"
#include "core/runtime/drivers/cuda/cudnn_library.h"

namespace slipway {
namespace {

// The library's devices. FAILED_PRECONDITION where there are none.
absl::StatusOr<int> CountDevices(const CudaLibrary& cuda) {
  int count = 0;
  SLIPWAY_RETURN_IF_ERROR(cuda.ToStatus(cuda.DeviceGetCount(&count), "cuda: counting devices"));
  if (count > 0) return count;
  return absl::FailedPreconditionError(
      absl::StrCat("cuda: this machine has no device, as its driver for CUDA ",
                   CudaVersionName(cuda.version), " says"));
}

absl::StatusOr<CUdevice> DeviceAt(const CudaLibrary& cuda, int ordinal) {
  CUdevice id = 0;
  SLIPWAY_RETURN_IF_ERROR(
      cuda.ToStatus(cuda.DeviceGet(&id, ordinal), absl::StrCat("cuda: device ", ordinal)));
  return id;
}

// Whether the device that a target's number `device` is here has what its code is for. FAILED_PRECONDITION.
absl::Status CheckCapability(const Target& target, uint32_t device) {
  SLIPWAY_ASSIGN_OR_RETURN(const CudaLibrary* cuda, CudaLibrary::Load());
  SLIPWAY_ASSIGN_OR_RETURN(const int count, CountDevices(*cuda));
  int ordinal = 0;
  for (uint32_t i = 0; i < device; ++i) ordinal += target.devices[i].arch == Arch::kCuda ? 1 : 0;
  if (ordinal >= count) return absl::OkStatus();  // Which Open says.
  SLIPWAY_ASSIGN_OR_RETURN(const CUdevice id, DeviceAt(*cuda, ordinal));
  SLIPWAY_ASSIGN_OR_RETURN(const CudaFacts facts, ReadFacts(*cuda, id));
  if (RunsOnCapability(target.devices[device], facts.capability)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the program for \"", target.ToString(), "\" needs a \"", target.devices[device].ToString(),
      "\", cuda ", ordinal, " (", facts.name, ") is a \"cuda-sm", facts.capability, "\""));
}

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(CudaDriverOptions options) : options_(std::move(options)) {}

  absl::string_view name() const override { return "cuda"; }

  bool Drives(const DeviceTarget& target) const override { return target.arch == Arch::kCuda; }

  absl::Status Supports(const CheckedManifest& checked, uint32_t device) const override {
    for (const v1::Code& code : checked.proto().code()) {
      if (code.device() == device && code.kind() != v1::Code::KIND_PTX) {
        return absl::UnimplementedError(absl::StrCat(
            "cuda: code of ", v1::Code::Kind_Name(code.kind()), " does not run on such a device"));
      }
    }
    return options_.refusal.empty() ? CheckCapability(checked.target(), device) : absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<ComputeDevice>> Open(int ordinal) const override {
    if (!options_.refusal.empty()) {
      return absl::FailedPreconditionError(absl::StrCat("cuda: ", options_.refusal));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const CudaLibrary* cuda, CudaLibrary::Load());
    SLIPWAY_ASSIGN_OR_RETURN(const int count, CountDevices(*cuda));
    if (ordinal < 0 || ordinal >= count) {
      return absl::FailedPreconditionError(
          absl::StrCat("cuda: this machine has ", count, " devices, not ", ordinal + 1));
    }
    SLIPWAY_ASSIGN_OR_RETURN(const CUdevice id, DeviceAt(*cuda, ordinal));
    SLIPWAY_ASSIGN_OR_RETURN(
        std::shared_ptr<CudaDevice> device,
        CudaDevice::Create(*cuda, id, ordinal, options_.graphs, options_.libraries));
    return std::shared_ptr<ComputeDevice>(std::move(device));
  }

 private:
  const CudaDriverOptions options_;
};

}  // namespace

std::unique_ptr<Driver> MakeCudaDriver(CudaDriverOptions options) {
  return std::make_unique<CudaDriver>(std::move(options));
}

absl::StatusOr<std::vector<CudaDeviceName>> ListCudaDevices() {
  SLIPWAY_ASSIGN_OR_RETURN(const CudaLibrary* cuda, CudaLibrary::Load());
  SLIPWAY_ASSIGN_OR_RETURN(const int count, CountDevices(*cuda));
  std::vector<std::string> libraries;
  const auto cublaslt = CublasLtLibrary::Load(cuda->version);
  if (cublaslt.ok()) libraries.push_back((*cublaslt)->name);
  const auto cudnn = CudnnLibrary::Load(cuda->version);
  if (cudnn.ok()) libraries.push_back((*cudnn)->name);
  std::vector<CudaDeviceName> names;
  for (int i = 0; i < count; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const CUdevice id, DeviceAt(*cuda, i));
    SLIPWAY_ASSIGN_OR_RETURN(CudaFacts facts, ReadFacts(*cuda, id));
    names.push_back({std::move(facts.name), facts.capability, CudaVersionName(cuda->version),
                     facts.multiprocessors, facts.l2_bytes, absl::StrJoin(libraries, ", ")});
  }
  return names;
}

}  // namespace slipway
