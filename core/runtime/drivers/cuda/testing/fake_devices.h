// What the devices of a fake libcuda say of themselves; $SLIPWAY_FAKE_CUDA (fake_world.h) may say otherwise.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_DEVICES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_DEVICES_H_

#include <cstdint>
#include <string>

#include "core/runtime/drivers/cuda/cuda_api.h"

namespace slipway::fake_cuda {

// Of a group.
inline constexpr int kMaxInstances = 1024;

int CountDevices();
bool IsDevice(CUdevice device);
// 90 for 9.0.
int64_t Capability();
// That a group may share: those of A100 and H100.
int MaxShared();
// "0000:1A:00.0".
std::string PciAddress(CUdevice device);
// False where it knows no such attribute.
bool ReadAttribute(int attribute, int& value);

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_FAKE_DEVICES_H_
