#include "core/codegen/halide_target.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

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

// NVIDIA's compute capabilities from 5.0 on, each with the newest that Halide 14 and its LLVM know: what they write for it (PTX 7.1 at
// most) a device's driver compiles for any later one.
struct CudaRow {
  int capability;
  Halide::Target::Feature feature;
};

constexpr CudaRow kCudaRows[] = {
    {50, Halide::Target::CUDACapability50},  {52, Halide::Target::CUDACapability50},
    {53, Halide::Target::CUDACapability50},  {60, Halide::Target::CUDACapability50},
    {61, Halide::Target::CUDACapability61},  {62, Halide::Target::CUDACapability61},
    {70, Halide::Target::CUDACapability70},  {72, Halide::Target::CUDACapability70},
    {75, Halide::Target::CUDACapability75},  {80, Halide::Target::CUDACapability80},
    {86, Halide::Target::CUDACapability86},  {87, Halide::Target::CUDACapability86},
    {89, Halide::Target::CUDACapability86},  {90, Halide::Target::CUDACapability86},
    {100, Halide::Target::CUDACapability86}, {103, Halide::Target::CUDACapability86},
    {110, Halide::Target::CUDACapability86}, {120, Halide::Target::CUDACapability86},
    {121, Halide::Target::CUDACapability86},
};

absl::StatusOr<Halide::Target::Feature> CudaFeature(const DeviceTarget& device) {
  std::string known;
  for (const CudaRow& row : kCudaRows) {
    if (row.capability == device.level) return row.feature;
    absl::StrAppend(&known, known.empty() ? "sm" : ", sm", row.capability);
  }
  return absl::UnimplementedError(absl::StrCat("no kernels can be generated for \"",
                                               device.ToString(),
                                               "\": of compute capabilities there are ", known));
}

}  // namespace

absl::StatusOr<Halide::Target> HalideTargetFor(const DeviceTarget& device,
                                               DotProducts dot_products) {
  if (device.arch == Arch::kOpenCl || device.arch == Arch::kCuda) {
    // The host's part is looked at, and not compiled (device_module.h).
    std::vector<Halide::Target::Feature> features = CommonFeatures();
    if (device.arch == Arch::kCuda) {
      SLIPWAY_ASSIGN_OR_RETURN(const Halide::Target::Feature capability, CudaFeature(device));
      features.push_back(Halide::Target::CUDA);
      features.push_back(capability);
    } else {
      features.push_back(Halide::Target::OpenCL);
    }
    return Halide::Target(Halide::Target::Linux, Halide::Target::X86, 64, features);
  }
  std::vector<Halide::Target::Feature> features = CommonFeatures();
  if (device.arch == Arch::kWasm32) {
    // "threads" is the linker's to know: kernels have no atomics and no variables of a thread.
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
    return Unimplemented(device, "x86-64, arm-64, arm-32, riscv-64, wasm-32, cuda and opencl are");
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
