#include "device_agent/inventory_watch.h"

#include <utility>

namespace slipway {

InventoryWatch::InventoryWatch(v1::DeviceInventory known, Read read, Tell tell,
                               absl::Duration every)
    : read_(std::move(read)), tell_(std::move(tell)), every_(every), known_(std::move(known)) {
  thread_ = std::thread([this] { Work(); });
}

InventoryWatch::~InventoryWatch() {
  {
    absl::MutexLock lock(&mutex_);
    ends_ = true;
  }
  thread_.join();
}

void InventoryWatch::Look() {
  v1::DeviceInventory now = read_();
  {
    absl::MutexLock lock(&mutex_);
    if (now.SerializeAsString() == known_.SerializeAsString()) return;
    known_ = now;
  }
  tell_(now);
}

void InventoryWatch::Work() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&ends_), every_)) return;
    }
    Look();
  }
}

}  // namespace slipway
