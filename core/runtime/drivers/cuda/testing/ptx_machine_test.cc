// That instances of a group work together as on a device, and that whatever no device could do, or does differently from time to time, ends the
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/files.h"
#include "core/runtime/drivers/cuda/testing/ptx_machine_fixture.h"
#include "core/tensor/float16.h"

namespace slipway::cuda_testing {
namespace {

// %rd0: the instance's own word of `out`; %r1: that of what is shared, %r3 that of the instance at the other end.
constexpr char kPlaces[] = R"(
.shared .align 16 .b8 words[256];
mul.wide.u32 %rd0, %r0, 4;
add.s64 %rd0, %out, %rd0;
mov.u32 %r4, words;
mov.u32 %r5, %ntid.x;
sub.u32 %r3, %r5, %r0;
mad.lo.u32 %r1, %r0, 4, %r4;
mad.lo.u32 %r3, %r3, 4, %r4;
)";
constexpr char kMirror[] = R"(
st.shared.u32 [%r1], %r0;
bar.sync 0;
ld.shared.u32 %r2, [%r3+-4];
bar.sync 0;
st.shared.u32 [%r1], %r2;
st.global.u32 [%rd0], %r2;
)";

TEST_F(PtxMachineTest, InstancesShareWhatTheyWroteBeforeABarrier) {
  const Words mirrored = Run(absl::StrCat(kPlaces, kMirror), 40);
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(mirrored[i], 39 - i);
}

TEST_F(PtxMachineTest, ABarrierThatIsMissingShows) {
  const std::string bar = "bar.sync 0;\n";
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, Without(kMirror, bar, 1)), 40),
               "no barrier since another instance wrote it: ld.shared");
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, "st.shared.u32 [%r1], %r0;\n", bar,
                                "ld.shared.u32 %r2, [%r1+4];\nst.shared.u32 [%r1], %r2;\n"),
                   40),
               "no barrier since another instance read it: st.shared");
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, "st.shared.u32 [%r4], %r0;\n"), 40),
               "no barrier since another instance wrote it: st.shared");
  // The first instance reads before another one has written, the last one after that.
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, Without(kMirror, bar, 0)), 40), "nobody has written");
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, "st.shared.u32 [%r1], %r0;\nsetp.eq.u32 %p0, %r0, 0;\n",
                                "@%p0 bra DONE;\nld.shared.u32 %r2, [%r4];\nDONE:\n"),
                   40),
               "no barrier since another instance wrote it: ld.shared");
}

TEST_F(PtxMachineTest, SharedMemoryHasItsBounds) {
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, "st.shared.u32 [%r4+256], %r0;\n"), 1), "outside of what");
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, "st.shared.u32 [%r4+-4], %r0;\n"), 1), "outside of what");
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, "st.shared.u32 [%r4+2], %r0;\n"), 1), "misaligned");
  EXPECT_DEATH(Run(absl::StrCat(kPlaces, "ld.global.u32 %r2, [%r4];\n"), 1), "not allocated");
}

TEST_F(PtxMachineTest, WhoMeetsArrivesTogether) {
  const std::string skips = "setp.lt.u32 %p0, %r0, LIMIT;\n@%p0 bra DONE;\nbar.sync 0;\nDONE:\n";
  EXPECT_DEATH(Run(absl::StrReplaceAll(skips, {{"LIMIT", "3"}}), 64),
               "a warp diverges: one is at its end, another at bar.sync 0");
  EXPECT_DEATH(Run(absl::StrReplaceAll(skips, {{"LIMIT", "32"}}), 64),
               "a group diverges: one is at its end, another at bar.sync 0");
  EXPECT_DEATH(Run("shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;\n", 40), "a warp that is not full");
}

TEST_F(PtxMachineTest, LanesTakeFromEachOther) {
  const auto shuffled = [&](const std::string& how) {
    return Run(absl::StrCat(kPlaces, "shfl.sync.", how, ", -1;\nst.global.u32 [%rd0], %r2;\n"), 64);
  };
  const Words crossed = shuffled("bfly.b32 %r2, %r0, 4, 31");
  const Words up = shuffled("up.b32 %r2, %r0, 1, 0");
  const Words down = shuffled("down.b32 %r2, %r0, 2, 31");
  const Words one = shuffled("idx.b32 %r2, %r0, 7, 31");
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(crossed[i], i ^ 4);
    EXPECT_EQ(up[i], i % 32 == 0 ? i : i - 1);
    EXPECT_EQ(down[i], i % 32 >= 30 ? i : i + 2);
    EXPECT_EQ(one[i], i / 32 * 32 + 7);
  }
}

constexpr char kCopy[] = R"(
.shared .align 16 .b8 words[1024];
mul.wide.u32 %rd0, %r0, 16;
add.s64 %rd1, %a, %rd0;
add.s64 %rd0, %out, %rd0;
mov.u32 %r4, words;
mad.lo.u32 %r1, %r0, 16, %r4;
cp.async.cg.shared.global [%r1], [%rd1], 16, GIVEN;
cp.async.commit_group;
cp.async.ca.shared.global [%r1+512], [%rd1], 16;
cp.async.commit_group;
cp.async.wait_group LEFT;
ld.shared.v4.b32 {%r5,%r6,%r7,%r8}, [%r1];
st.global.v4.b32 [%rd0], {%r5,%r6,%r7,%r8};
cp.async.wait_all;
)";

