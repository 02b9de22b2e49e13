// KeptConstants: which constants are on a device, so that none is sent twice.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_KEPT_CONSTANTS_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_KEPT_CONSTANTS_H_

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/runtime/device.h"

namespace slipway {

// By key; memory is whoever's who asks. Those that nobody holds are kept in so much room, what was held last the longest. Not thread-safe.
class KeptConstants {
 public:
  explicit KeptConstants(int64_t room) : room_(room) {}

  // One that is there, for another holder.
  std::optional<DeviceMemory> Take(absl::string_view key);
  // One that has come, with its first holder. REQUIRES: there is none of this key.
  void Add(absl::string_view key, const DeviceMemory& memory);
  // A holder less. What is to be freed, since there is no room for it or was none beside it. REQUIRES: it is held.
  std::vector<DeviceMemory> Return(const DeviceMemory& memory);
  // All that nobody holds, to be freed.
  std::vector<DeviceMemory> Drop();

 private:
  struct Constant {
    std::string key;
    DeviceMemory memory;
    int holders = 0;
  };

  std::vector<DeviceMemory> Keep(int64_t most_bytes);

  const int64_t room_;
  std::list<Constant> constants_;  // What was returned last, last.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_KEPT_CONSTANTS_H_
