#include "core/runtime/testing/driver_test_suite.h"

#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "core/artifact/limits.h"
#include "core/runtime/device_tensor.h"
#include "core/tensor/tensor.h"
#include "gmock/gmock.h"
#include "tests/common/status_matchers.h"

namespace slipway {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

namespace {

DeviceMemory HostMemory(const void* bytes, size_t size) {
  return {0, static_cast<uint8_t*>(const_cast<void*>(bytes)), static_cast<int64_t>(size)};
}

}  // namespace

void DriverTest::SetUp() {
  device_ = GetParam().open();
  ASSERT_OK_AND_ASSIGN(
      code_, device_->LoadCode(GetParam().code, SLIPWAY_ABI_VERSION, GetParam().code_bytes));
  ASSERT_OK_AND_ASSIGN(queues_, device_->NewQueues({}));
}

void DriverTest::TearDown() {
  queues_.reset();
  for (const DeviceMemory& memory : memory_) device_->Free(memory);
}

DeviceMemory DriverTest::Upload(const std::vector<float>& values) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
  absl::StatusOr<DeviceMemory> memory = device_->Allocate(bytes, MemoryKind::kLocal);
  EXPECT_OK(memory.status());
  memory_.push_back(*memory);
  EXPECT_OK(device_->Copy({nullptr, HostMemory(values.data(), values.size() * sizeof(float))},
                          Place(*memory), bytes));
  return *memory;
}

std::vector<float> DriverTest::Download(const DeviceMemory& memory, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  EXPECT_OK(device_->Copy(Place(memory),
                          {nullptr, HostMemory(values.data(), values.size() * sizeof(float))},
                          count * static_cast<int64_t>(sizeof(float))));
  return values;
}

slipway_buffer* DriverTest::Describe(const DeviceMemory& memory, int32_t count) {
  described_.push_back(std::make_unique<Described>());
  Described& described = *described_.back();
  described.dimension.extent = count;
  described.dimension.stride = 1;
  described.buffer.device = memory.address;
  described.buffer.host = memory.host;
  described.buffer.type = {SLIPWAY_TYPE_FLOAT, 32, 1};
  described.buffer.dimensions = 1;
  described.buffer.dim = &described.dimension;
  return &described.buffer;
}

LaunchSizes DriverTest::SizesFor(int64_t count) {
  LaunchSizes sizes;
  sizes.groups = {(count + 3) / 4, 1, 1};
  sizes.group = {4, 1, 1};
  return sizes;
}

TEST_P(DriverTest, AllocatesMemoryOfBothKinds) {
  EXPECT_FALSE(device_->name().empty());
  for (const MemoryKind kind : {MemoryKind::kLocal, MemoryKind::kHostVisible}) {
    if (kind == MemoryKind::kHostVisible && !GetParam().has_host_visible_memory) {
      EXPECT_THAT(device_->Allocate(64, kind), StatusIs(Code::kUnimplemented));
      continue;
    }
    for (const int64_t bytes : {0, 1, 64, 1000, 5 << 20}) {
      ASSERT_OK_AND_ASSIGN(const DeviceMemory memory, device_->Allocate(bytes, kind));
      EXPECT_TRUE(memory.address != 0 || memory.host != nullptr);
      EXPECT_EQ(memory.address % kBufferAlignment, 0u);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.host) % kBufferAlignment, 0u);
      EXPECT_EQ(memory.bytes, bytes);
      if (kind == MemoryKind::kHostVisible) {
        ASSERT_NE(memory.host, nullptr);
        std::memset(memory.host, 1, static_cast<size_t>(bytes));
      }
      device_->Free(memory);
    }
  }
}

TEST_P(DriverTest, SaysWhenMemoryEnds) {
  for (const MemoryKind kind : {MemoryKind::kLocal, MemoryKind::kHostVisible}) {
    if (kind == MemoryKind::kHostVisible && !GetParam().has_host_visible_memory) continue;
    EXPECT_THAT(device_->Allocate(int64_t{1} << 60, kind), StatusIs(Code::kResourceExhausted));
  }
  ASSERT_OK_AND_ASSIGN(const MemoryInfo info, device_->memory_info());
  EXPECT_GT(info.total, 0);
  EXPECT_GE(info.free, 0);
  EXPECT_LE(info.free, info.total);
}

