// Target: what a graph is compiled for.
//
// Grammar (one device; several are joined by a comma, the first is the host):
//   target  = device *( "," device )
//   device  = cpu / gpu
//   cpu     = arch "-" os *( "-" feature )          ; x86-64-v3-linux, x86-64-v4-linux-vnni
//   arch    = "x86-64" [ "-v2" / "-v3" / "-v4" ] / "arm-64" / "arm-32" / "riscv-64" / "wasm-32"
//   os      = "linux" / "android" / "wasi" ; no other yet
//   gpu     = "cuda-sm" 2*3DIGIT [ "a" ] / "opencl"
// The x86-64 levels are those of the psABI (x86-64-v2: SSE4.2, v3: AVX2+FMA+F16C+BMI, v4: AVX-512
// F, BW, CD, DQ, VL). A level implies its features and those of the levels below.
#ifndef SLIPWAY_CORE_TARGET_TARGET_H_
#define SLIPWAY_CORE_TARGET_TARGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

enum class Arch { kX86_64, kArm64, kArm32, kRiscv64, kWasm32, kCuda, kOpenCl };
enum class Os { kNone, kLinux, kAndroid, kWasi };

// One device of a target. A value type in canonical form: features are expanded (everything implied
// is present), sorted and unique.
struct DeviceTarget {
  Arch arch = Arch::kX86_64;
  Os os = Os::kLinux;
  int level = 0;                      // x86-64: 1 to 4. cuda: the compute capability, 90 for sm90.
  std::vector<std::string> features;  // Names of the lexicon, "avx2", "fma", "avx512f", "vnni", ...
  // cuda: "sm90a", code with instructions that devices of exactly this capability have, and later ones need not.
  bool is_specific = false;

  bool Has(absl::string_view feature) const;
  // Canonical spelling: only features that the architecture's level does not imply are written.
  std::string ToString() const;
  friend bool operator==(const DeviceTarget& a, const DeviceTarget& b) {
    return a.arch == b.arch && a.os == b.os && a.level == b.level &&
           a.is_specific == b.is_specific && a.features == b.features;
  }
};

struct Target {
  std::vector<DeviceTarget> devices;  // Never empty after Parse; the first one is the host.

  const DeviceTarget& host() const { return devices.front(); }
  std::string ToString() const;
  friend bool operator==(const Target& a, const Target& b) { return a.devices == b.devices; }
};

// INVALID_ARGUMENT says which part is unknown and lists what is known there. "host" is refused here
// with a hint: it must be resolved before a target crosses a process boundary.
absl::StatusOr<Target> ParseTarget(absl::string_view text);

// The names `slipway targets` shows, in canonical form: targets that a backend compiles for (held against
// core/backends by a test there). More targets parse; compiling for one is UNIMPLEMENTED.
std::vector<std::string> KnownTargets();

// The target of the machine this runs on, from cpuid or the auxiliary vector: the highest level it
// has with the operating system's support (XGETBV), and further features of the lexicon. Asks the kernel to let this process use
// what needs to be asked for (amxbf16, amxint8): where that is refused it is no feature.
Target HostTarget();

// Without the features that a process must ask its kernel for: who calls a library has not asked.
Target WithoutPermissions(Target target);

// The kind of machine that a target is for: its architectures and systems, without levels and features, the
// GPUs each once and sorted: "x86-64-linux", "x86-64-linux,cuda". Compilers say by families what they
// compile for, since targets of new features come about by themselves.
std::string FamilyOf(const Target& target);

// The bytes that a program may have in memory at once: where pointers have 32 bits 2^31 - 1, the largest object of C.
int64_t AddressableBytes(const DeviceTarget& device);

// Whether what was compiled for `code`, of CUDA, runs on a device of that compute capability.
bool RunsOnCapability(const DeviceTarget& code, int capability);

// OK when a device described by `device` can run what was compiled for `program`.
// FAILED_PRECONDITION names the missing feature or the architectures that differ.
absl::Status CheckRunsOn(const Target& program, const Target& device);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_TARGET_H_
