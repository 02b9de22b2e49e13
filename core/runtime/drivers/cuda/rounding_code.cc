#include "core/runtime/drivers/cuda/rounding_code.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {
namespace {

constexpr int64_t kInstances = 256;  // Of a group.
constexpr int64_t kElements = 4;     // Of an instance: two vectors.

constexpr char kHead[] = R"(.version 7.0
.target sm_80
.address_size 64
)";

// An instance rounds four neighbours, but for those that the end leaves.
constexpr char kEntry[] = R"(.visible .entry slipway_round_TYPE(
  .param .u64 .ptr .global .align 16 from, .param .u64 .ptr .global .align 16 to, .param .u64 count)
{
  .reg .pred %p<3>;
  .reg .b16 %h<2>;
  .reg .b32 %r<6>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<9>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  cvt.u64.u32 %rd1, %r3;
  mul.wide.u32 %rd2, %r1, %r2;
  add.s64 %rd1, %rd1, %rd2;
  shl.b64 %rd1, %rd1, 2;
  ld.param.u64 %rd3, [count];
  setp.ge.u64 %p1, %rd1, %rd3;
  @%p1 bra DONE;
  ld.param.u64 %rd4, [from];
  ld.param.u64 %rd5, [to];
  shl.b64 %rd6, %rd1, 2;
  add.s64 %rd4, %rd4, %rd6;
  shl.b64 %rd6, %rd1, 1;
  add.s64 %rd5, %rd5, %rd6;
  add.s64 %rd7, %rd1, 4;
  setp.gt.u64 %p1, %rd7, %rd3;
  @%p1 bra ONE;
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
  cvt.rn.TYPEx2.f32 %r4, %f2, %f1;
  cvt.rn.TYPEx2.f32 %r5, %f4, %f3;
  st.global.v2.b32 [%rd5], {%r4, %r5};
  bra DONE;
ONE:
  mov.f32 %f5, 0f00000000;
NEXT:
  ld.global.f32 %f1, [%rd4];
  cvt.rn.TYPEx2.f32 %r4, %f5, %f1;
  cvt.u16.u32 %h1, %r4;
  st.global.b16 [%rd5], %h1;
  add.s64 %rd4, %rd4, 4;
  add.s64 %rd5, %rd5, 2;
  add.s64 %rd1, %rd1, 1;
  setp.lt.u64 %p2, %rd1, %rd3;
  @%p2 bra NEXT;
DONE:
  ret;
}
)";

std::string EntryFor(const char* type) { return absl::StrReplaceAll(kEntry, {{"TYPE", type}}); }

}  // namespace

absl::StatusOr<std::unique_ptr<RoundingCode>> RoundingCode::Load(const CudaDevice& device) {
  constexpr char kWhat[] = "code that rounds to 16 bits";
  const CudaLibrary& cuda = device.cuda();
  const std::string text = absl::StrCat(kHead, EntryFor("f16"), EntryFor("bf16"));
  std::unique_ptr<RoundingCode> code(new RoundingCode(device));
  SLIPWAY_RETURN_IF_ERROR(device.ToStatus(
      cuda.ModuleLoadDataEx(&code->module_, text.c_str(), 0, nullptr, nullptr), kWhat));
  SLIPWAY_RETURN_IF_ERROR(device.ToStatus(
      cuda.ModuleGetFunction(&code->to_float16_, code->module_, "slipway_round_f16"), kWhat));
  SLIPWAY_RETURN_IF_ERROR(device.ToStatus(
      cuda.ModuleGetFunction(&code->to_bfloat16_, code->module_, "slipway_round_bf16"), kWhat));
  return code;
}

RoundingCode::~RoundingCode() {
  if (module_ == nullptr) return;
  const CurrentContext current(device_);
  device_.cuda().ModuleUnload(module_);
}

absl::Status RoundingCode::Issue(CUstream stream, CUdeviceptr from, CUdeviceptr to, int64_t count,
                                 DataType to_type) const {
  const CUfunction function = to_type == DataType::kFloat16 ? to_float16_ : to_bfloat16_;
  uint64_t values[] = {from, to, static_cast<uint64_t>(count)};
  void* parameters[] = {&values[0], &values[1], &values[2]};
  const int64_t instances = (count + kElements - 1) / kElements;
  const auto groups = static_cast<unsigned>((instances + kInstances - 1) / kInstances);
  return device_.ToStatus(device_.cuda().LaunchKernel(function, groups, 1, 1, kInstances, 1, 1, 0,
                                                      stream, parameters, nullptr),
                          absl::StrCat("rounding ", count, " elements to ", Name(to_type)));
}

}  // namespace slipway
