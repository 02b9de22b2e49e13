#include "core/runtime/drivers/cuda/peak_loops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace slipway {
namespace {

// 1024 instances are on every multiprocessor at a time.
constexpr int kInstances = 256;
constexpr int kGroups = 4;

// How a text begins that devices of this capability, and later ones, take.
std::string Head(int capability) {
  return absl::StrCat(".version ", capability >= 80 ? "7.0" : "6.5", "\n.target sm_",
                      capability >= 80   ? 80
                      : capability >= 75 ? 75
                                         : 50,
                      "\n.address_size 64\n");
}

// "{%f0, %f1}".
std::string Registers(absl::string_view name, int begin, int count) {
  std::string text = "{";
  for (int i = begin; i < begin + count; ++i) {
    absl::StrAppend(&text, i == begin ? "" : ", ", name, i);
  }
  return text + "}";
}

// An entry that makes `turn` again and again and leaves the sum of %f0 to %f(sums - 1). `declared` is what it declares beside %f, the counters and its number;
// `begin` comes before the first turn.
std::string SumEntry(absl::string_view entry, int sums, absl::string_view declared,
                     absl::string_view begin, absl::string_view turn) {
  std::string text = absl::StrCat(".visible .entry ", entry, R"((
  .param .u64 .ptr .global .align 4 out, .param .u64 turns)
{
  .reg .pred %again;
  .reg .b32 %group, %groups, %place, %number;
  .reg .b64 %left, %one, %to, %offset;
  .reg .f32 %factor, %all;
  .reg .f32 %f<)",
                                  sums, R"(>;
)",
                                  declared, R"(  ld.param.u64 %to, [out];
  ld.param.u64 %left, [turns];
  mov.u32 %group, %ctaid.x;
  mov.u32 %groups, %ntid.x;
  mov.u32 %place, %tid.x;
  mad.lo.s32 %number, %group, %groups, %place;
  mul.wide.u32 %offset, %number, 4;
  add.s64 %to, %to, %offset;
)");
  for (int i = 0; i < sums; ++i) absl::StrAppend(&text, "  mov.f32 %f", i, ", 0f00000000;\n");
  absl::StrAppend(&text, begin, "TURN:\n", turn, R"(  sub.s64 %left, %left, 1;
  setp.gt.s64 %again, %left, 0;
  @%again bra TURN;
  mov.f32 %all, 0f00000000;
)");
  for (int i = 0; i < sums; ++i) absl::StrAppend(&text, "  add.f32 %all, %all, %f", i, ";\n");
  return absl::StrCat(text, "  st.global.f32 [%to], %all;\n  ret;\n}\n");
}

CudaSumLoop ScalarLoop(int capability) {
  // As many as a multiply-add has clocks, several times over, so that none waits; the loop itself is a thirtieth of them.
  constexpr int kSums = 16;
  constexpr int kTimes = 8;
  std::string turn;
  for (int time = 0; time < kTimes; ++time) {
    for (int i = 0; i < kSums; ++i) {
      absl::StrAppend(&turn, "  fma.rn.f32 %f", i, ", %f", i, ", %factor, %factor;\n");
    }
  }
  CudaSumLoop loop{.type = "f32", .entry = "sum_f32", .instances = kInstances, .groups = kGroups};
  // A factor that no compiler knows to be 1, which else would leave the multiplication out.
  loop.text = absl::StrCat(Head(capability), SumEntry(loop.entry, kSums, "",
                                                      "  min.u64 %one, %left, 1;\n"
                                                      "  cvt.rn.f32.u64 %factor, %one;\n",
                                                      turn));
  loop.operations = int64_t{2} * kSums * kTimes * kInstances;
  loop.sum = int64_t{kSums} * kTimes;
  return loop;
}

// How a type is multiplied.
struct Factors {
  absl::string_view type;
  int bytes;               // Of a number in a register, or in what a group shares.
  absl::string_view ones;  // A word of them.
};
constexpr Factors kF16 = {"f16", 2, "0x3C003C00"};
constexpr Factors kBf16 = {"bf16", 2, "0x3F803F80"};
constexpr Factors kTf32 = {"tf32", 4, "0x3F800000"};

