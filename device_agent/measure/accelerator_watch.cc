#include "device_agent/measure/accelerator_watch.h"

#include <utility>

#include "core/runtime/device.h"

namespace slipway {

std::unique_ptr<AcceleratorWatch> WatchDevicesOf(const Program& program,
                                                 const AcceleratorLooks& looks) {
  if (looks.watch == nullptr) return nullptr;
  std::vector<std::string> addresses;
  for (const std::shared_ptr<ComputeDevice>& device : program.devices()) {
    if (std::string address = device->pci_address(); !address.empty()) {
      addresses.push_back(std::move(address));
    }
  }
  return addresses.empty() ? nullptr : looks.watch(addresses);
}

}  // namespace slipway
