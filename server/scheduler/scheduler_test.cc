#include "server/scheduler/scheduler.h"

#include <vector>

#include "core/artifact/versions.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'767'225'600);
const absl::Time kBefore = absl::UnixEpoch();

class PickAssignmentTest : public ::testing::Test {
 protected:
  DeviceSnapshot Device(const Target& target, VersionRange abis = {1, 1}) {
    offer_ = {.target = target, .abis = abis};
    return {.id = "d", .offer = &offer_, .present = true, .attempts = 0};
  }
  const Target v1_ = *ParseTarget("x86-64-linux");
  const Target v3_ = *ParseTarget("x86-64-v3-linux");
  const Target arm_ = *ParseTarget("arm-64-linux");
  const ProgramNeeds for_v1_{.target = v1_};
  const ProgramNeeds for_v3_{.target = v3_};
  const ProgramNeeds for_arm_{.target = arm_};
  const ProgramNeeds for_abi_2_{.target = v1_, .abi = 2};
  DeviceOffer offer_;
};

TEST_F(PickAssignmentTest, TheFirstThatFits) {
  const std::vector<RunCandidate> waiting = {{"1", "other", &for_v1_, kBefore},
                                             {"2", "", &for_arm_, kBefore},
                                             {"3", "", &for_v1_, kNow + absl::Seconds(1)},
                                             {"4", "d", &for_v1_, kNow},
                                             {"5", "", &for_v1_, kBefore}};
  EXPECT_EQ(PickAssignment(Device(v1_), waiting, kNow), "4");
  EXPECT_EQ(PickAssignment(Device(v1_), waiting, kNow + absl::Seconds(1)), "3");
  EXPECT_EQ(PickAssignment(Device(arm_), waiting, kNow), "2");
}

TEST_F(PickAssignmentTest, ADeviceNeedsTheProgramsFeatures) {
  const std::vector<RunCandidate> waiting = {{"1", "", &for_v3_, kBefore}};
  EXPECT_EQ(PickAssignment(Device(v1_), waiting, kNow), absl::nullopt);
  EXPECT_EQ(PickAssignment(Device(v3_), waiting, kNow), "1");
}

TEST_F(PickAssignmentTest, ADeviceSpeaksTheProgramsAbi) {
  const std::vector<RunCandidate> waiting = {{"1", "", &for_abi_2_, kBefore},
                                             {"2", "", &for_v1_, kBefore}};
  EXPECT_EQ(PickAssignment(Device(v1_), waiting, kNow), "2");
  EXPECT_EQ(PickAssignment(Device(v1_, {1, 2}), waiting, kNow), "1");
  EXPECT_EQ(PickAssignment(Device(v1_, {3, 4}), waiting, kNow), absl::nullopt);
}

TEST_F(PickAssignmentTest, OneAtATimeAndOnlyWhenPresent) {
  const std::vector<RunCandidate> waiting = {{"1", "", &for_v1_, kBefore}};
  DeviceSnapshot device = Device(v1_);
  device.attempts = 1;
  EXPECT_EQ(PickAssignment(device, waiting, kNow), absl::nullopt);
  device = Device(v1_);
  device.present = false;
  EXPECT_EQ(PickAssignment(device, waiting, kNow), absl::nullopt);
}

TEST(PickCompilationTest, FingerprintCapacityAndOrder) {
  const std::vector<CompileCandidate> waiting = {{"1", "x86", "old", kBefore},
                                                 {"2", "x86", "new", kNow + absl::Seconds(1)},
                                                 {"3", "x86", "new", kBefore}};
  const TargetFingerprints targets = {{"x86", "new"}};
  WorkerSnapshot worker{.targets = &targets, .present = true, .attempts = 1, .capacity = 2};
  EXPECT_EQ(PickCompilation(worker, waiting, kNow), "3");
  EXPECT_EQ(PickCompilation(worker, waiting, kNow + absl::Seconds(1)), "2");
  worker.attempts = 2;
  EXPECT_EQ(PickCompilation(worker, waiting, kNow), absl::nullopt);
  worker.attempts = 0;
  worker.present = false;
  EXPECT_EQ(PickCompilation(worker, waiting, kNow), absl::nullopt);
}

TEST(PickCompilationTest, AWorkerGetsWhatItCompilesFor) {
  // Fingerprints are compared within a family alone.
  const std::vector<CompileCandidate> waiting = {{"gpu", "x86,cuda", "a", kBefore},
                                                 {"arm", "arm", "a", kBefore},
                                                 {"x86", "x86", "b", kBefore}};
  const auto gets = [&waiting](const TargetFingerprints& targets) {
    return PickCompilation({.targets = &targets, .present = true, .attempts = 0, .capacity = 1},
                           waiting, kNow)
        .value_or("none");
  };
  EXPECT_EQ(gets({{"arm", "a"}, {"x86", "b"}}), "arm");
  EXPECT_EQ(gets({{"arm", "b"}, {"x86", "b"}}), "x86");
  EXPECT_EQ(gets({{"x86,cuda", "a"}}), "gpu");
  EXPECT_EQ(gets({{"x86", "a"}}), "none");
}

}  // namespace
}  // namespace slipway::server
