#include "device_agent/measure/accelerator_watch.h"

#include <utility>
namespace slipway {

std::unique_ptr<AcceleratorWatch> WatchDevices(
    absl::Span<const std::shared_ptr<ComputeDevice>> devices, const AcceleratorLooks& looks) {
  if (looks.watch == nullptr) return nullptr;
  std::vector<std::string> addresses;
  for (const std::shared_ptr<ComputeDevice>& device : devices) {
    if (std::string address = device->pci_address(); !address.empty()) {
      addresses.push_back(std::move(address));
    }
  }
  return addresses.empty() ? nullptr : looks.watch(addresses);
}

}  // namespace slipway
