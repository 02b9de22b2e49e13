// The driver over a libcuda without a GPU (testing/fake_world.h), which ends the process where the driver does what it must not.
#include "core/runtime/drivers/cuda/cuda_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/runtime/drivers/cuda/testing/test_entries.h"
#include "core/runtime/testing/held_tensor.h"
#include "tests/common/status_matchers.h"

namespace slipway {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

using cuda_testing::Code;
using cuda_testing::kPtx;
using cuda_testing::Open;
using Status = absl::StatusCode;

// What the fake is told from here to the end of a scope.
class FakeIsTold {
 public:
  explicit FakeIsTold(const std::string& words) { setenv("SLIPWAY_FAKE_CUDA", words.c_str(), 1); }
  ~FakeIsTold() { unsetenv("SLIPWAY_FAKE_CUDA"); }
};

TEST(CudaDevice, RefusesWhatAnEntryDoesNotTake) {
  const auto device = Open();
  ASSERT_OK_AND_ASSIGN(const auto code, device->LoadCode(Code({"extents"}), 1, kPtx));
  ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
  HeldTensor a(*device, {1});
  HeldTensor scalar(*device, {});
  EXPECT_THAT(queues->Prepare(*code, 0, {&a.buffer, &scalar.buffer}, "step"),
              StatusIs(Status::kInvalidArgument, HasSubstr("step: entry 'extents'")));
  ASSERT_OK_AND_ASSIGN(const auto launch, queues->Prepare(*code, 0, {&a.buffer, &a.buffer}, "it"));
  EXPECT_THAT(queues->Launch(0, *launch, {.groups = {1, 1 << 16, 1}}),
              StatusIs(Status::kInvalidArgument, AllOf(HasSubstr("it: "), HasSubstr("65535"))));
  EXPECT_THAT(queues->Launch(0, *launch, {.shared_bytes = 164 << 10}),
              StatusIs(Status::kInvalidArgument, HasSubstr("shares")));
  EXPECT_OK(queues->Launch(0, *launch, {.shared_bytes = 163 << 10}));
  ASSERT_OK(queues->Finish());
}

TEST(CudaDevice, TellsWhatTheCompilerSays) {
  const auto device = Open();
  EXPECT_THAT(device->LoadCode(Code({"add"}), 1, std::string(kPtx) + "nobody_knows_me()"),
              StatusIs(Status::kInvalidArgument, AllOf(HasSubstr("CUDA_ERROR_INVALID_PTX (218)"),
                                                       HasSubstr("nobody_knows_me"))));
  EXPECT_THAT(device->LoadCode(Code({"winograd"}), 1, kPtx),
              StatusIs(Status::kInvalidArgument, HasSubstr("'winograd'")));
  EXPECT_THAT(device->LoadCode(Code({"add"}), 1, ""), StatusIs(Status::kInvalidArgument));
}

TEST(CudaDevice, NamesBothVersionsWhereTheDriverIsTooOld) {
  const FakeIsTold told("version=10020 ptx=6.5");
  const auto device = Open();
  EXPECT_THAT(device->LoadCode(Code({"add"}), 1, kPtx),
              StatusIs(Status::kFailedPrecondition,
                       AllOf(HasSubstr("PTX 7.0"), HasSubstr("the driver for CUDA 1"),
                             HasSubstr("CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)"))));
}

TEST(CudaDevice, NamesBothCapabilitiesWhereTheDeviceIsTooOld) {
  const FakeIsTold told("capability=75");
  EXPECT_THAT(Open()->LoadCode(Code({"add"}), 1, kPtx),
              StatusIs(Status::kFailedPrecondition, AllOf(HasSubstr("sm_80"), HasSubstr("sm_75"))));
}

TEST(CudaDevice, SaysHowMuchMemoryIsLeft) {
  const FakeIsTold told("memory=1000");
  const auto device = Open();
  ASSERT_OK_AND_ASSIGN(const DeviceMemory held, device->Allocate(600, MemoryKind::kLocal));
  for (const MemoryKind kind : {MemoryKind::kLocal, MemoryKind::kHostVisible}) {
    EXPECT_THAT(
        device->Allocate(600, kind),
        StatusIs(Status::kResourceExhausted,
                 AllOf(HasSubstr("cuda 0 (Fake GPU): 600 bytes asked for, 400 of 1000 left"),
                       HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2)"))));
  }
  device->Free(held);
  device->Free(held);  // Nothing is there any more.
}

TEST(CudaDevice, ALostDeviceIsUnavailable) {
  const auto device = Open();
  HeldTensor a(*device, {1});
  HeldTensor b(*device, {1});
  const FakeIsTold told("cuMemcpyDtoDAsync_v2=46");
  EXPECT_THAT(device->Copy(a.place(), b.place(), 4),
              StatusIs(Status::kUnavailable, HasSubstr("CUDA_ERROR_DEVICE_UNAVAILABLE (46)")));
}

TEST(CudaDevice, TellsForHowLongItHasWorked) {
  const auto device = Open();
  HeldTensor a(*device, {1});
  HeldTensor b(*device, {1});
  ASSERT_OK_AND_ASSIGN(const auto untimed, device->NewQueues({}));
  EXPECT_EQ(untimed->worked_ns(), std::nullopt);
  ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({.is_timed = true}));
  EXPECT_EQ(queues->worked_ns(), 0);
  // Here each piece of work takes a microsecond, and two streams do theirs one after the other.
  for (const int64_t pieces : {3, 6}) {
    ASSERT_OK(queues->Copy(0, a.place(), b.place(), 4));
    ASSERT_OK(queues->Copy(1, a.place(), b.place(), 4));
    ASSERT_OK(queues->Copy(0, b.place(), a.place(), 4));
    ASSERT_OK(queues->Finish());
    EXPECT_NEAR(static_cast<double>(*queues->worked_ns()), static_cast<double>(pieces) * 1000, 2);
  }
  ASSERT_OK(queues->Finish());
  EXPECT_NEAR(static_cast<double>(*queues->worked_ns()), 6000, 2);
}

TEST(CudaDriver, CountsItsDevices) {
  ASSERT_OK_AND_ASSIGN(const auto devices, ListCudaDevices());
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].name, "Fake GPU");
  EXPECT_EQ(devices[0].capability, 80);
  EXPECT_EQ(devices[0].version, "12.4");
  EXPECT_THAT(MakeCudaDriver()->Open(2),
              StatusIs(Status::kFailedPrecondition, HasSubstr("2 devices, not 3")));
  const FakeIsTold told("devices=0");
  EXPECT_THAT(ListCudaDevices(), StatusIs(Status::kFailedPrecondition, HasSubstr("no device")));
}

}  // namespace
}  // namespace slipway
