#include "core/runtime/drivers/cuda/testing/fake_devices.h"

#include <cstdio>

#include "core/runtime/drivers/cuda/testing/fake_world.h"

namespace slipway::fake_cuda {
namespace {

constexpr int kCapability = 80;
constexpr int kDevices = 2;
// So small that who asks for as much work as they do at a time does not wait for it.
constexpr int kMultiprocessors = 1;
constexpr int kL2Bytes = 64 << 10;
// On the PCI bus, each behind the one before.
constexpr int kFirstBus = 0x1A;

}  // namespace

int CountDevices() { return static_cast<int>(Number("devices", kDevices)); }

bool IsDevice(CUdevice device) { return device >= 0 && device < CountDevices(); }

int64_t Capability() { return Number("capability", kCapability); }

int MaxShared() { return (Capability() < 90 ? 163 : 227) << 10; }

std::string PciAddress(CUdevice device) {
  char address[16];
  snprintf(address, sizeof(address), "0000:%02X:00.0", kFirstBus + device);
  return address;
}

bool ReadAttribute(int attribute, int& value) {
  switch (attribute) {
    case kCudaMaxThreadsPerBlock:
    case kCudaMaxBlockDimX:
    case kCudaMaxBlockDimY:
      value = kMaxInstances;
      break;
    case kCudaMaxBlockDimZ:
      value = 64;
      break;
    case kCudaMaxGridDimX:
      value = INT32_MAX;
      break;
    case kCudaMaxGridDimY:
    case kCudaMaxGridDimZ:
      value = UINT16_MAX;
      break;
    case kCudaMultiprocessorCount:
      value = static_cast<int>(Number("multiprocessors", kMultiprocessors));
      break;
    case kCudaL2CacheBytes:
      value = static_cast<int>(Number("l2", kL2Bytes));
      break;
    case kCudaUnifiedAddressing:
      value = 1;
      break;
    case kCudaCapabilityMajor:
      value = static_cast<int>(Capability() / 10);
      break;
    case kCudaCapabilityMinor:
      value = static_cast<int>(Capability() % 10);
      break;
    case kCudaMaxSharedMemoryPerBlockOptin:
      value = MaxShared();
      break;
    default:
      return false;
  }
  return true;
}

}  // namespace slipway::fake_cuda
