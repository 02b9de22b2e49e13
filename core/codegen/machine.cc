#include "core/codegen/machine.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

// Kernels get their memory and threads through the imports of core/kernel_abi/kernel_abi.h, so there is
// no runtime in them; shapes are static and schedules proved, so there are no checks either.
const std::vector<Halide::Target::Feature>& CommonFeatures() {
  static const auto& features = *new std::vector<Halide::Target::Feature>{
      Halide::Target::NoAsserts, Halide::Target::NoBoundsQuery, Halide::Target::NoRuntime,
      Halide::Target::UserContext};
  return features;
}

}  // namespace

absl::StatusOr<Machine> MachineFor(const DeviceTarget& target) {
  if (target.os != Os::kLinux) {
    return absl::UnimplementedError(absl::StrCat("no kernels can be generated for target \"",
                                                 target.ToString(), "\": only linux is supported"));
  }
  std::vector<Halide::Target::Feature> features = CommonFeatures();
  Machine machine;
  if (target.arch == Arch::kX86_64) {
    if (target.level >= 2) features.push_back(Halide::Target::SSE41);
    if (target.level >= 3) {
      for (const auto feature :
           {Halide::Target::AVX, Halide::Target::AVX2, Halide::Target::FMA, Halide::Target::F16C}) {
        features.push_back(feature);
      }
      machine.vector_bytes = 32;
    }
    if (target.level >= 4) {
      features.push_back(Halide::Target::AVX512);
      features.push_back(Halide::Target::AVX512_Skylake);
      machine.vector_bytes = 64;
      machine.vector_registers = 32;
    }
    machine.target = Halide::Target(Halide::Target::Linux, Halide::Target::X86, 64, features);
    return machine;
  }
  if (target.arch == Arch::kArm64) {
    machine.vector_registers = 32;
    machine.target = Halide::Target(Halide::Target::Linux, Halide::Target::ARM, 64, features);
    return machine;
  }
  return absl::UnimplementedError(absl::StrCat("no kernels can be generated for target \"",
                                               target.ToString(),
                                               "\": only x86-64 and arm-64 are supported"));
}

}  // namespace slipway
