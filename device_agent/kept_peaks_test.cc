#include "device_agent/kept_peaks.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "core/wire/peaks_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

using ::testing::IsEmpty;

std::vector<MachinePeaks> Peaks(double f32) { return {{1, {{"f32", f32}}, {{"memory", 0, 1e10}}}}; }

class KeptPeaksTest : public ::testing::Test {
 protected:
  std::vector<MachinePeaks> Known(const KeptPeaks& kept) {
    return FromProto(kept.Get()).value_or(Peaks(-1));
  }
  // Those that are known in the end, of a machine that does so much.
  std::vector<MachinePeaks> Find(const std::string& key, double f32) {
    KeptPeaks kept(file_, key);
    if (!Known(kept).empty()) {
      kept.Find([](auto) { return absl::InternalError("known already"); }, [] { ADD_FAILURE(); });
      return Known(kept);
    }
    absl::Notification known;
    kept.Find(
        [&](auto) {
          ++measured_;
          return MeasuredPeaks{ToProto(Peaks(f32)), is_whole_};
        },
        [&] { known.Notify(); });
    known.WaitForNotification();
    return Known(kept);
  }

  testing::TempTree folder_;
  std::string file_ = folder_.Path("peaks");
  int measured_ = 0;
  bool is_whole_ = true;
};

TEST_F(KeptPeaksTest, AreMeasuredOnce) {
  EXPECT_EQ(Find("machine", 1), Peaks(1));
  EXPECT_EQ(Find("machine", 2), Peaks(1));
  EXPECT_EQ(measured_, 1);
}

TEST_F(KeptPeaksTest, OfAnotherMachineAreMeasuredAnew) {
  Find("machine", 1);
  EXPECT_EQ(Find("machine 2", 2), Peaks(2));
  EXPECT_EQ(Find("machine", 3), Peaks(3));
}

TEST_F(KeptPeaksTest, AreNotKnownWhileTheyAreMeasured) {
  KeptPeaks kept(file_, "machine");
  absl::Notification may_end, known;
  kept.Find(
      [&](auto) {
        may_end.WaitForNotification();
        return MeasuredPeaks{ToProto(Peaks(1))};
      },
      [&] {
        EXPECT_EQ(Known(kept), Peaks(1));
        known.Notify();
      });
  EXPECT_THAT(Known(kept), IsEmpty());
  may_end.Notify();
  known.WaitForNotification();
}

TEST_F(KeptPeaksTest, MeasuringEndsWhenTheyAreNotWantedAnyMore) {
  auto kept = std::make_unique<KeptPeaks>(file_, "machine");
  kept->Find(
      [](std::stop_token stop) -> absl::StatusOr<MeasuredPeaks> {
        absl::Notification stopped;
        const std::stop_callback callback(std::move(stop), [&stopped] { stopped.Notify(); });
        stopped.WaitForNotification();
        return absl::CancelledError("stopped");
      },
      [] { ADD_FAILURE(); });
  kept.reset();
  EXPECT_EQ(Find("machine", 2), Peaks(2));
}

TEST_F(KeptPeaksTest, WhatCannotBeMeasuredIsNotKnown) {
  {
    KeptPeaks kept(file_, "machine");
    kept.Find([](auto) { return absl::PermissionDeniedError("no lock"); }, [] { ADD_FAILURE(); });
  }
  EXPECT_EQ(Find("machine", 2), Peaks(2));
}

TEST_F(KeptPeaksTest, ThoseThatLackAnAcceleratorAreToldButNotKept) {
  is_whole_ = false;
  EXPECT_EQ(Find("machine", 1), Peaks(1));
  is_whole_ = true;
  EXPECT_EQ(Find("machine", 2), Peaks(2));
  EXPECT_EQ(Find("machine", 3), Peaks(2));
}

TEST_F(KeptPeaksTest, AcceleratorsAreKeptToo) {
  const std::vector<AcceleratorPeaks> gpus = {
      {"GPU", {{"f32", 1e12}}, {{"memory", 0, 1e12}}, 1, 2}};
  {
    KeptPeaks kept(file_, "machine");
    absl::Notification known;
    kept.Find([&](auto) { return MeasuredPeaks{ToProto(Peaks(1), gpus)}; },
              [&] { known.Notify(); });
    known.WaitForNotification();
  }
  EXPECT_EQ(*AcceleratorsFromProto(KeptPeaks(file_, "machine").Get()), gpus);
}

TEST_F(KeptPeaksTest, ADamagedFileIsAsGoodAsNone) {
  Find("machine", 1);
  for (const std::string& bytes : {std::string(), std::string("machine\n"),
                                   std::string("machine\n\xff\xff"), std::string("machine")}) {
    folder_.Write("peaks", bytes);
    EXPECT_EQ(Find("machine", 2), Peaks(2)) << bytes;
  }
}

TEST_F(KeptPeaksTest, AFolderThatIsNotThereIsNoError) {
  file_ = folder_.Path("nowhere/peaks");
  EXPECT_EQ(Find("machine", 1), Peaks(1));
  EXPECT_EQ(Find("machine", 2), Peaks(2));
}

TEST_F(KeptPeaksTest, TheKeyTellsMachinesApart) {
  v1::DeviceDescription device;
  device.set_model("AMD EPYC");
  device.set_target("x86-64-v3-linux");
  device.set_cores(2);
  const std::string key = PeaksKey(device);
  EXPECT_THAT(key, ::testing::Not(::testing::HasSubstr("\n")));
  device.set_cores(4);
  EXPECT_NE(PeaksKey(device), key);
  device.set_cores(2);
  device.set_target("x86-64-v4-linux");
  EXPECT_NE(PeaksKey(device), key);
  device.set_target("x86-64-v3-linux");
  EXPECT_EQ(PeaksKey(device), key);
  EXPECT_NE(PeaksKey(device, {"NVIDIA H100"}), key);
}

}  // namespace
}  // namespace slipway
