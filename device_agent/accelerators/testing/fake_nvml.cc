// NVIDIA's management library without a GPU, for tests: two GPUs, of which the second tells neither clocks nor power nor energy. A call before nvmlInit or
// behind nvmlShutdown ends the process, and so does a handle that it did not give. $SLIPWAY_FAKE_NVML is the result of nvmlInit. With $SLIPWAY_FAKE_NVML_COOLING, degrees, a GPU is as much
// hotter, and a degree less so each time it is asked.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device_agent/accelerators/nvml_api.h"

namespace slipway {
namespace {

struct Gpu {
  const char* name;
  const char* address;  // On the PCI bus, as the fake libcuda has it.
  int major;
  int minor;
  unsigned long long memory;  // NOLINT(google-runtime-int)
  bool tells_clocks;
};

constexpr Gpu kGpus[] = {{"Fake H100", "0000:1A:00.0", 9, 0, 80ull << 30, true},
                         {"Fake L4", "0000:1B:00.0", 8, 9, 24ull << 30, false}};

int initialized = 0;

void CheckInitialized() {
  if (initialized > 0) return;
  fprintf(stderr, "fake libnvidia-ml: it is not initialized\n");
  abort();
}

const Gpu& GpuOf(NvmlDevice device) {
  CheckInitialized();
  for (const Gpu& gpu : kGpus) {
    if (reinterpret_cast<NvmlDevice>(const_cast<Gpu*>(&gpu)) == device) return gpu;
  }
  fprintf(stderr, "fake libnvidia-ml: a handle that it did not give\n");
  abort();
}

NvmlResult Tell(const Gpu& gpu, unsigned value, unsigned* number) {
  if (!gpu.tells_clocks) return kNvmlNotSupported;
  *number = value;
  return kNvmlSuccess;
}

}  // namespace

#define SLIPWAY_EXPORT(name, symbol, parameters) \
  extern "C" __attribute__((visibility("default"))) NvmlResult symbol parameters;
SLIPWAY_NVML_FUNCTIONS(SLIPWAY_EXPORT)
#undef SLIPWAY_EXPORT

NvmlResult nvmlInit_v2() {
  const char* const result = getenv("SLIPWAY_FAKE_NVML");
  if (result != nullptr && atoi(result) != kNvmlSuccess) return atoi(result);
  ++initialized;
  return kNvmlSuccess;
}

NvmlResult nvmlShutdown() {
  CheckInitialized();
  --initialized;
  return kNvmlSuccess;
}

NvmlResult nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  CheckInitialized();
  snprintf(text, bytes, "550.54.15");
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetCount_v2(unsigned* count) {
  CheckInitialized();
  *count = sizeof(kGpus) / sizeof(kGpus[0]);
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  CheckInitialized();
  *device = reinterpret_cast<NvmlDevice>(const_cast<Gpu*>(&kGpus[index]));
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char* address, NvmlDevice* device) {
  CheckInitialized();
  for (const Gpu& gpu : kGpus) {
    if (strcmp(gpu.address, address) != 0) continue;
    *device = reinterpret_cast<NvmlDevice>(const_cast<Gpu*>(&gpu));
    return kNvmlSuccess;
  }
  return kNvmlNotFound;
}

NvmlResult nvmlDeviceGetIndex(NvmlDevice device, unsigned* index) {
  *index = static_cast<unsigned>(&GpuOf(device) - kGpus);
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetName(NvmlDevice device, char* text, unsigned bytes) {
  snprintf(text, bytes, "%s", GpuOf(device).name);
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetCudaComputeCapability(NvmlDevice device, int* major, int* minor) {
  *major = GpuOf(device).major;
  *minor = GpuOf(device).minor;
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetMemoryInfo(NvmlDevice device, NvmlMemory* memory) {
  const Gpu& gpu = GpuOf(device);
  *memory = {.total = gpu.memory, .free = gpu.memory / 2, .used = gpu.memory / 2};
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetClockInfo(NvmlDevice device, int clock, unsigned* mhz) {
  return Tell(GpuOf(device), clock == kNvmlClockSm ? 1980 : 2619, mhz);
}

// An idle GPU's reason, and that of one which is too warm.
NvmlResult nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice device,
                                                     unsigned long long* reasons) {  // NOLINT
  if (!GpuOf(device).tells_clocks) return kNvmlNotSupported;
  *reasons = getenv("SLIPWAY_FAKE_NVML_HOT") == nullptr ? 0x1 : 0x41;
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetPowerUsage(NvmlDevice device, unsigned* milliwatts) {
  return Tell(GpuOf(device), 71'250, milliwatts);
}

// A joule from each reading to the next.
NvmlResult nvmlDeviceGetTotalEnergyConsumption(NvmlDevice device,
                                               unsigned long long* millijoules) {  // NOLINT
  static unsigned long long taken = 0;  // NOLINT(google-runtime-int)
  if (!GpuOf(device).tells_clocks) return kNvmlNotSupported;
  *millijoules = taken += 1'000;
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetTemperature(NvmlDevice device, int, unsigned* celsius) {
  static unsigned asked = 0;
  const char* const cooling = getenv("SLIPWAY_FAKE_NVML_COOLING");
  const unsigned hotter = cooling == nullptr ? 0 : static_cast<unsigned>(atoi(cooling));
  *celsius = 30 + static_cast<unsigned>(GpuOf(device).minor);
  if (hotter > asked) *celsius += hotter - asked++;
  return kNvmlSuccess;
}

}  // namespace slipway
