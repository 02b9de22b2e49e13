#include "core/target/names.h"

namespace slipway {
namespace {

constexpr Arch kCpuArchs[] = {Arch::kX86_64, Arch::kArm64, Arch::kArm32, Arch::kRiscv64,
                              Arch::kWasm32};
constexpr Os kLinuxAndAndroid[] = {Os::kLinux, Os::kAndroid};
constexpr Os kLinuxOnly[] = {Os::kLinux};
constexpr Os kWasiOnly[] = {Os::kWasi};

}  // namespace

absl::string_view ArchName(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return "x86-64";
    case Arch::kArm64:
      return "arm-64";
    case Arch::kArm32:
      return "arm-32";
    case Arch::kRiscv64:
      return "riscv-64";
    case Arch::kWasm32:
      return "wasm-32";
    case Arch::kCuda:
      return "cuda";
    case Arch::kOpenCl:
      return "opencl";
  }
  return "unknown";
}

absl::string_view OsName(Os os) {
  switch (os) {
    case Os::kNone:
      return "";
    case Os::kLinux:
      return "linux";
    case Os::kAndroid:
      return "android";
    case Os::kWasi:
      return "wasi";
  }
  return "unknown";
}

absl::Span<const Arch> CpuArchs() { return kCpuArchs; }

absl::Span<const Os> OsesOf(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
    case Arch::kArm64:
    case Arch::kArm32:
      return kLinuxAndAndroid;
    case Arch::kRiscv64:
      return kLinuxOnly;
    case Arch::kWasm32:
      return kWasiOnly;
    case Arch::kCuda:
    case Arch::kOpenCl:
      return {};
  }
  return {};
}

}  // namespace slipway
