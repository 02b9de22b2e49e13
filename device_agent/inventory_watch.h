// Whether the inventory of a machine has changed: a disk fills, a charger is unplugged.
#ifndef SLIPWAY_DEVICE_AGENT_INVENTORY_WATCH_H_
#define SLIPWAY_DEVICE_AGENT_INVENTORY_WATCH_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway {

// How often it is looked at.
inline constexpr absl::Duration kInventoryEvery = absl::Minutes(5);

// Looks in a thread of its own until it is destroyed. Thread-safe.
class InventoryWatch {
 public:
  using Read = std::function<v1::DeviceInventory()>;
  using Tell = std::function<void(const v1::DeviceInventory&)>;

  // `known` is what has been told; `tell` is called with whatever differs from what it was told last.
  InventoryWatch(v1::DeviceInventory known, Read read, Tell tell,
                 absl::Duration every = kInventoryEvery);
  ~InventoryWatch();
  InventoryWatch(const InventoryWatch&) = delete;
  InventoryWatch& operator=(const InventoryWatch&) = delete;

  // Looks now.
  void Look();

 private:
  void Work();

  const Read read_;
  const Tell tell_;
  const absl::Duration every_;
  absl::Mutex mutex_;
  v1::DeviceInventory known_ ABSL_GUARDED_BY(mutex_);
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_INVENTORY_WATCH_H_
