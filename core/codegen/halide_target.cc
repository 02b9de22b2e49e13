#include "core/codegen/halide_target.h"

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

absl::Status Unimplemented(const DeviceTarget& device, absl::string_view supported) {
  return absl::UnimplementedError(absl::StrCat("no kernels can be generated for target \"",
                                               device.ToString(), "\": only ", supported,
                                               " supported"));
}

bool HasInstructions(const DeviceTarget& device, DotProducts dot_products) {
  switch (dot_products) {
    case DotProducts::kNone:
      return false;
    case DotProducts::kBfloat16:
      return device.Has("bf16");
    case DotProducts::kBytes:
      return device.Has("vnni") || (device.Has("avxvnni") && device.level >= 3);
  }
  return false;
}

}  // namespace

absl::StatusOr<Halide::Target> HalideTargetFor(const DeviceTarget& device,
                                               DotProducts dot_products) {
  if (device.arch == Arch::kOpenCl) {
    // The host's part is looked at, and not compiled (opencl_text.h).
    std::vector<Halide::Target::Feature> features = CommonFeatures();
    features.push_back(Halide::Target::OpenCL);
    return Halide::Target(Halide::Target::Linux, Halide::Target::X86, 64, features);
  }
  std::vector<Halide::Target::Feature> features = CommonFeatures();
  if (device.arch == Arch::kWasm32) {
    if (device.Has("threads")) return Unimplemented(device, "wasm-32 without threads is");
    if (device.Has("simd128")) {
      // Every engine that has the first has the others.
      for (const auto feature :
           {Halide::Target::WasmSimd128, Halide::Target::WasmSignExt,
            Halide::Target::WasmSatFloatToInt, Halide::Target::WasmBulkMemory}) {
        features.push_back(feature);
      }
    }
    return Halide::Target(Halide::Target::WebAssemblyRuntime, Halide::Target::WebAssembly, 32,
                          features);
  }
  if (device.os != Os::kLinux) return Unimplemented(device, "linux is");
  if (device.arch == Arch::kArm64) {
    return Halide::Target(Halide::Target::Linux, Halide::Target::ARM, 64, features);
  }
  if (device.arch == Arch::kArm32) {
    if (!device.Has("neon")) features.push_back(Halide::Target::NoNEON);
    return Halide::Target(Halide::Target::Linux, Halide::Target::ARM, 32, features);
  }
  if (device.arch == Arch::kRiscv64) {
    // Without vectors: Halide 14 has none for the extension "v".
    return Halide::Target(Halide::Target::Linux, Halide::Target::RISCV, 64, features);
  }
  if (device.arch != Arch::kX86_64) {
    return Unimplemented(device, "x86-64, arm-64, arm-32, riscv-64, wasm-32 and opencl are");
  }
  if (device.level >= 2) features.push_back(Halide::Target::SSE41);
  if (device.level >= 3) {
    for (const auto feature :
         {Halide::Target::AVX, Halide::Target::AVX2, Halide::Target::FMA, Halide::Target::F16C}) {
      features.push_back(feature);
    }
  }
  const bool has_dot_products = HasInstructions(device, dot_products);
  if (device.level >= 4 || has_dot_products) {
    features.push_back(Halide::Target::AVX512);
    features.push_back(Halide::Target::AVX512_Skylake);
  }
  if (has_dot_products) features.push_back(Halide::Target::AVX512_SapphireRapids);
  return Halide::Target(Halide::Target::Linux, Halide::Target::X86, 64, features);
}

}  // namespace slipway
