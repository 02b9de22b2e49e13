// The driver over a libcuda without a GPU (testing/fake_world.h), which ends the process where the driver does what it must not.
#include "core/runtime/drivers/cuda/cuda_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
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

TEST(CudaDevice, TellsWhereItIs) {
  EXPECT_EQ(Open()->pci_address(), "0000:1A:00.0");
  // Who does not tell works as well.
  const FakeIsTold told("cuDeviceGetPCIBusId=999");
  EXPECT_EQ(Open()->pci_address(), "");
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

TEST(CudaDevice, NamesBothCapabilitiesOfCodeThatIsForOneAlone) {
  std::string text(kPtx);
  absl::StrReplaceAll({{".version 7.0", ".version 8.0"}, {"sm_80", "sm_90a"}}, &text);
  {
    const FakeIsTold told("capability=90 ptx=8.0");
    EXPECT_OK(Open()->LoadCode(Code({"add"}), 1, text));
  }
  for (const char* other : {"89", "100"}) {
    const FakeIsTold told(absl::StrCat("ptx=8.0 capability=", other));
    EXPECT_THAT(Open()->LoadCode(Code({"add"}), 1, text),
                StatusIs(Status::kFailedPrecondition,
                         AllOf(HasSubstr("sm_90a"), HasSubstr(absl::StrCat("is sm_", other)))));
  }
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

// Two sums and a copy, again and again: what the driver is told of them.
class CudaGraphTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("cuda"));
    setenv("SLIPWAY_FAKE_CUDA_TRACE", JoinPath(folder_.path(), "trace").c_str(), 1);
  }
  void TearDown() override { unsetenv("SLIPWAY_FAKE_CUDA_TRACE"); }

  struct Sums {
    explicit Sums(const std::shared_ptr<ComputeDevice>& opened)
        : device(opened), a(*opened, {1}), b(*opened, {1}), c(*opened, {1}) {
      code = *device->LoadCode(Code({"add"}), 1, kPtx);
      queues = *device->NewQueues({});
      first = *queues->Prepare(*code, 0, {&a.buffer, &a.buffer, &b.buffer}, "first");
      second = *queues->Prepare(*code, 0, {&b.buffer, &a.buffer, &b.buffer}, "second");
    }
    // c = 3a.
    absl::Status Queue(const LaunchSizes& sizes = {}) {
      absl::Status status = queues->Launch(0, *first, sizes);
      status.Update(queues->Launch(0, *second, sizes));
      status.Update(queues->Copy(0, b.place(), c.place(), 4));
      return status;
    }
    void ExpectSums(float value, const LaunchSizes& sizes = {}) {
      a.Write({value});
      ASSERT_OK(Queue(sizes));
      ASSERT_OK(queues->Finish());
      EXPECT_THAT(c.Read(), ElementsAre(3 * value));
    }

    std::shared_ptr<ComputeDevice> device;
    HeldTensor a;
    HeldTensor b;
    HeldTensor c;
    std::unique_ptr<DeviceCode> code;
    std::unique_ptr<DeviceQueues> queues;
    std::unique_ptr<DeviceLaunch> first;
    std::unique_ptr<DeviceLaunch> second;
  };

  // How many lines of the trace have these words, since the last call.
  int Count(const std::string& words) {
    const absl::StatusOr<std::string> trace = ReadFile(JoinPath(folder_.path(), "trace"), 1 << 24);
    int count = 0;
    for (const absl::string_view line : absl::StrSplit(trace.value_or(""), '\n')) {
      count += absl::StrContains(line, words) ? 1 : 0;
    }
    const int before = counted_[words];
    counted_[words] = count;
    return count - before;
  }

  TemporaryFolder folder_;
  std::map<std::string, int> counted_;
};

TEST_F(CudaGraphTest, WorkThatComesAgainIsAGraph) {
  Sums sums(Open());
  sums.ExpectSums(1);
  EXPECT_EQ(Count("captures: "), 0);
  sums.ExpectSums(2);
  EXPECT_EQ(Count("captures: "), 3);
  EXPECT_EQ(Count("graph of 3"), 1);
  sums.ExpectSums(3);
  sums.ExpectSums(4);
  EXPECT_EQ(Count("captures: "), 0);
  EXPECT_EQ(Count("graph of 3"), 2);
}

