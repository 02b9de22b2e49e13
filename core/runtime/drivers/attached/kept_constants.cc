#include "core/runtime/drivers/attached/kept_constants.h"

#include <algorithm>

#include "core/base/check.h"

namespace slipway {

std::optional<DeviceMemory> KeptConstants::Take(absl::string_view key) {
  const auto found = std::find_if(constants_.begin(), constants_.end(),
                                  [key](const Constant& one) { return one.key == key; });
  if (found == constants_.end()) return std::nullopt;
  ++found->holders;
  return found->memory;
}

void KeptConstants::Add(absl::string_view key, const DeviceMemory& memory) {
  constants_.push_back({std::string(key), memory, 1});
}

std::vector<DeviceMemory> KeptConstants::Return(const DeviceMemory& memory) {
  const auto found =
      std::find_if(constants_.begin(), constants_.end(), [&memory](const Constant& one) {
        // A device that gives one address twice harms itself alone.
        return one.memory.address == memory.address && one.holders > 0;
      });
  SLIPWAY_CHECK(found != constants_.end(), "nobody holds the constant");
  if (--found->holders > 0) return {};
  constants_.splice(constants_.end(), constants_, found);
  return Keep(room_);
}

std::vector<DeviceMemory> KeptConstants::Drop() { return Keep(0); }

std::vector<DeviceMemory> KeptConstants::Keep(int64_t most_bytes) {
  std::vector<DeviceMemory> freed;
  int64_t bytes = 0;
  for (auto it = constants_.end(); it != constants_.begin();) {
    --it;
    if (it->holders > 0) continue;
    bytes += it->memory.bytes;
    if (bytes <= most_bytes && most_bytes > 0) continue;
    freed.push_back(it->memory);
    it = constants_.erase(it);
  }
  return freed;
}

}  // namespace slipway
