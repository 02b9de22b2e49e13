#include "core/codegen/ptx_head.h"

#include "absl/strings/str_cat.h"

namespace slipway {

std::string PtxHead(const DeviceTarget& device) {
  const auto head = [](const char* version, const char* target) {
    return absl::StrCat(".version ", version, "\n.target ", target, "\n.address_size 64\n");
  };
  if (device.is_specific) return head("8.0", "sm_90a");
  return device.level < 86 ? head("7.0", "sm_80") : head("7.1", "sm_86");
}

absl::Status CheckTakesTemplates(const DeviceTarget& device) {
  constexpr int kFirstLevel = 80;
  if (device.arch == Arch::kCuda && device.level >= kFirstLevel) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(device.ToString(), " has no such kernels"));
}

}  // namespace slipway
