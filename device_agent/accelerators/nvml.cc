#include "device_agent/accelerators/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <limits>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/byte_size.h"
#include "core/base/status_macros.h"
#include "device_agent/accelerators/nvml_api.h"

namespace slipway {
namespace {

constexpr char kFile[] = "libnvidia-ml.so.1";
// As NVML_DEVICE_NAME_V2_BUFFER_SIZE, the longest of its texts.
constexpr unsigned kTextBytes = 96;
constexpr unsigned kMaxGpus = 64;

struct Nvml {
#define SLIPWAY_DECLARE(name, symbol, parameters) NvmlResult(*name) parameters = nullptr;
  SLIPWAY_NVML_FUNCTIONS(SLIPWAY_DECLARE)
#undef SLIPWAY_DECLARE
};

absl::Status NotHere(absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("NVIDIA's management library cannot be used: ", why));
}

absl::StatusOr<Nvml> Load() {
  // Not closed again: vendors' libraries seldom survive that.
  void* const file = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) return NotHere(dlerror());
  Nvml library;
#define SLIPWAY_FIND(name, symbol, parameters)                                     \
  library.name = reinterpret_cast<NvmlResult(*) parameters>(dlsym(file, #symbol)); \
  if (library.name == nullptr) return NotHere(absl::StrCat(kFile, " lacks " #symbol));
  SLIPWAY_NVML_FUNCTIONS(SLIPWAY_FIND)
#undef SLIPWAY_FIND
  return library;
}

absl::Status ToStatus(NvmlResult result, absl::string_view what) {
  return result == kNvmlSuccess ? absl::OkStatus()
                                : NotHere(absl::StrCat(what, " gives error ", result));
}

template <typename Get>
std::string Text(Get get) {
  char text[kTextBytes + 1] = "";
  if (get(text, kTextBytes) != kNvmlSuccess) return "";
  return absl::Utf8SafeCEscape(text);
}

template <typename Get>
std::optional<int> Number(Get get) {
  unsigned number = 0;
  if (get(&number) != kNvmlSuccess || number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(number);
}

int64_t Bounded(unsigned long long number) {  // NOLINT(google-runtime-int)
  return static_cast<int64_t>(std::min<uint64_t>(number, std::numeric_limits<int64_t>::max()));
}

// What changes from moment to moment.
void ReadConditions(const Nvml& nvml, NvmlDevice device, GpuState& gpu) {
  gpu.sm_clock_mhz =
      Number([&](unsigned* mhz) { return nvml.DeviceGetClockInfo(device, kNvmlClockSm, mhz); });
  gpu.memory_clock_mhz =
      Number([&](unsigned* mhz) { return nvml.DeviceGetClockInfo(device, kNvmlClockMemory, mhz); });
  gpu.power_milliwatts =
      Number([&](unsigned* power) { return nvml.DeviceGetPowerUsage(device, power); });
  gpu.temperature_celsius = Number([&](unsigned* celsius) {
    return nvml.DeviceGetTemperature(device, kNvmlTemperatureGpu, celsius);
  });
  unsigned long long energy = 0;  // NOLINT(google-runtime-int)
  gpu.energy_millijoules = std::nullopt;
  if (nvml.DeviceGetTotalEnergyConsumption(device, &energy) == kNvmlSuccess) {
    gpu.energy_millijoules = Bounded(energy);
  }
  unsigned long long reasons = 0;  // NOLINT(google-runtime-int)
  gpu.is_slowed_down = std::nullopt;
  if (nvml.DeviceGetCurrentClocksThrottleReasons(device, &reasons) == kNvmlSuccess) {
    gpu.is_slowed_down = (reasons & kNvmlSlowedDown) != 0;
  }
}

GpuState ReadAll(const Nvml& nvml, NvmlDevice device) {
  GpuState gpu;
  gpu.index =
      Number([&](unsigned* index) { return nvml.DeviceGetIndex(device, index); }).value_or(0);
  gpu.name = Text([&](char* text, unsigned n) { return nvml.DeviceGetName(device, text, n); });
  gpu.driver = Text([&](char* text, unsigned n) { return nvml.SystemGetDriverVersion(text, n); });
  int major = 0;
  int minor = 0;
  if (nvml.DeviceGetCudaComputeCapability(device, &major, &minor) == kNvmlSuccess) {
    gpu.capability = std::clamp(major, 0, 99) * 10 + std::clamp(minor, 0, 9);
  }
  NvmlMemory memory = {};
  if (nvml.DeviceGetMemoryInfo(device, &memory) == kNvmlSuccess) {
    gpu.memory_bytes = Bounded(memory.total);
    gpu.memory_free_bytes = Bounded(memory.free);
  }
  ReadConditions(nvml, device, gpu);
  return gpu;
}

class OpenGpus final : public GpuWatch {
 public:
  explicit OpenGpus(const Nvml& initialized) : nvml_(initialized) {}
  ~OpenGpus() override { nvml_.Shutdown(); }

  void Add(NvmlDevice device) {
    devices_.push_back(device);
    gpus_.push_back(ReadAll(nvml_, device));
  }
  bool is_empty() const { return devices_.empty(); }

  std::vector<GpuState> Read() override {
    for (size_t i = 0; i < devices_.size(); ++i) ReadConditions(nvml_, devices_[i], gpus_[i]);
    return gpus_;
  }

 private:
  const Nvml nvml_;
  std::vector<NvmlDevice> devices_;
  std::vector<GpuState> gpus_;
};

}  // namespace

absl::StatusOr<std::vector<GpuState>> ReadGpus() {
  SLIPWAY_ASSIGN_OR_RETURN(const Nvml nvml, Load());
  SLIPWAY_RETURN_IF_ERROR(ToStatus(nvml.Init(), "nvmlInit"));
  const absl::Cleanup shutdown = [&nvml] { nvml.Shutdown(); };
  unsigned count = 0;
  SLIPWAY_RETURN_IF_ERROR(ToStatus(nvml.DeviceGetCount(&count), "counting GPUs"));
  std::vector<GpuState> gpus;
  for (unsigned i = 0; i < std::min(count, kMaxGpus); ++i) {
    NvmlDevice device = nullptr;
    SLIPWAY_RETURN_IF_ERROR(
        ToStatus(nvml.DeviceGetHandleByIndex(i, &device), absl::StrCat("GPU ", i)));
    gpus.push_back(ReadAll(nvml, device));
  }
  return gpus;
}

absl::StatusOr<std::unique_ptr<GpuWatch>> WatchGpus(absl::Span<const std::string> pci_addresses) {
  SLIPWAY_ASSIGN_OR_RETURN(const Nvml nvml, Load());
  SLIPWAY_RETURN_IF_ERROR(ToStatus(nvml.Init(), "nvmlInit"));
  auto gpus = std::make_unique<OpenGpus>(nvml);
  for (const std::string& address : pci_addresses) {
    NvmlDevice device = nullptr;
    if (nvml.DeviceGetHandleByPciBusId(address.c_str(), &device) == kNvmlSuccess) gpus->Add(device);
  }
  if (gpus->is_empty()) {
    return NotHere(absl::StrCat("it knows no GPU at ", absl::StrJoin(pci_addresses, ", ")));
  }
  return gpus;
}

std::string DescribeGpu(const GpuState& gpu) {
  return absl::StrCat(gpu.name, ", sm", gpu.capability, ", ", RoundByteSize(gpu.memory_bytes),
                      ", driver ", gpu.driver);
}

std::string DescribeGpuState(const GpuState& gpu) {
  std::vector<std::string> parts = {absl::StrCat(RoundByteSize(gpu.memory_free_bytes), " free")};
  if (gpu.sm_clock_mhz) parts.push_back(absl::StrCat("SM ", *gpu.sm_clock_mhz, " MHz"));
  if (gpu.memory_clock_mhz) parts.push_back(absl::StrCat("memory ", *gpu.memory_clock_mhz, " MHz"));
  if (gpu.power_milliwatts) {
    parts.push_back(absl::StrFormat("%.1f W", *gpu.power_milliwatts / 1000.0));
  }
  if (gpu.temperature_celsius) parts.push_back(absl::StrCat(*gpu.temperature_celsius, " °C"));
  if (gpu.is_slowed_down.value_or(false)) parts.emplace_back("slowed down");
  return absl::StrJoin(parts, ", ");
}

}  // namespace slipway