// By mma.sync, of 16 x 8 numbers by a warp. `a` and `b` are the registers of its factors, `depth` its products for each number.
CudaSumLoop WarpLoop(int capability, const Factors& factors, int depth) {
  constexpr int kTiles = 8;
  constexpr int kTimes = 2;
  constexpr int kTileSums = 4;
  const int b = depth * 8 * factors.bytes / (32 * 4);
  const int a = 2 * b;
  std::string begin;
  for (int i = 0; i < a + b; ++i) {
    absl::StrAppend(&begin, "  mov.b32 %x", i, ", ", factors.ones, ";\n");
  }
  std::string turn;
  for (int i = 0; i < kTimes * kTiles; ++i) {
    const std::string tile = Registers("%f", i % kTiles * kTileSums, kTileSums);
    absl::StrAppend(&turn, "  mma.sync.aligned.m16n8k", depth, ".row.col.f32.", factors.type, ".",
                    factors.type, ".f32 ", tile, ", ", Registers("%x", 0, a), ", ",
                    Registers("%x", a, b), ", ", tile, ";\n");
  }
  CudaSumLoop loop{.type = std::string(factors.type),
                   .entry = absl::StrCat("sum_", factors.type),
                   .instances = kInstances,
                   .groups = kGroups};
  loop.text = absl::StrCat(Head(capability),
                           SumEntry(loop.entry, kTiles * kTileSums,
                                    absl::StrCat("  .reg .b32 %x<", a + b, ">;\n"), begin, turn));
  loop.operations = int64_t{2} * 16 * 8 * depth * kTimes * kTiles * (kInstances / 32);
  loop.sum = int64_t{depth} * kTimes * kTiles * kTileSums;
  return loop;
}

// By wgmma, of 64 x 256 numbers by four warps; two such share the right factor. Rows of 128 bytes along the depth, of which a product takes 32.
CudaSumLoop WarpGroupLoop(const Factors& factors) {
  constexpr int kRows = 64;
  constexpr int kColumns = 256;
  constexpr int kRowBytes = 128;
  constexpr int kDepthBytes = 32;
  constexpr int kSums = kColumns / 2;
  constexpr int kProducts = 16;
  constexpr int kSharedBytes = (kRows + kColumns) * kRowBytes;
  const int depth = kDepthBytes / factors.bytes;
  std::string begin = absl::StrCat(R"(  mov.u32 %base, shared;
  mad.lo.s32 %x0, %place, 4, %base;
  add.u32 %end, %base, )",
                                   kSharedBytes, R"(;
FILL:
  st.shared.u32 [%x0], )",
                                   factors.ones, R"(;
  add.u32 %x0, %x0, )",
                                   4 * kInstances, R"(;
  setp.lt.u32 %fills, %x0, %end;
  @%fills bra FILL;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  and.b32 %low, %base, 0x3FFFF;
  shr.u32 %low, %low, 4;
  or.b32 %low, %low, 0x10000;
  mov.u32 %high, 0x40000040;
  setp.eq.u32 %adds, %end, %end;
)");
  // Descriptors of each part of a row, of the left factor and, behind its rows, of the right one.
  constexpr int kParts = kRowBytes / kDepthBytes;
  for (int i = 0; i < 2 * kParts; ++i) {
    const int bytes = i / kParts * kRows * kRowBytes + i % kParts * kDepthBytes;
    absl::StrAppend(&begin, "  add.u32 %x1, %low, ", bytes / 16, ";\n  mov.b64 %d", i,
                    ", {%x1, %high};\n");
  }
  std::string turn = "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < kProducts; ++i) {
    absl::StrAppend(&turn, "  wgmma.mma_async.sync.aligned.m64n256k", depth, ".f32.", factors.type,
                    ".", factors.type, " ", Registers("%f", 0, kSums), ", %d", i % kParts, ", %d",
                    kParts + i % kParts, ", %adds, 1, 1", factors.bytes == 2 ? ", 0, 0" : "",
                    ";\n");
  }
  absl::StrAppend(&turn,
                  "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n");
  CudaSumLoop loop{.type = std::string(factors.type),
                   .entry = absl::StrCat("sum_groups_", factors.type),
                   .instances = kInstances,
                   .groups = 1};
  loop.text = absl::StrCat(
      ".version 8.0\n.target sm_90a\n.address_size 64\n",
      SumEntry(
          loop.entry, kSums,
          absl::StrCat("  .shared .align 1024 .b8 shared[", kSharedBytes,
                       "];\n  .reg .pred %fills, %adds;\n  .reg .b32 %base, %end, %low, %high;\n"
                       "  .reg .b32 %x<2>;\n  .reg .b64 %d<8>;\n"),
          begin, turn));
  loop.operations = int64_t{2} * kRows * kColumns * depth * kProducts * (kInstances / 128);
  loop.sum = int64_t{depth} * kProducts * kSums;
  return loop;
}

}  // namespace

