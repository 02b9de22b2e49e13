// HostTarget of target.h: asks the processor and the kernel.
#include "core/target/target.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/target/x86_identification.h"
#elif defined(__linux__)
#include <sys/auxv.h>

#if defined(__aarch64__)
#include "core/target/arm64_identification.h"
#elif defined(__arm__)
#include "core/target/arm32_identification.h"
#elif defined(__riscv)
#include "core/target/riscv64_identification.h"
#endif
#endif

namespace slipway {
namespace {

#if defined(__ANDROID__)
constexpr Os kOs = Os::kAndroid;
#elif defined(__wasi__)
constexpr Os kOs = Os::kWasi;
#else
constexpr Os kOs = Os::kLinux;
#endif

#if defined(__x86_64__)

// The kernel keeps tile registers, of 8 KB, for processes alone that asked for them (Linux 5.16, Documentation/arch/x86/xstate.rst).
bool MayUseTiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

DeviceTarget HostCpu() {
  X86Identification id;
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) id.leaf_1_ecx = ecx;
  // __get_cpuid_count checks that the leaf exists.
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    id.leaf_7_ebx = ebx;
    id.leaf_7_ecx = ecx;
    id.leaf_7_edx = edx;
    if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) id.leaf_7_1_eax = eax;
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0) id.leaf_80000001_ecx = ecx;
  constexpr uint32_t kOsXsave = 1u << 27;
  if ((id.leaf_1_ecx & kOsXsave) != 0) {  // Otherwise XGETBV is an illegal instruction.
    uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    id.xcr0 = static_cast<uint64_t>(high) << 32 | low;
    if ((id.xcr0 & kTileState) != 0 && !MayUseTiles()) id.xcr0 &= ~kTileState;
  }
  return TargetOfX86(id, kOs);
}

#elif defined(__aarch64__) && defined(__linux__)

DeviceTarget HostCpu() {
  return TargetOfArm64({.hwcap = getauxval(AT_HWCAP), .hwcap2 = getauxval(AT_HWCAP2)}, kOs);
}

#elif defined(__arm__) && defined(__linux__)

DeviceTarget HostCpu() { return TargetOfArm32(getauxval(AT_HWCAP), kOs); }

#elif defined(__riscv) && __riscv_xlen == 64 && defined(__linux__)

DeviceTarget HostCpu() { return TargetOfRiscv64(getauxval(AT_HWCAP), kOs); }

#elif defined(__wasm32__)

DeviceTarget HostCpu() {
  DeviceTarget device{.arch = Arch::kWasm32, .os = kOs, .level = 0, .features = {}};
#if defined(__wasm_simd128__)
  device.features.emplace_back("simd128");
#endif
  return device;
}

#else
#error "no HostTarget for this machine: add its architecture to core/target"
#endif

}  // namespace

Target HostTarget() { return Target{{HostCpu()}}; }

}  // namespace slipway
