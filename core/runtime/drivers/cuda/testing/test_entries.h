// Entries that tests launch, and devices that they open.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_TEST_ENTRIES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_TEST_ENTRIES_H_

#include <memory>
#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/artifact.pb.h"
#include "tests/common/status_matchers.h"

namespace slipway::cuda_testing {

// `add` adds two tensors, an instance an element; `fail` ends its device's context; `extents` writes a's two extents to `out`.
inline constexpr char kPtx[] = R"(.version 7.0
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

inline v1::Code Code(const std::vector<std::string>& entries) {
  v1::Code code;
  code.set_kind(v1::Code::KIND_PTX);
  for (const std::string& entry : entries) code.add_entries(entry);
  code.set_kernel_count(static_cast<uint32_t>(entries.size()));
  return code;
}

inline std::shared_ptr<ComputeDevice> Open(int ordinal = 0) {
  absl::StatusOr<std::shared_ptr<ComputeDevice>> device = MakeCudaDriver()->Open(ordinal);
  EXPECT_OK(device.status());
  return device.ok() ? *device : nullptr;
}

}  // namespace slipway::cuda_testing

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_TEST_ENTRIES_H_
