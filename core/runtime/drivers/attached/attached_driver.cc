#include "core/runtime/drivers/attached/attached_driver.h"

#include <elf.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/attached/bare_device.h"
#include "core/target/arm32_identification.h"
#include "core/target/arm64_identification.h"
#include "core/target/riscv64_identification.h"
#include "core/target/x86_identification.h"

namespace slipway {
namespace {

class AttachedDriver final : public Driver {
 public:
  AttachedDriver(std::shared_ptr<BareStream> stream, const slipway_bare_hello& hello, Target target)
      : target_(std::move(target)),
        device_(std::make_shared<BareDevice>(std::move(stream), hello)) {}

  absl::string_view name() const override { return "attached"; }

  bool Drives(const DeviceTarget& target) const override {
    return target.arch != Arch::kCuda && target.arch != Arch::kOpenCl &&
           target.arch != Arch::kWasm32;
  }

  absl::Status Supports(const CheckedManifest& checked, uint32_t device) const override {
    SLIPWAY_RETURN_IF_ERROR(CheckRunsOn({{checked.target().devices[device]}}, target_));
    if (checked.target().devices.size() > 1) {
      return absl::UnimplementedError(
          "attached: a bare runner runs programs of one device, its processor");
    }
    for (const v1::Code& code : checked.proto().code()) {
      if (code.kind() == v1::Code::KIND_ELF) continue;
      return absl::UnimplementedError(absl::StrCat(
          "attached: code of ", v1::Code::Kind_Name(code.kind()), " does not run there"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::shared_ptr<ComputeDevice>> Open(int ordinal) const override {
    if (ordinal == 0) return std::shared_ptr<ComputeDevice>(device_);
    return absl::FailedPreconditionError(
        absl::StrCat("attached: a program uses one processor, not ", ordinal + 1));
  }

 private:
  const Target target_;
  const std::shared_ptr<BareDevice> device_;
};

uint32_t Low(uint64_t pair) { return static_cast<uint32_t>(pair); }
uint32_t High(uint64_t pair) { return static_cast<uint32_t>(pair >> 32); }

}  // namespace

absl::StatusOr<Target> TargetOfBare(const slipway_bare_hello& hello) {
  const uint64_t* const features = hello.features;
  if (hello.machine == EM_X86_64) {
    return Target{{TargetOfX86({.leaf_1_ecx = Low(features[0]),
                                .leaf_7_ebx = High(features[0]),
                                .leaf_7_ecx = Low(features[1]),
                                .leaf_7_edx = High(features[1]),
                                .leaf_7_1_eax = Low(features[2]),
                                .leaf_80000001_ecx = High(features[2]),
                                .xcr0 = features[3]},
                               Os::kLinux)}};
  }
  if (hello.machine == EM_AARCH64) {
    return Target{{TargetOfArm64({.hwcap = features[0], .hwcap2 = features[1]}, Os::kLinux)}};
  }
  if (hello.machine == EM_ARM) return Target{{TargetOfArm32(features[0], Os::kLinux)}};
  if (hello.machine == EM_RISCV) return Target{{TargetOfRiscv64(features[0], Os::kLinux)}};
  return absl::UnimplementedError(
      absl::StrCat("the attached device is a machine that is not known here (number ",
                   hello.machine, " of ELF)"));
}

absl::StatusOr<std::unique_ptr<Driver>> MakeAttachedDriver(std::shared_ptr<BareStream> stream,
                                                           const slipway_bare_hello& hello) {
  SLIPWAY_ASSIGN_OR_RETURN(Target target, TargetOfBare(hello));
  return std::unique_ptr<Driver>(
      std::make_unique<AttachedDriver>(std::move(stream), hello, std::move(target)));
}

}  // namespace slipway
