// What of NVIDIA's management library is used: functions, types and numbers, as its public reference has them.
#ifndef SLIPWAY_DEVICE_AGENT_ACCELERATORS_NVML_API_H_
#define SLIPWAY_DEVICE_AGENT_ACCELERATORS_NVML_API_H_

namespace slipway {

using NvmlResult = int;
using NvmlDevice = struct nvmlDevice_st*;

inline constexpr NvmlResult kNvmlSuccess = 0;
inline constexpr NvmlResult kNvmlNotSupported = 3;
inline constexpr NvmlResult kNvmlNotFound = 6;

struct NvmlMemory {
  unsigned long long total;  // NOLINT(google-runtime-int)
  unsigned long long free;   // NOLINT(google-runtime-int)
  unsigned long long used;   // NOLINT(google-runtime-int)
};

inline constexpr int kNvmlClockSm = 1;
inline constexpr int kNvmlClockMemory = 2;
inline constexpr int kNvmlTemperatureGpu = 0;
// Reasons for which clocks are below what they could be: what it may draw, slowed down by hardware and by software for heat, hardware alone for
// heat, and for its supply.
inline constexpr unsigned long long kNvmlSlowedDown =  // NOLINT(google-runtime-int)
    0x4 | 0x8 | 0x20 | 0x40 | 0x80;

// X(name here, name in the library, parameters).
#define SLIPWAY_NVML_FUNCTIONS(X)                                                                \
  X(Init, nvmlInit_v2, ())                                                                       \
  X(Shutdown, nvmlShutdown, ())                                                                  \
  X(SystemGetDriverVersion, nvmlSystemGetDriverVersion, (char* text, unsigned bytes))            \
  X(DeviceGetCount, nvmlDeviceGetCount_v2, (unsigned* count))                                    \
  X(DeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2, (unsigned index, NvmlDevice* device)) \
  X(DeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2,                                 \
    (const char* address, NvmlDevice* device))                                                   \
  X(DeviceGetIndex, nvmlDeviceGetIndex, (NvmlDevice device, unsigned* index))                    \
  X(DeviceGetName, nvmlDeviceGetName, (NvmlDevice device, char* text, unsigned bytes))           \
  X(DeviceGetCudaComputeCapability, nvmlDeviceGetCudaComputeCapability,                          \
    (NvmlDevice device, int* major, int* minor))                                                 \
  X(DeviceGetMemoryInfo, nvmlDeviceGetMemoryInfo, (NvmlDevice device, NvmlMemory * memory))      \
  X(DeviceGetClockInfo, nvmlDeviceGetClockInfo, (NvmlDevice device, int clock, unsigned* mhz))   \
  X(DeviceGetCurrentClocksThrottleReasons, nvmlDeviceGetCurrentClocksThrottleReasons,            \
    (NvmlDevice device, unsigned long long* reasons)) /* NOLINT */                               \
  X(DeviceGetPowerUsage, nvmlDeviceGetPowerUsage, (NvmlDevice device, unsigned* milliwatts))     \
  X(DeviceGetTotalEnergyConsumption, nvmlDeviceGetTotalEnergyConsumption,                        \
    (NvmlDevice device, unsigned long long* millijoules)) /* NOLINT */                           \
  X(DeviceGetTemperature, nvmlDeviceGetTemperature,                                              \
    (NvmlDevice device, int sensor, unsigned* celsius))

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ACCELERATORS_NVML_API_H_
