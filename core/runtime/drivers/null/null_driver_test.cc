#include "core/runtime/drivers/null/null_driver.h"

#include <memory>

#include "absl/status/status.h"
#include "core/runtime/drivers/null/null_device.h"
#include "core/runtime/testing/driver_test_suite.h"
#include "gmock/gmock.h"
#include "proto/slipway/v1/artifact.pb.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

DriverUnderTest Null(v1::Code::Kind kind) {
  DriverUnderTest test;
  test.name = kind == v1::Code::KIND_PTX ? "NullPtx" : "NullOpenCl";
  test.open = [] { return *MakeNullDriver()->Open(0); };
  test.code.set_kind(kind);
  test.code.set_kernel_count(2);
  test.code.add_entries("add_f32");
  test.code.add_entries("fail");
  test.code_bytes = "not read";
  test.fail = 1;
  test.fail_inputs = 1;
  test.unknown_kind = v1::Code::KIND_ELF;
  test.has_launch_sizes = true;
  return test;
}

INSTANTIATE_TEST_SUITE_P(Null, DriverTest,
                         ::testing::Values(Null(v1::Code::KIND_PTX),
                                           Null(v1::Code::KIND_OPENCL_SOURCE)),
                         [](const auto& info) { return info.param.name; });

class NullDeviceTest : public ::testing::Test {
 protected:
  DeviceMemory Allocate() { return *device_.Allocate(8, MemoryKind::kLocal); }
  MemoryPlace Place(const DeviceMemory& memory) const { return {&device_, memory}; }
  uint32_t Read(const DeviceMemory& memory) {
    uint32_t number = 0;
    EXPECT_OK(
        device_.Copy(Place(memory), {nullptr, {0, reinterpret_cast<uint8_t*>(&number), 4}}, 4));
    return number;
  }
  void Write(const DeviceMemory& memory, uint32_t number) {
    EXPECT_OK(
        device_.Copy({nullptr, {0, reinterpret_cast<uint8_t*>(&number), 4}}, Place(memory), 4));
  }

  NullDevice device_{{.memory_bytes = 1000}};
};

TEST_F(NullDeviceTest, TheHostDoesNotReachItsMemory) {
  EXPECT_EQ(Allocate().host, nullptr);
  EXPECT_EQ(Read(Allocate()), 0xEEEEEEEEu);
}

TEST_F(NullDeviceTest, WorkIsDoneWhenSomebodyWaits) {
  const DeviceMemory a = Allocate();
  const DeviceMemory b = Allocate();
  Write(a, 1);
  Write(b, 2);
  ASSERT_OK_AND_ASSIGN(const auto queues, device_.NewQueues({}));
  ASSERT_OK(queues->Copy(0, Place(a), Place(b), 4));
  EXPECT_EQ(Read(b), 2u);
  ASSERT_OK(queues->Finish());
  EXPECT_EQ(Read(b), 1u);
}

// What a program gets that forgets an event: the later queue goes first.
TEST_F(NullDeviceTest, WithoutAnEventALaterQueueReadsWhatWasThereBefore) {
  const DeviceMemory a = Allocate();
  const DeviceMemory b = Allocate();
  const DeviceMemory c = Allocate();
  Write(a, 1);
  Write(b, 2);
  for (const bool waits : {false, true}) {
    Write(b, 2);
    ASSERT_OK_AND_ASSIGN(const auto queues, device_.NewQueues({}));
    ASSERT_OK_AND_ASSIGN(const auto event, queues->NewEvent());
    for (const uint32_t first : {0u, 1u}) {
      ASSERT_OK(queues->Copy(first, Place(a), Place(b), 4));
      ASSERT_OK(queues->Record(first, *event));
      if (waits) ASSERT_OK(queues->Wait(1 - first, *event));
      ASSERT_OK(queues->Copy(1 - first, Place(b), Place(c), 4));
      ASSERT_OK(queues->Finish());
      EXPECT_EQ(Read(c), waits ? 1u : 2u);
      Write(b, 2);
    }
  }
}

TEST_F(NullDeviceTest, AccessOutsideOfAllocationsIsAnError) {
  const DeviceMemory a = Allocate();
  const DeviceMemory b = Allocate();
  EXPECT_THAT(device_.Copy(Place(a), Place(b), 9), StatusIs(Code::kInternal));
  EXPECT_THAT(device_.Copy(Place(a.From(4)), Place(b), 8), StatusIs(Code::kInternal));
  device_.Free(a);
  EXPECT_THAT(device_.Copy(Place(a), Place(b), 8), StatusIs(Code::kInternal));
}

TEST_F(NullDeviceTest, MemoryEnds) {
  ASSERT_OK(device_.Allocate(900, MemoryKind::kLocal).status());
  EXPECT_THAT(device_.Allocate(200, MemoryKind::kLocal),
              StatusIs(Code::kResourceExhausted, HasSubstr("100 of 1000 left")));
}

TEST_F(NullDeviceTest, AnErrorIsToldOnce) {
  ASSERT_OK_AND_ASSIGN(const auto queues, device_.NewQueues({}));
  const DeviceMemory a = Allocate();
  const DeviceMemory b = Allocate();
  Write(b, 2);
  ASSERT_OK(queues->Copy(0, Place(a), Place(b), 4));
  device_.Free(a);
  ASSERT_OK(queues->Copy(0, Place(b), Place(b), 4));
  EXPECT_THAT(queues->Finish(), StatusIs(Code::kInternal));
  EXPECT_OK(queues->Finish());
  // What came after the error was dropped.
  EXPECT_THAT(device_.trace(), ElementsAre("queue 0: copy of 4 bytes"));
}

TEST(NullDriver, NamesAnEntryItDoesNotKnow) {
  v1::Code code;
  code.set_kind(v1::Code::KIND_PTX);
  code.add_entries("winograd");
  EXPECT_THAT(NullDevice().LoadCode(code, 1, ""),
              StatusIs(Code::kUnimplemented, HasSubstr("'winograd'")));
}

}  // namespace
}  // namespace slipway