TEST_P(DriverTest, CopiesBetweenHostAndDeviceAndWithin) {
  const DeviceMemory a = Upload({1, 2, 3, 4});
  const DeviceMemory b = Upload({0, 0, 0, 0});
  ASSERT_OK(device_->Copy(Place(a), Place(b), 16));
  EXPECT_THAT(Download(b, 4), ElementsAre(1, 2, 3, 4));
  ASSERT_OK(device_->Copy(Place(a.From(8)), Place(b.From(4)), 8));
  EXPECT_THAT(Download(b, 4), ElementsAre(1, 3, 4, 4));
  EXPECT_OK(device_->Copy(Place(a), Place(b), 0));
}

TEST_P(DriverTest, QueuesCopies) {
  const DeviceMemory a = Upload({1, 2, 3, 4});
  const DeviceMemory b = Upload({0, 0, 0, 0});
  std::vector<float> host = {5, 6};
  ASSERT_OK(queues_->Copy(0, {nullptr, HostMemory(host.data(), 8)}, Place(a), 8));
  ASSERT_OK(queues_->Copy(0, Place(a), Place(b), 16));
  std::vector<float> back(4);
  ASSERT_OK(queues_->Copy(0, Place(b), {nullptr, HostMemory(back.data(), 16)}, 16));
  ASSERT_OK(queues_->Finish());
  EXPECT_THAT(back, ElementsAre(5, 6, 3, 4));
}

TEST_P(DriverTest, TensorsGoThereAndBack) {
  const Tensor tensor = Tensor::Of<int32_t>({2, 2}, {1, -2, 3, -4});
  ASSERT_OK_AND_ASSIGN(const DeviceTensor there,
                       DeviceTensor::FromHost({device_, MemoryKind::kLocal}, tensor));
  EXPECT_EQ(there.type(), tensor.type());
  const DeviceTensor handle = there;
  ASSERT_OK_AND_ASSIGN(const Tensor back, handle.ToHost());
  EXPECT_EQ(back.bytes(), tensor.bytes());
  EXPECT_THAT(DeviceTensor::Create({device_, MemoryKind::kLocal}, {DataType::kString, {1}}),
              StatusIs(Code::kInvalidArgument));
}

TEST_P(DriverTest, LaunchesKernelsOverWhatDescriptorsSayThen) {
  const DeviceMemory a = Upload({1, 2, 3});
  const DeviceMemory b = Upload({10, 20, 30});
  const DeviceMemory c = Upload({0, 0, 0});
  const DeviceMemory d = Upload({0, 0, 0});
  slipway_buffer* const out = Describe(c, 3);
  ASSERT_OK_AND_ASSIGN(
      const auto launch,
      queues_->Prepare(*code_, GetParam().add, {Describe(a, 3), Describe(b, 3), out}, "sum"));
  ASSERT_OK(queues_->Launch(0, *launch, SizesFor(3)));
  out->device = d.address;
  out->host = d.host;
  ASSERT_OK(queues_->Launch(0, *launch, SizesFor(3)));
  ASSERT_OK(queues_->Finish());
  EXPECT_THAT(Download(c, 3), ElementsAre(11, 22, 33));
  EXPECT_THAT(Download(d, 3), ElementsAre(11, 22, 33));
}

TEST_P(DriverTest, LaunchSizesSayHowManyInstancesThereAre) {
  if (!GetParam().has_launch_sizes) GTEST_SKIP() << "kernels of a table have no instances";
  const DeviceMemory a = Upload({1, 2, 3, 4, 5, 6, 7, 8});
  const DeviceMemory out = Upload({0, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues_->Prepare(*code_, GetParam().add,
                                        {Describe(a, 8), Describe(a, 8), Describe(out, 8)}, "sum"));
  LaunchSizes sizes;
  sizes.groups = {1, 2, 1};
  sizes.group = {3, 1, 1};
  ASSERT_OK(queues_->Launch(0, *launch, sizes));
  ASSERT_OK(queues_->Finish());
  EXPECT_THAT(Download(out, 8), ElementsAre(2, 4, 6, 8, 10, 12, 0, 0));
  sizes.groups = {0, 1, 1};
  EXPECT_THAT(queues_->Launch(0, *launch, sizes), StatusIs(Code::kInvalidArgument));
  sizes.groups = {1, 1, 1};
  sizes.group = {1 << 20, 1 << 20, 1 << 20};
  EXPECT_THAT(queues_->Launch(0, *launch, sizes), StatusIs(Code::kInvalidArgument));
}

TEST_P(DriverTest, EventsPutQueuesInOrder) {
  const DeviceMemory a = Upload({1, 2});
  const DeviceMemory sum = Upload({0, 0});
  const DeviceMemory out = Upload({0, 0});
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues_->Prepare(*code_, GetParam().add,
                                        {Describe(a, 2), Describe(a, 2), Describe(sum, 2)}, "sum"));
  ASSERT_OK_AND_ASSIGN(const auto event, queues_->NewEvent());
  // Never recorded: nothing to wait for.
  ASSERT_OK(event->Wait());
  ASSERT_OK(queues_->Wait(1, *event));
  ASSERT_OK(queues_->Launch(1, *launch, SizesFor(2)));
  ASSERT_OK(queues_->Record(1, *event));
  ASSERT_OK(queues_->Wait(0, *event));
  ASSERT_OK(queues_->Copy(0, Place(sum), Place(out), 8));
  // Again, for what comes later.
  ASSERT_OK(queues_->Record(0, *event));
  ASSERT_OK(event->Wait());
  EXPECT_THAT(Download(out, 2), ElementsAre(2, 4));
  ASSERT_OK(queues_->Finish());
}

