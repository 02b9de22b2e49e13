#include "core/runtime/drivers/cpu/cpu_driver.h"

#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cpu/cpu_device.h"

namespace slipway {
namespace {

// Copies are made by the host, which must reach both ends.
absl::Status CheckCopy(const CheckedManifest& checked, const v1::Step& step) {
  const v1::Manifest& manifest = checked.proto();
  for (const uint32_t value : {step.copy().from(), step.copy().to()}) {
    const uint32_t buffer = manifest.values(static_cast<int>(value)).buffer();
    const uint32_t space = manifest.buffers(static_cast<int>(buffer)).space();
    if (checked.spaces()[space].IsTouchedBy(0)) continue;
    return absl::UnimplementedError(
        absl::StrCat("cpu: step '", absl::Utf8SafeCEscape(step.name()), "' copies value ", value,
                     " of memory space ", space, ", which the host does not reach: let device ",
                     checked.spaces()[space].device, " copy"));
  }
  return absl::OkStatus();
}

class CpuDriver final : public Driver {
 public:
  explicit CpuDriver(Target host) : host_(std::move(host)) {}

  absl::string_view name() const override { return "cpu"; }

  bool Drives(const DeviceTarget& target) const override {
    return target.arch != Arch::kCuda && target.arch != Arch::kOpenCl &&
           target.arch != Arch::kWasm32;
  }

  absl::Status Supports(const CheckedManifest& checked, uint32_t device) const override {
    const v1::Manifest& manifest = checked.proto();
    SLIPWAY_RETURN_IF_ERROR(CheckRunsOn({{checked.target().devices[device]}}, host_));
    for (const v1::Code& code : manifest.code()) {
      if (code.device() == device && code.kind() != v1::Code::KIND_ELF) {
        return absl::UnimplementedError(
            absl::StrCat("cpu: code of ", v1::Code::Kind_Name(code.kind()), " does not run here"));
      }
    }
    for (const v1::Function& function : manifest.functions()) {
      for (const v1::Step& step : function.steps()) {
        if (step.device() != device || !step.has_copy()) continue;
        SLIPWAY_RETURN_IF_ERROR(CheckCopy(checked, step));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<ComputeDevice>> Open(int ordinal) const override {
    if (ordinal == 0) return std::shared_ptr<ComputeDevice>(std::make_shared<CpuDevice>());
    return absl::FailedPreconditionError(
        absl::StrCat("cpu: a program uses one CPU, not ", ordinal + 1));
  }

 private:
  const Target host_;
};

}  // namespace

std::unique_ptr<Driver> MakeCpuDriver(Target host) {
  return std::make_unique<CpuDriver>(std::move(host));
}

}  // namespace slipway
