#include "core/runtime/drivers/cuda/converting_code.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_device.h"

namespace slipway {
namespace {

constexpr int64_t kInstances = 256;  // Of a group.
constexpr int64_t kElements = 4;     // That an instance rounds: two vectors.
constexpr int64_t kTile = 32;        // Rows and columns that a group turns.
constexpr int64_t kRowsAtOnce = kInstances / kTile;

constexpr char kHead[] = R"(.version 7.0
.target sm_80
.address_size 64
)";

// An instance rounds four neighbours, but for those that the end leaves.
constexpr char kRound[] = R"(.visible .entry slipway_round_TYPE(
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

// A group turns a tile: it reads rows, puts them to shared memory, of which a row is a word longer so that a column lies in as many banks, and writes columns.
constexpr char kTransposeHead[] = R"(.visible .entry slipway_transpose_$0(
  .param .u64 .ptr .global .align 16 from, .param .u64 .ptr .global .align 16 to, .param .u64 rows,
  .param .u64 columns)
{
  .reg .pred %p<3>;
  .reg .b16 %h<2>;
  .reg .b32 %r<8>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<20>;
  .shared .align 16 .b8 tile[4224];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  and.b32 %r1, %r1, 31;
  mov.u32 %r3, %ctaid.x;
  cvt.u64.u32 %rd1, %r3;
  ld.param.u64 %rd2, [rows];
  ld.param.u64 %rd3, [columns];
  add.s64 %rd4, %rd2, 31;
  shr.u64 %rd4, %rd4, 5;
  add.s64 %rd5, %rd3, 31;
  shr.u64 %rd5, %rd5, 5;
  rem.u64 %rd6, %rd1, %rd5;
  div.u64 %rd1, %rd1, %rd5;
  rem.u64 %rd7, %rd1, %rd4;
  div.u64 %rd1, %rd1, %rd4;
  mul.lo.s64 %rd8, %rd2, %rd3;
  mul.lo.s64 %rd8, %rd8, %rd1;
  shl.b64 %rd6, %rd6, 5;
  shl.b64 %rd7, %rd7, 5;
  cvt.u64.u32 %rd9, %r1;
  cvt.u64.u32 %rd10, %r2;
  ld.param.u64 %rd11, [from];
  ld.param.u64 %rd12, [to];
  add.s64 %rd13, %rd6, %rd9;
  add.s64 %rd14, %rd7, %rd10;
  setp.lt.u64 %p1, %rd13, %rd3;
  mul.lo.s64 %rd15, %rd14, %rd3;
  add.s64 %rd15, %rd15, %rd13;
  add.s64 %rd15, %rd15, %rd8;
  shl.b64 %rd15, %rd15, 2;
  add.s64 %rd11, %rd11, %rd15;
  shl.b64 %rd16, %rd3, 5;
  mov.u32 %r4, tile;
  mul.lo.u32 %r5, %r2, 132;
  shl.b32 %r6, %r1, 2;
  add.u32 %r5, %r5, %r6;
  add.u32 %r5, %r4, %r5;
)";
// Of the tile's rows those $0 behind the first ones; 8 rows are 1056 bytes on.
constexpr char kTransposeLoad[] = R"(  add.s64 %rd17, %rd14, $0;
  setp.lt.and.u64 %p2, %rd17, %rd2, %p1;
  @%p2 ld.global.f32 %f1, [%rd11];
  @%p2 st.shared.f32 [%r5+$1], %f1;
  add.s64 %rd11, %rd11, %rd16;
)";
constexpr char kTransposeTurn[] = R"(  bar.sync 0;
  add.s64 %rd13, %rd7, %rd9;
  add.s64 %rd14, %rd6, %rd10;
  setp.lt.u64 %p1, %rd13, %rd2;
  mul.lo.s64 %rd15, %rd14, %rd2;
  add.s64 %rd15, %rd15, %rd13;
  add.s64 %rd15, %rd15, %rd8;
  shl.b64 %rd15, %rd15, $0;
  add.s64 %rd12, %rd12, %rd15;
  shl.b64 %rd16, %rd2, $1;
  mul.lo.u32 %r5, %r1, 132;
  shl.b32 %r6, %r2, 2;
  add.u32 %r5, %r5, %r6;
  add.u32 %r5, %r4, %r5;
  mov.f32 %f2, 0f00000000;
)";
constexpr char kTransposeStore[] = R"(  add.s64 %rd17, %rd14, $0;
  setp.lt.and.u64 %p2, %rd17, %rd3, %p1;
  @%p2 ld.shared.f32 %f1, [%r5+$1];
$2  add.s64 %rd12, %rd12, %rd16;
)";
constexpr char kStore32[] = "  @%p2 st.global.f32 [%rd12], %f1;\n";
constexpr char kStore16[] = R"(  @%p2 cvt.rn.TYPEx2.f32 %r7, %f2, %f1;
  cvt.u16.u32 %h1, %r7;
  @%p2 st.global.b16 [%rd12], %h1;
)";

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16};