TEST_F(CudaGraphTest, OtherSizesAndAddressesAreOtherWork) {
  Sums sums(Open());
  const LaunchSizes sizes[] = {{}, {.group = {2, 1, 1}}};
  for (int i = 0; i < 3; ++i) {
    for (const LaunchSizes& size : sizes) sums.ExpectSums(static_cast<float>(i), size);
  }
  EXPECT_EQ(Count("captures: "), 6);
  EXPECT_EQ(Count("graph of 3"), 4);
  // Elsewhere: the graph would write where nobody looks.
  HeldTensor other(*sums.device, {1});
  sums.b.buffer.device = other.buffer.device;
  sums.a.Write({5});
  ASSERT_OK(sums.queues->Launch(0, *sums.first, {}));
  ASSERT_OK(sums.queues->Launch(0, *sums.second, {}));
  ASSERT_OK(sums.queues->Copy(0, other.place(), sums.c.place(), 4));
  ASSERT_OK(sums.queues->Finish());
  EXPECT_THAT(sums.c.Read(), ElementsAre(15));
  EXPECT_EQ(Count("graph of 3"), 0);
}

TEST_F(CudaGraphTest, KeepsAsManyGraphsAsItMay) {
  Sums sums(Open());
  for (int turn = 0; turn < 2; ++turn) {
    for (int64_t groups = 1; groups <= 20; ++groups) {
      sums.ExpectSums(1, {.groups = {groups, 1, 1}});
      sums.ExpectSums(2, {.groups = {groups, 1, 1}});
    }
  }
  // Those of the first turn are gone when they come again.
  EXPECT_EQ(Count("captures: "), 2 * 20 * 3);
  sums.ExpectSums(3, {.groups = {20, 1, 1}});
  sums.ExpectSums(3, {.groups = {5, 1, 1}});
  EXPECT_EQ(Count("captures: "), 0);
}

// What the host, or another queue, is to see is given to the driver before.
TEST_F(CudaGraphTest, EventsAndOtherQueuesComeBehindWhatWasQueued) {
  Sums sums(Open());
  for (int turn = 0; turn < 3; ++turn) {
    sums.a.Write({4});
    ASSERT_OK_AND_ASSIGN(const auto event, sums.queues->NewEvent());
    ASSERT_OK(sums.Queue());
    ASSERT_OK(sums.queues->Record(0, *event));
    ASSERT_OK(event->Wait());
    EXPECT_THAT(sums.c.Read(), ElementsAre(12));
    HeldTensor last(*sums.device, {1});
    ASSERT_OK(sums.Queue());
    ASSERT_OK(sums.queues->Record(0, *event));
    ASSERT_OK(sums.queues->Wait(3, *event));
    ASSERT_OK(sums.queues->Copy(3, sums.c.place(), last.place(), 4));
    ASSERT_OK(sums.queues->Finish());
    EXPECT_THAT(last.Read(), ElementsAre(12));
  }
  EXPECT_EQ(Count("graph of 3"), 5);
}

TEST_F(CudaGraphTest, AFailedCaptureIsToldAndTheStreamGoesOn) {
  Sums sums(Open());
  sums.ExpectSums(1);
  for (const char* function : {"cuStreamBeginCapture_v2", "cuGraphInstantiateWithFlags"}) {
    const FakeIsTold told(absl::StrCat(function, "=2"));
    ASSERT_OK(sums.Queue());
    EXPECT_THAT(sums.queues->Finish(),
                StatusIs(Status::kResourceExhausted, HasSubstr("capturing 3 pieces of work")));
  }
  sums.ExpectSums(2);
  EXPECT_EQ(Count("graph of 3"), 1);
}

TEST_F(CudaGraphTest, WhoWantsNoneGetsPieces) {
  Sums sums(*MakeCudaDriver({.graphs = false})->Open(0));
  for (const float value : {1, 2, 3}) sums.ExpectSums(value);
  EXPECT_EQ(Count("captures: "), 0);
  EXPECT_EQ(Count("add("), 6);
}

TEST_F(CudaGraphTest, CallsOfTheDriverDoNotGrowWithTheLaunches) {
  Sums sums(Open());
  const FakeIsTold told("calls=1");
  for (const int turns : {1, 2, 100}) {
    for (int call = 0; call < 3; ++call) {
      Count("call ");
      for (int i = 0; i < turns; ++i) ASSERT_OK(sums.Queue());
      ASSERT_OK(sums.queues->Finish());
    }
    // Push, launch, pop; push, synchronize, pop.
    EXPECT_EQ(Count("call "), 6) << turns;
  }
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