std::vector<CudaSumLoop> CudaSumLoops(int capability) {
  std::vector<CudaSumLoop> loops = {ScalarLoop(capability)};
  if (capability >= 75 && capability < 80) loops.push_back(WarpLoop(capability, kF16, 8));
  if (capability >= 80) {
    loops.push_back(WarpLoop(capability, kTf32, 8));
    loops.push_back(WarpLoop(capability, kF16, 16));
    loops.push_back(WarpLoop(capability, kBf16, 16));
  }
  // Devices of 9.0 alone have wgmma, and reach by mma.sync some 60 % of it.
  if (capability == 90) {
    for (const Factors& factors : {kTf32, kF16, kBf16}) loops.push_back(WarpGroupLoop(factors));
  }
  return loops;
}

CudaReadLoop CudaReading(int capability) {
  constexpr int kWords = kReadVectorBytes / 4;
  CudaReadLoop loop{.entry = "read", .text = {}, .instances = kInstances};
  std::string& text = loop.text;
  text = absl::StrCat(Head(capability), R"(.visible .entry read(
  .param .u64 .ptr .global .align 16 data, .param .u64 .ptr .global .align 4 out,
  .param .u64 rounds, .param .u64 vectors)
{
  .reg .pred %again;
  .reg .b32 %group, %groups, %place, %number;
  .reg .b64 %begin, %to, %left, %bytes, %at, %end, %step, %far, %offset;
  .reg .b32 %sum<)",
                      kWords, R"(>;
  .reg .b32 %x<)",
                      kWords * kReadAtATime, R"(>;
  ld.param.u64 %begin, [data];
  ld.param.u64 %to, [out];
  ld.param.u64 %left, [rounds];
  ld.param.u64 %bytes, [vectors];
  shl.b64 %bytes, %bytes, 4;
  mov.u32 %group, %ctaid.x;
  mov.u32 %groups, %ntid.x;
  mov.u32 %place, %tid.x;
  mad.lo.s32 %number, %group, %groups, %place;
  mul.wide.u32 %offset, %number, 4;
  add.s64 %to, %to, %offset;
  add.s64 %end, %begin, %bytes;
  mul.wide.u32 %offset, %number, 16;
  add.s64 %begin, %begin, %offset;
  mov.u32 %number, %nctaid.x;
  mul.lo.s32 %number, %number, %groups;
  mul.wide.u32 %step, %number, 16;
)");
  for (int i = 0; i < kWords; ++i) absl::StrAppend(&text, "  mov.b32 %sum", i, ", 0;\n");
  absl::StrAppend(&text, "ROUND:\n  mov.u64 %at, %begin;\nPART:\n");
  for (int i = 0; i < kReadAtATime; ++i) {
    absl::StrAppend(&text, "  ld.global.cg.v4.u32 ", Registers("%x", kWords * i, kWords),
                    ", [%at];\n  add.s64 %at, %at, %step;\n");
  }
  for (int i = 0; i < kWords * kReadAtATime; ++i) {
    absl::StrAppend(&text, "  add.u32 %sum", i % kWords, ", %sum", i % kWords, ", %x", i, ";\n");
  }
  absl::StrAppend(&text, R"(  setp.lt.u64 %again, %at, %end;
  @%again bra PART;
  sub.s64 %left, %left, 1;
  setp.gt.s64 %again, %left, 0;
  @%again bra ROUND;
)");
  for (int i = 1; i < kWords; ++i) absl::StrAppend(&text, "  add.u32 %sum0, %sum0, %sum", i, ";\n");
  absl::StrAppend(&text, "  st.global.u32 [%to], %sum0;\n  ret;\n}\n");
  return loop;
}

}  // namespace slipway
