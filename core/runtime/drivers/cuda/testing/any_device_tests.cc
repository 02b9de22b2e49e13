// What holds of any device that runs sm_80's PTX, be it a GPU or the libcuda without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "core/runtime/drivers/cuda/testing/test_entries.h"
#include "core/runtime/testing/driver_test_suite.h"
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

DriverUnderTest Cuda() {
  DriverUnderTest test;
  test.name = "Cuda";
  test.open = [] { return Open(); };
  test.code = Code({"add", "fail"});
  test.code_bytes = kPtx;
  test.fail = 1;
  test.unknown_kind = v1::Code::KIND_OPENCL_SOURCE;
  test.has_launch_sizes = true;
  return test;
}

INSTANTIATE_TEST_SUITE_P(Cuda, DriverTest, ::testing::Values(Cuda()),
                         [](const auto& info) { return info.param.name; });

TEST(CudaDevice, EntriesGetExtentsOutermostFirst) {
  const auto device = Open();
  ASSERT_OK_AND_ASSIGN(const auto code, device->LoadCode(Code({"extents"}), 1, kPtx));
  ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
  HeldTensor a(*device, {5, 7});
  HeldTensor out(*device, {2});
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues->Prepare(*code, 0, {&a.buffer, &out.buffer}, "extents"));
  ASSERT_OK(queues->Launch(0, *launch, {}));
  a.dimensions[0].extent = 6;  // Read with every launch.
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(out.Read(), ElementsAre(7, 5));
  ASSERT_OK(queues->Launch(0, *launch, {}));
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(out.Read(), ElementsAre(7, 6));
}

TEST(CudaDevice, TheHostSharesMemoryThatItMaySee) {
  const auto device = Open();
  ASSERT_OK_AND_ASSIGN(const DeviceMemory shared, device->Allocate(8, MemoryKind::kHostVisible));
  reinterpret_cast<float*>(shared.host)[0] = 3;
  HeldTensor out(*device, {1});
  ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
  ASSERT_OK(queues->Copy(0, {device.get(), shared}, out.place(), 4));
  reinterpret_cast<float*>(shared.host)[0] = 4;  // Before anybody has waited.
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(out.Read(), ElementsAre(4));
  device->Free(shared);
}

TEST(CudaDevice, CopiesToAnotherDevice) {
  ASSERT_OK_AND_ASSIGN(const auto devices, ListCudaDevices());
  if (devices.size() < 2) GTEST_SKIP() << "this machine has one device";
  const auto first = Open(0);
  const auto second = Open(1);
  HeldTensor here(*first, {2});
  HeldTensor there(*second, {2});
  here.Write({1, 2});
  ASSERT_OK(first->Copy(here.place(), there.place(), 8));
  EXPECT_THAT(there.Read(), ElementsAre(1, 2));
  there.Write({3, 4});
  ASSERT_OK_AND_ASSIGN(const auto others, second->NewQueues({}));
  ASSERT_OK_AND_ASSIGN(const auto queues, first->NewQueues({}));
  // The event of another device, on this one.
  ASSERT_OK_AND_ASSIGN(const auto event, others->NewEvent());
  ASSERT_OK(others->Copy(0, there.place(), here.place(), 8));
  ASSERT_OK(others->Record(0, *event));
  ASSERT_OK(queues->Wait(0, *event));
  HeldTensor last(*first, {2});
  ASSERT_OK(queues->Copy(0, here.place(), last.place(), 8));
  ASSERT_OK(queues->Finish());
  EXPECT_THAT(last.Read(), ElementsAre(3, 4));
}

TEST(CudaDevice, WorksForAnyThread) {
  const auto device = Open();
  HeldTensor a(*device, {1});
  std::thread([&a] { a.Write({5}); }).join();
  EXPECT_THAT(a.Read(), ElementsAre(5));
}

TEST(CudaDevice, WhatAKernelDidWrongIsToldOnceAndLosesTheContext) {
  auto device = Open();
  {
    ASSERT_OK_AND_ASSIGN(const auto code, device->LoadCode(Code({"fail", "add"}), 1, kPtx));
    ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
    HeldTensor a(*device, {1});
    HeldTensor b(*device, {1});
    ASSERT_OK_AND_ASSIGN(const auto bad,
                         queues->Prepare(*code, 0, {&a.buffer, &a.buffer, &a.buffer}, "bad"));
    ASSERT_OK_AND_ASSIGN(const auto good,
                         queues->Prepare(*code, 1, {&a.buffer, &a.buffer, &a.buffer}, "good"));
    ASSERT_OK(queues->Launch(0, *bad, {}));
    ASSERT_OK(queues->Launch(0, *good, {}));
    EXPECT_THAT(
        queues->Finish(),
        StatusIs(Status::kInternal, AllOf(HasSubstr("one of 2 launches, from 'bad' to 'good'"),
                                          HasSubstr("CUDA_ERROR_"))));
    const auto lost =
        StatusIs(Status::kUnavailable, AllOf(HasSubstr("lost"), HasSubstr("CUDA_ERROR_")));
    EXPECT_THAT(queues->Launch(0, *good, {}), lost);
    EXPECT_THAT(device->Allocate(8, MemoryKind::kLocal), lost);
    EXPECT_THAT(device->Copy(a.place(), b.place(), 4), lost);
  }
  device.reset();
  // The context that the next one gets is new.
  EXPECT_OK(Open()->Allocate(8, MemoryKind::kLocal).status());
}

}  // namespace
}  // namespace slipway