TEST_F(PtxMachineTest, CopiesAreDoneAtTheirWait) {
  const auto copy = [&](const std::string& given, const std::string& left) {
    return Run(absl::StrReplaceAll(kCopy, {{"GIVEN", given}, {"LEFT", left}}), 2,
               {1, 2, 3, 4, 5, 6, 7, 8}, {0}, Words(8));
  };
  EXPECT_THAT(copy("16", "1"), ::testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(copy("8", "0"), ::testing::ElementsAre(1, 2, 0, 0, 5, 6, 0, 0));
  EXPECT_THAT(copy("0", "0"), ::testing::Each(0));
  EXPECT_DEATH(copy("16", "2"), "a copy is still to fill: ld.shared");
  const std::string text = absl::StrReplaceAll(kCopy, {{"GIVEN", "16"}, {"LEFT", "1"}});
  const Words a(8);
  EXPECT_DEATH(Run(Without(text, "cp.async.wait_all;\n", 0), 2, a, {0}, a), "before its copies");
  EXPECT_DEATH(Run(text, 3, a, {0}, Words(12)), "16 bytes are not allocated");
}

// Of a as [16][depth] and b as [8][depth] in memory.
void ExpectProduct(const Words& out, const std::vector<float>& a, const std::vector<float>& b,
                   size_t depth) {
  for (size_t row = 0; row < 16; ++row) {
    for (size_t column = 0; column < 8; ++column) {
      float sum = 0;
      for (size_t k = 0; k < depth; ++k) sum += a[row * depth + k] * b[column * depth + k];
      EXPECT_EQ(FloatOf(out[row * 8 + column]), sum) << row << ", " << column;
    }
  }
}

// %rd9: where the lane's first two sums belong.
constexpr char kSums[] = R"(
shr.u32 %r30, %r0, 2;
and.b32 %r31, %r0, 3;
mul.wide.u32 %rd8, %r30, 32;
mul.wide.u32 %rd9, %r31, 8;
add.s64 %rd9, %rd9, %rd8;
add.s64 %rd9, %rd9, %out;
mov.f32 %f0, 0f00000000;
)";
constexpr char kStoreSums[] = R"(
st.global.v2.f32 [%rd9], {%f1,%f2};
st.global.v2.f32 [%rd9+256], {%f3,%f4};
)";

// a is 16 rows of 32 bytes; b 8 rows of 32 bytes, or 16 of 16 bytes.
constexpr char kLoadHalves[] = R"(
.shared .align 16 .b8 left[512];
.shared .align 16 .b8 right[256];
mul.wide.u32 %rd0, %r0, 16;
add.s64 %rd0, %a, %rd0;
ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%rd0];
mov.u32 %r20, left;
mad.lo.u32 %r21, %r0, 16, %r20;
st.shared.v4.b32 [%r21], {%r1,%r2,%r3,%r4};
mul.wide.u32 %rd0, %r0, 8;
add.s64 %rd0, %b, %rd0;
ld.global.v2.b32 {%r1,%r2}, [%rd0];
mov.u32 %r22, right;
mad.lo.u32 %r23, %r0, 8, %r22;
st.shared.v2.b32 [%r23], {%r1,%r2};
bar.sync 0;
and.b32 %r5, %r0, 15;
shr.u32 %r6, %r0, 4;
mad.lo.u32 %r7, %r5, 32, %r20;
mad.lo.u32 %r7, %r6, 16, %r7;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10,%r11,%r12,%r13}, [%r7];
)";
constexpr char kLoadRows[] = R"(
and.b32 %r5, %r0, 7;
shr.u32 %r6, %r0, 3;
and.b32 %r6, %r6, 1;
mad.lo.u32 %r7, %r5, 32, %r22;
mad.lo.u32 %r7, %r6, 16, %r7;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14,%r15}, [%r7];
)";
constexpr char kLoadColumns[] = R"(
and.b32 %r5, %r0, 15;
mad.lo.u32 %r7, %r5, 16, %r22;
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14,%r15}, [%r7];
)";

class HalvesTest : public PtxMachineTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(HalvesTest, WarpsMultiplyMatrices) {
  const std::string type = GetParam();
  const auto narrow = type == "bf16" ? FloatToBfloat16 : FloatToFloat16;
  const std::vector<float> a = Numbers(256, 1);
  const std::vector<float> b = Numbers(128, 2);
  std::vector<float> turned(128);
  for (size_t i = 0; i < 128; ++i) turned[i % 16 * 8 + i / 16] = b[i];
  const std::string multiply = absl::StrCat(
      kSums, "mma.sync.aligned.m16n8k16.row.col.f32.", type, ".", type, ".f32 {%f1,%f2,%f3,%f4}, ",
      "{%r10,%r11,%r12,%r13}, {%r14,%r15}, {%f0,%f0,%f0,%f0};\n", kStoreSums);
  ExpectProduct(Run(absl::StrCat(kLoadHalves, kLoadRows, multiply), 32, Pairs(a, narrow),
                    Pairs(b, narrow), Words(128)),
                a, b, 16);
  ExpectProduct(Run(absl::StrCat(kLoadHalves, kLoadColumns, multiply), 32, Pairs(a, narrow),
                    Pairs(turned, narrow), Words(128)),
                a, b, 16);
}

