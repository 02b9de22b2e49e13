#include "device_agent/inventory_watch.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

v1::DeviceInventory Charged(int percent) {
  v1::DeviceInventory inventory;
  inventory.set_charge_percent(percent);
  return inventory;
}

TEST(InventoryWatchTest, TellsWhatDiffersFromWhatItToldLast) {
  int percent = 90;
  std::vector<int> told;
  InventoryWatch watch(
      Charged(90), [&percent] { return Charged(percent); },
      [&told](const v1::DeviceInventory& now) { told.push_back(now.charge_percent()); },
      absl::InfiniteDuration());
  watch.Look();
  EXPECT_THAT(told, ::testing::IsEmpty());
  percent = 80;
  watch.Look();
  watch.Look();
  percent = 90;
  watch.Look();
  EXPECT_THAT(told, ::testing::ElementsAre(80, 90));
}

TEST(InventoryWatchTest, LooksByItselfUntilItEnds) {
  absl::Mutex mutex;
  int percent = 100;  // Guarded by the mutex.
  int told = 100;     // The same.
  {
    InventoryWatch watch(
        Charged(100),
        [&] {
          absl::MutexLock lock(&mutex);
          return Charged(--percent);
        },
        [&](const v1::DeviceInventory& now) {
          absl::MutexLock lock(&mutex);
          told = now.charge_percent();
        },
        absl::Milliseconds(1));
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(
        +[](int* last) { return *last <= 97; }, &told));
  }
  EXPECT_LE(told, 97);
}

}  // namespace
}  // namespace slipway
