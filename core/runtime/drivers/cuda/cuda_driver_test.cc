// The driver over a libcuda without a GPU (testing/fake_world.h), which ends the process where the driver does what it must not.
#include "core/runtime/drivers/cuda/cuda_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "core/runtime/testing/driver_test_suite.h"
#include "core/runtime/testing/held_tensor.h"
#include "tests/common/status_matchers.h"

namespace slipway {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

using Status = absl::StatusCode;

constexpr char kPtx[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr .global .align 4 b,
  .param .u64 .ptr .global .align 4 out, .param .u64 n_a, .param .u64 n_b, .param .u64 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<10>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %ctaid.y;
  mad.lo.s32 %r6, %r5, %r4, %r2;
  mad.lo.s32 %r7, %r6, %r3, %r1;
  cvt.u64.u32 %rd1, %r7;
  ld.param.u64 %rd2, [n];
  setp.ge.u64 %p1, %rd1, %rd2;
  @%p1 bra DONE;
  ld.param.u64 %rd3, [a];
  ld.param.u64 %rd4, [b];
  ld.param.u64 %rd5, [out];
  shl.b64 %rd6, %rd1, 2;
  add.s64 %rd7, %rd3, %rd6;
  add.s64 %rd8, %rd4, %rd6;
  add.s64 %rd9, %rd5, %rd6;
  ld.global.f32 %f1, [%rd7];
  ld.global.f32 %f2, [%rd8];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%rd9], %f3;
DONE:
  ret;
}
.visible .entry fail(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr .global .align 4 b,
  .param .u64 .ptr .global .align 4 out)
{
  trap;
}
.visible .entry extents(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr .global .align 4 out,
  .param .u64 n0, .param .u64 n1)
{
  .reg .f32 %f<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [n0];
  ld.param.u64 %rd3, [n1];
  cvt.rn.f32.s64 %f1, %rd2;
  cvt.rn.f32.s64 %f2, %rd3;
  st.global.f32 [%rd1], %f1;
  st.global.f32 [%rd1+4], %f2;
  ret;
}
)";

// What the fake is told from here to the end of a scope.
class FakeIsTold {
 public:
  explicit FakeIsTold(const std::string& words) { setenv("SLIPWAY_FAKE_CUDA", words.c_str(), 1); }
  ~FakeIsTold() { unsetenv("SLIPWAY_FAKE_CUDA"); }
};

v1::Code Code(const std::vector<std::string>& entries) {
  v1::Code code;
  code.set_kind(v1::Code::KIND_PTX);
  for (const std::string& entry : entries) code.add_entries(entry);
  code.set_kernel_count(static_cast<uint32_t>(entries.size()));
  return code;
}

std::shared_ptr<ComputeDevice> Open(int ordinal = 0) {
  absl::StatusOr<std::shared_ptr<ComputeDevice>> device = MakeCudaDriver()->Open(ordinal);
  EXPECT_OK(device.status());
  return device.ok() ? *device : nullptr;
}

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
                                          HasSubstr("CUDA_ERROR_LAUNCH_FAILED (719)"))));
    const auto lost = StatusIs(Status::kUnavailable,
                               AllOf(HasSubstr("lost"), HasSubstr("CUDA_ERROR_LAUNCH_FAILED")));
    EXPECT_THAT(queues->Launch(0, *good, {}), lost);
    EXPECT_THAT(device->Allocate(8, MemoryKind::kLocal), lost);
    EXPECT_THAT(device->Copy(a.place(), b.place(), 4), lost);
  }
  device.reset();
  // The context that the next one gets is new.
  EXPECT_OK(Open()->Allocate(8, MemoryKind::kLocal).status());
}

TEST(CudaDevice, ALostDeviceIsUnavailable) {
  const auto device = Open();
  HeldTensor a(*device, {1});
  HeldTensor b(*device, {1});
  const FakeIsTold told("cuMemcpyDtoDAsync_v2=46");
  EXPECT_THAT(device->Copy(a.place(), b.place(), 4),
              StatusIs(Status::kUnavailable, HasSubstr("CUDA_ERROR_DEVICE_UNAVAILABLE (46)")));
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