TEST_P(DriverTest, EventsPutDevicesInOrder) {
  ASSERT_OK_AND_ASSIGN(const auto others, device_->NewQueues({}));
  const DeviceMemory a = Upload({1, 2});
  const DeviceMemory b = Upload({0, 0});
  const DeviceMemory c = Upload({0, 0});
  ASSERT_OK_AND_ASSIGN(const auto event, others->NewEvent());
  ASSERT_OK(others->Copy(15, Place(a), Place(b), 8));
  ASSERT_OK(others->Record(15, *event));
  ASSERT_OK(queues_->Wait(3, *event));
  ASSERT_OK(queues_->Copy(3, Place(b), Place(c), 8));
  ASSERT_OK(queues_->Finish());
  EXPECT_THAT(Download(c, 2), ElementsAre(1, 2));
}

TEST_P(DriverTest, TellsOfKernelsThatFail) {
  if (!GetParam().fail.has_value())
    GTEST_SKIP() << "entries of such code cannot say that they fail";
  const DeviceMemory a = Upload({1, 2});
  const DeviceMemory out = Upload({0, 0});
  std::vector<slipway_buffer*> arguments(static_cast<size_t>(GetParam().fail_inputs),
                                         Describe(a, 2));
  arguments.push_back(Describe(out, 2));
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues_->Prepare(*code_, *GetParam().fail, arguments, "the bad one"));
  absl::Status status = queues_->Launch(0, *launch, SizesFor(2));
  status.Update(queues_->Finish());
  EXPECT_THAT(status, StatusIs(Code::kInternal, HasSubstr("fail")));
}

TEST_P(DriverTest, RefusesCodeItDoesNotKnow) {
  v1::Code code = GetParam().code;
  code.set_kind(GetParam().unknown_kind);
  EXPECT_THAT(device_->LoadCode(code, SLIPWAY_ABI_VERSION, GetParam().code_bytes),
              StatusIs(Code::kUnimplemented, HasSubstr(v1::Code::Kind_Name(code.kind()))));
  EXPECT_OK(code_->CheckArguments(GetParam().add, 2, 1));
  EXPECT_THAT(code_->CheckArguments(GetParam().add, 5, 1), StatusIs(Code::kInvalidArgument));
}

TEST_P(DriverTest, SeveralProgramsShareTheDevice) {
  ASSERT_OK_AND_ASSIGN(
      const auto other_code,
      device_->LoadCode(GetParam().code, SLIPWAY_ABI_VERSION, GetParam().code_bytes));
  ASSERT_OK_AND_ASSIGN(auto other_queues, device_->NewQueues({}));
  const DeviceMemory a = Upload({1, 2});
  const DeviceMemory b = Upload({0, 0});
  const DeviceMemory c = Upload({0, 0});
  ASSERT_OK_AND_ASSIGN(const auto first,
                       queues_->Prepare(*code_, GetParam().add,
                                        {Describe(a, 2), Describe(a, 2), Describe(b, 2)}, "1"));
  ASSERT_OK_AND_ASSIGN(
      auto second, other_queues->Prepare(*other_code, GetParam().add,
                                         {Describe(a, 2), Describe(a, 2), Describe(c, 2)}, "2"));
  ASSERT_OK(queues_->Launch(0, *first, SizesFor(2)));
  ASSERT_OK(other_queues->Launch(0, *second, SizesFor(2)));
  ASSERT_OK(other_queues->Finish());
  second.reset();
  other_queues.reset();
  ASSERT_OK(queues_->Finish());
  EXPECT_THAT(Download(b, 2), ElementsAre(2, 4));
  EXPECT_THAT(Download(c, 2), ElementsAre(2, 4));
}

}  // namespace slipway