INSTANTIATE_TEST_SUITE_P(Types, HalvesTest, ::testing::Values("f16", "bf16"),
                         [](const auto& info) { return std::string(info.param); });

// Straight from memory, rows of 8 words: rows g and g + 8, depths t and t + 4.
constexpr char kLoadTf32[] = R"(
mul.wide.u32 %rd0, %r30, 32;
mul.wide.u32 %rd1, %r31, 4;
add.s64 %rd0, %rd0, %rd1;
add.s64 %rd1, %a, %rd0;
add.s64 %rd2, %b, %rd0;
ld.global.b32 %r10, [%rd1];
ld.global.b32 %r11, [%rd1+256];
ld.global.b32 %r12, [%rd1+16];
ld.global.b32 %r13, [%rd1+272];
ld.global.b32 %r14, [%rd2];
ld.global.b32 %r15, [%rd2+16];
)";
constexpr char kMultiplyTf32[] = R"(
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {%f0,%f0,%f0,%f0};
)";

TEST_F(PtxMachineTest, WarpsMultiplyTf32) {
  const std::vector<float> a = Numbers(128, 1);
  const std::vector<float> b = Numbers(64, 2);
  Words words_of_a, words_of_b;
  for (const float value : a) words_of_a.push_back(BitsOf(value));
  for (const float value : b) words_of_b.push_back(BitsOf(value));
  const auto multiply = [&](const std::string& between) {
    return Run(absl::StrCat(kSums, kLoadTf32, between, kMultiplyTf32, kStoreSums), 32, words_of_a,
               words_of_b, Words(128));
  };
  ExpectProduct(multiply(""), a, b, 8);
  words_of_a[5] |= 1;
  EXPECT_DEATH(multiply(""), "no tf32");
  const std::string round = "cvt.rna.tf32.f32 %r10, %r10;\ncvt.rna.tf32.f32 %r12, %r12;\n";
  ExpectProduct(multiply(round), a, b, 8);
  EXPECT_DEATH(multiply("setp.eq.u32 %p0, %r0, 9;\n@%p0 bra DONE;\n" + round + "DONE:\n" +
                        "@%p0 bra OTHER;\n" + kMultiplyTf32 + "OTHER:\n"),
               "a warp diverges: one is at mma");
}

TEST_F(PtxMachineTest, NumbersAreNarrowedInPairs) {
  const auto narrowed = [&](const std::string& how) {
    return Run(absl::StrCat("ld.global.f32 %f1, [%a];\nld.global.f32 %f2, [%a+4];\ncvt.rn.", how,
                            "x2.f32 %r1, %f1, %f2;\nst.global.b32 [%out], %r1;\n"),
               1, {BitsOf(1.5F), BitsOf(-0.3F)}, {0}, {0})[0];
  };
  EXPECT_EQ(narrowed("bf16"), 0x3FC0BE9Au);
  EXPECT_EQ(narrowed("f16"), 0x3E00B4CDu);
}

TEST_F(PtxMachineTest, HalvesAreWidened) {
  EXPECT_EQ(Run("ld.global.b16 %h1, [%a+2];\ncvt.f32.f16 %f1, %h1;\nst.global.f32 [%out], %f1;\n",
                1, {0xB4CD0000}, {0}, {0})[0],
            BitsOf(-0.300048828F));
}

TEST_F(PtxMachineTest, ATraceSaysWhatKernelsDid) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("trace"));
  const std::string path = JoinPath(folder.path(), "trace");
  setenv("SLIPWAY_FAKE_CUDA", "counts=1", 1);
  setenv("SLIPWAY_FAKE_CUDA_TRACE", path.c_str(), 1);
  Run("setp.lt.u32 %p0, %r0, 3;\n@%p0 add.u32 %r1, %r0, 1;\n@%p0 bra DONE;\nbar.sync 0;\nDONE:\n"
      "st.global.u32 [%out], %r0;\nst.global.f32 [%out], %f1;\n",
      3);
  unsetenv("SLIPWAY_FAKE_CUDA");
  unsetenv("SLIPWAY_FAKE_CUDA_TRACE");
  ASSERT_OK_AND_ASSIGN(const std::string trace, ReadFile(path, 1 << 20));
  EXPECT_THAT(
      trace, ::testing::HasSubstr(
                 "e did 3 add.u32, 3 bra, 9 ld.param, 3 mov.u32, 3 ret, 3 setp.lt, 6 st.global\n"));
}

}  // namespace
}  // namespace slipway::cuda_testing