size_t IndexOf(DataType dtype) {
  size_t i = 0;
  while (kTypes[i] != dtype) ++i;
  return i;
}

std::string For(absl::string_view text, DataType dtype) {
  return absl::StrReplaceAll(text, {{"TYPE", Name(dtype)}});
}

std::string TransposeFor(DataType dtype) {
  const bool is_narrow = dtype != DataType::kFloat32;
  std::string text = absl::Substitute(kTransposeHead, Name(dtype));
  for (int64_t row = 0; row < kTile; row += kRowsAtOnce) {
    absl::SubstituteAndAppend(&text, kTransposeLoad, row, row * (kTile + 1) * 4);
  }
  // Shifts by bytes of an element, and of those of as many rows as are stored at once.
  absl::SubstituteAndAppend(&text, kTransposeTurn, is_narrow ? 1 : 2, is_narrow ? 4 : 5);
  const std::string store = For(is_narrow ? kStore16 : kStore32, dtype);
  for (int64_t row = 0; row < kTile; row += kRowsAtOnce) {
    absl::SubstituteAndAppend(&text, kTransposeStore, row, row * 4, store);
  }
  return text + "  ret;\n}\n";
}

int64_t TilesOf(int64_t extent) { return (extent + kTile - 1) / kTile; }

}  // namespace

std::string ConvertingCode::Text() {
  std::string text = kHead;
  for (const DataType dtype : kTypes) {
    if (dtype != DataType::kFloat32) text += For(kRound, dtype);
    text += TransposeFor(dtype);
  }
  return text;
}

absl::StatusOr<std::unique_ptr<ConvertingCode>> ConvertingCode::Load(const CudaDevice& device) {
  constexpr char kWhat[] = "code that converts tensors";
  const CudaLibrary& cuda = device.cuda();
  const std::string text = Text();
  std::unique_ptr<ConvertingCode> code(new ConvertingCode(device));
  SLIPWAY_RETURN_IF_ERROR(device.ToStatus(
      cuda.ModuleLoadDataEx(&code->module_, text.c_str(), 0, nullptr, nullptr), kWhat));
  const auto find = [&](const std::string& entry, CUfunction& function) {
    return device.ToStatus(cuda.ModuleGetFunction(&function, code->module_, entry.c_str()), kWhat);
  };
  for (const DataType dtype : kTypes) {
    const size_t i = IndexOf(dtype);
    if (dtype != DataType::kFloat32) {
      SLIPWAY_RETURN_IF_ERROR(find(absl::StrCat("slipway_round_", Name(dtype)), code->round_[i]));
    }
    SLIPWAY_RETURN_IF_ERROR(
        find(absl::StrCat("slipway_transpose_", Name(dtype)), code->transpose_[i]));
  }
  return code;
}

ConvertingCode::~ConvertingCode() {
  if (module_ == nullptr) return;
  const CurrentContext current(device_);
  device_.cuda().ModuleUnload(module_);
}

absl::Status ConvertingCode::Round(CUstream stream, CUdeviceptr from, CUdeviceptr to, int64_t count,
                                   DataType to_type) const {
  uint64_t values[] = {from, to, static_cast<uint64_t>(count)};
  void* parameters[] = {&values[0], &values[1], &values[2]};
  const int64_t instances = (count + kElements - 1) / kElements;
  const auto groups = static_cast<unsigned>((instances + kInstances - 1) / kInstances);
  return device_.ToStatus(
      device_.cuda().LaunchKernel(round_[IndexOf(to_type)], groups, 1, 1, kInstances, 1, 1, 0,
                                  stream, parameters, nullptr),
      absl::StrCat("rounding ", count, " elements to ", Name(to_type)));
}

bool ConvertingCode::CanTranspose(int64_t batch, int64_t rows, int64_t columns) {
  constexpr int64_t kMostGroups = std::numeric_limits<int32_t>::max();
  const int64_t tiles = TilesOf(rows);
  return tiles <= kMostGroups / TilesOf(columns) &&
         batch <= kMostGroups / (tiles * TilesOf(columns));
}

absl::Status ConvertingCode::Transpose(CUstream stream, CUdeviceptr from, CUdeviceptr to,
                                       int64_t batch, int64_t rows, int64_t columns,
                                       DataType to_type) const {
  uint64_t values[] = {from, to, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns)};
  void* parameters[] = {&values[0], &values[1], &values[2], &values[3]};
  const auto groups = static_cast<unsigned>(batch * TilesOf(rows) * TilesOf(columns));
  return device_.ToStatus(
      device_.cuda().LaunchKernel(transpose_[IndexOf(to_type)], groups, 1, 1, kInstances, 1, 1, 0,
                                  stream, parameters, nullptr),
      absl::StrCat("turning ", batch, "x", rows, "x", columns, " elements to ", Name(to_type)));
}

}  // namespace slipway
