#include "device_agent/attached/peaks/attached_peaks.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/runtime/drivers/attached/attached_driver.h"
#include "core/target/measure_machine.h"
#include "device_agent/attached/attached_device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using Code = absl::StatusCode;

// This machine, as one that is reached by a command.
class AttachedPeaksTest : public ::testing::Test {
 protected:
  void Attach(int64_t memory_bytes) {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("device"));
    const absl::Duration deadline = SystemClock().Monotonic() + absl::Seconds(60);
    ASSERT_OK_AND_ASSIGN(command_,
                         StartOnDevice({.exec_prefix = "/bin/sh -c", .folder = folder_.path()},
                                       {.require_confinement = false, .memory_bytes = memory_bytes},
                                       ChildStream::Inherit(), deadline));
    ASSERT_OK_AND_ASSIGN(const slipway_bare_hello hello,
                         AwaitBareHello(command_.stream.get(), deadline));
    ASSERT_OK_AND_ASSIGN(const Target target, TargetOfBare(hello));
    machine_ = target.host();
    ASSERT_OK_AND_ASSIGN(
        driver_,
        MakeAttachedDriver(std::make_shared<BareStream>(std::move(command_.stream)), hello));
    ASSERT_OK_AND_ASSIGN(device_, driver_->Open(0));
  }

  TemporaryFolder folder_;
  DeviceCommand command_;
  DeviceTarget machine_;
  std::unique_ptr<Driver> driver_;
  std::shared_ptr<ComputeDevice> device_;
};

// Others may have the machine meanwhile, and of two threads the slower one counts: what both find out is of one size, no more.
TEST_F(AttachedPeaksTest, AreThoseThatTheMachineFindsItself) {
  Attach(0);
  for (const int threads : {1, 2}) {
    ASSERT_OK_AND_ASSIGN(const MachinePeaks there,
                         MeasureAttachedPeaks(*device_, machine_, HostCaches(), threads));
    const MachinePeaks here = MeasureMachine(threads, SystemClock());
    EXPECT_EQ(there.threads, threads);
    ASSERT_EQ(there.arithmetic.size(), here.arithmetic.size());
    for (size_t i = 0; i < here.arithmetic.size(); ++i) {
      const double ratio =
          there.arithmetic[i].operations_per_second / here.arithmetic[i].operations_per_second;
      EXPECT_EQ(there.arithmetic[i].type, here.arithmetic[i].type);
      EXPECT_GT(ratio, threads == 1 ? 0.2 : 0.02) << here.arithmetic[i].type;
      EXPECT_LT(ratio, 5) << here.arithmetic[i].type << " on " << threads;
      RecordProperty(here.arithmetic[i].type + std::to_string(threads), std::to_string(ratio));
    }
    ASSERT_EQ(there.reading.size(), here.reading.size());
    for (size_t i = 0; i < here.reading.size(); ++i) {
      const double ratio = there.reading[i].bytes_per_second / here.reading[i].bytes_per_second;
      EXPECT_EQ(there.reading[i].level, here.reading[i].level);
      EXPECT_EQ(there.reading[i].bytes, here.reading[i].bytes);
      EXPECT_GT(ratio, threads == 1 ? 0.2 : 0.02) << here.reading[i].level;
      EXPECT_LT(ratio, 5) << here.reading[i].level << " on " << threads;
      RecordProperty(here.reading[i].level + std::to_string(threads), std::to_string(ratio));
    }
  }
}

TEST_F(AttachedPeaksTest, WithoutMemoryForThemThereAreNone) {
  Attach(24 << 20);
  EXPECT_THAT(MeasureAttachedPeaks(*device_, machine_, HostCaches(), 1),
              StatusIs(Code::kResourceExhausted));
  // And all is given back.
  CacheSizes small;
  small.l1 = {32 << 10, 1};
  EXPECT_THAT(MeasureAttachedPeaks(*device_, machine_, small, 1),
              StatusIs(Code::kResourceExhausted));
  ASSERT_OK(device_->Allocate(8 << 20, MemoryKind::kLocal).status());
}

TEST_F(AttachedPeaksTest, MachinesWithoutAProgramAreRefused) {
  Attach(0);
  DeviceTarget other = machine_;
  other.arch = Arch::kWasm32;
  EXPECT_THAT(MeasureAttachedPeaks(*device_, other, HostCaches(), 1),
              StatusIs(Code::kUnimplemented));
}

}  // namespace
}  // namespace slipway
