// Products of warp groups by hand-written PTX: what they are, against matrices that are laid out and multiplied here; and that whatever is not waited for,
// fenced off or laid out as NVIDIA's reference wants it ends the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/runtime/drivers/cuda/testing/ptx_machine_fixture.h"
#include "core/tensor/float16.h"

namespace slipway::cuda_testing {
namespace {

constexpr size_t kRows = 64;

struct Form {
  const char* name;
  size_t bytes;
  uint32_t (*bits)(float);
  size_t depth() const { return 32 / bytes; }
};
constexpr Form kF16 = {"f16", 2, [](float value) -> uint32_t { return FloatToFloat16(value); }};
constexpr Form kBf16 = {"bf16", 2, [](float value) -> uint32_t { return FloatToBfloat16(value); }};
constexpr Form kTf32 = {"tf32", 4, BitsOf};

// A factor in what a group shares: `rows` by a depth of so many bytes, where nothing else says so 128.
struct Factor {
  size_t begin = 0;        // Its first byte.
  size_t rows = 0;         // Across the depth.
  bool is_turned = false;  // Neighbours are those across the depth.
  size_t leading = 0;      // Between columns of 128 bytes, of one that is turned.
  size_t stride = 1024;    // Between eights of rows, or of the depth.

  uint64_t Descriptor(size_t from) const {
    const uint64_t lead = is_turned ? leading : 16;
    return uint64_t{1} << 62 | uint64_t{stride / 16} << 32 | lead / 16 << 16 |
           (1024 + begin + from) / 16;
  }
  // Of an element, as the figures of the reference have it: pieces of 16 bytes in eights, each row of eight in its own order.
  size_t PlaceOf(size_t row, size_t depth, size_t bytes) const {
    const size_t along = is_turned ? row : depth;
    const size_t line = is_turned ? depth : row;
    const size_t piece = along * bytes / 16;
    return begin + line / 8 * stride + piece / 8 * leading + line % 8 * 128 +
           ((piece % 8) ^ (line % 8)) * 16 + along * bytes % 16;
  }
};

// What lies in memory before it is copied, byte by byte, into what a group shares.
class Image {
 public:
  explicit Image(size_t bytes) : words_(bytes / 4) {}
  void Put(const Factor& factor, const std::vector<float>& numbers, size_t depth,
           const Form& form) {
    for (size_t row = 0; row < factor.rows; ++row) {
      for (size_t k = 0; k < depth; ++k) {
        const uint32_t bits = form.bits(numbers[row * depth + k]);
        memcpy(reinterpret_cast<char*>(words_.data()) + factor.PlaceOf(row, k, form.bytes), &bits,
               form.bytes);
      }
    }
  }
  const Words& words() const { return words_; }

 private:
  Words words_;
};

// Copies `bytes` of a to what the group shares, which begins at %r1.
std::string CopyOf(size_t bytes, size_t instances) {
  std::string text =
      "mov.u32 %r1, steps;\nmad.lo.u32 %r2, %r0, 16, %r1;\nmul.wide.u32 %rd0, %r0, 16;\n"
      "add.s64 %rd0, %a, %rd0;\n";
  for (size_t at = 0; at < bytes; at += 16 * instances) {
    absl::StrAppend(&text, "ld.global.v4.b32 {%r4,%r5,%r6,%r7}, [%rd0+", at,
                    "];\nst.shared.v4.b32 [%r2+", at, "], {%r4,%r5,%r6,%r7};\n");
  }
  return absl::StrCat(text, "fence.proxy.async.shared::cta;\nbar.sync 0;\n");
}

std::string SumsOf(size_t columns) {
  std::vector<std::string> sums;
  for (size_t i = 0; i < columns / 2; ++i) sums.push_back(absl::StrCat("%s", i));
  return absl::StrCat("{", absl::StrJoin(sums, ","), "}");
}

std::string Multiply(const Form& form, size_t columns, uint64_t a, uint64_t b,
                     const std::string& how) {
  return absl::StrCat("mov.u64 %rd1, ", a, ";\nmov.u64 %rd2, ", b,
                      ";\nwgmma.mma_async.sync.aligned.m64n", columns, "k", form.depth(), ".f32.",
                      form.name, ".", form.name, " ", SumsOf(columns), ", %rd1, %rd2, ", how,
                      ";\n");
}

std::string Zeros(size_t columns) {
  std::string text;
  for (size_t i = 0; i < columns / 2; ++i)
    absl::StrAppend(&text, "mov.f32 %s", i, ", 0f00000000;\n");
  return text;
}

// An instance's sums one behind the other, instance by instance.
std::string StoreOf(size_t columns) {
  std::string text =
      absl::StrCat("mul.wide.u32 %rd3, %r0, ", 2 * columns, ";\nadd.s64 %rd3, %out, %rd3;\n");
  for (size_t i = 0; i < columns / 2; ++i) {
    absl::StrAppend(&text, "st.global.f32 [%rd3+", 4 * i, "], %s", i, ";\n");
  }
  return text;
}

constexpr char kFence[] = "wgmma.fence.sync.aligned;\n";
constexpr char kCommit[] = "wgmma.commit_group.sync.aligned;\n";
constexpr char kWait[] = "wgmma.wait_group.sync.aligned 0;\n";

class PtxWarpGroupTest : public PtxMachineTest {
 protected:
  void SetUp() override {
    setenv("SLIPWAY_FAKE_CUDA", "capability=90", 1);
    PtxMachineTest::SetUp();
    head_ =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 steps[];";
  }
  void TearDown() override {
    PtxMachineTest::TearDown();
    unsetenv("SLIPWAY_FAKE_CUDA");
  }

  Words RunBody(const std::string& body, const Image& image, size_t columns,
                unsigned instances = 128) {
    shared_bytes_ = static_cast<unsigned>(4 * image.words().size());
    return Run(absl::StrCat(body, StoreOf(columns)), instances, image.words(), {0},
               Words(instances * columns / 2));
  }

  // a[row] times b[column] of one warp group, of depth `depth`.
  static void ExpectProducts(const Words& out, const std::vector<float>& a,
                             const std::vector<float>& b, size_t columns, size_t depth,
                             float factor = 1) {
    ASSERT_EQ(out.size(), kRows * columns);
    for (size_t row = 0; row < kRows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        float sum = 0;
        for (size_t k = 0; k < depth; ++k) sum += a[row * depth + k] * b[column * depth + k];
        // Warps have 16 rows each; four neighbours of a warp share a row, and the one 8 below; each has two neighbours of 8 columns.
        const size_t instance = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
        const size_t place = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
        ASSERT_EQ(FloatOf(out[instance * columns / 2 + place]), factor * sum)
            << row << ", " << column;
      }
    }
  }
};

TEST_F(PtxWarpGroupTest, MultiplyRowsAlongTheDepth) {
  for (const Form& form : {kF16, kBf16, kTf32}) {
    for (const size_t columns : {8, 24, 128, 256}) {
      SCOPED_TRACE(absl::StrCat(form.name, ", ", columns));
      // Two products' depth of rows that could hold four, from the second on.
      const size_t depth = 3 * form.depth();
      const Factor left = {.begin = 0, .rows = kRows};
      const Factor right = {.begin = 8192, .rows = columns};
      Image image(8192 + (columns * 128 + 2047) / 2048 * 2048);
      const std::vector<float> a = Numbers(kRows * depth, 1);
      const std::vector<float> b = Numbers(columns * depth, 2);
      image.Put(left, a, depth, form);
      image.Put(right, b, depth, form);
      std::string body =
          absl::StrCat(CopyOf(4 * image.words().size(), 128), Zeros(columns), kFence);
      const std::string plain = form.bytes == 2 ? "1, 1, 1, 0, 0" : "1, 1, 1";
      for (size_t at = 0; at < 96; at += 32) {
        body += Multiply(form, columns, left.Descriptor(at), right.Descriptor(at), plain);
      }
      ExpectProducts(RunBody(absl::StrCat(body, kCommit, kWait), image, columns), a, b, columns,
                     depth);
    }
  }
}

TEST_F(PtxWarpGroupTest, MultiplyRowsAcrossTheDepth) {
  for (const Form& form : {kF16, kBf16}) {
    for (const size_t columns : {16, 64, 192}) {
      SCOPED_TRACE(absl::StrCat(form.name, ", ", columns));
      constexpr size_t kDepth = 32;
      // Columns of 64 elements, of which each has eights of the depth beneath each other.
      const Factor left = {.begin = 0, .rows = kRows, .is_turned = true, .leading = 4096};
      const Factor right = {.begin = 4096, .rows = columns, .is_turned = true, .leading = 4096};
      Image image(4096 * 4);
      const std::vector<float> a = Numbers(kRows * kDepth, 3);
      const std::vector<float> b = Numbers(columns * kDepth, 4);
      image.Put(left, a, kDepth, form);
      image.Put(right, b, kDepth, form);
      std::string body =
          absl::StrCat(CopyOf(4 * image.words().size(), 128), Zeros(columns), kFence);
      for (const size_t at : {0, 2048}) {
        body += Multiply(form, columns, left.Descriptor(at), right.Descriptor(at), "1, 1, 1, 1, 1");
      }
      ExpectProducts(RunBody(absl::StrCat(body, kCommit, kWait), image, columns), a, b, columns,
                     kDepth);
    }
  }
}

// One factor each way, patterns that are apart, two warp groups with rows of their own, and sums that are not zero before.
TEST_F(PtxWarpGroupTest, WarpGroupsMultiplyRowsOfTheirOwn) {
  constexpr size_t kColumns = 16;
  const Factor left = {.begin = 0, .rows = 2 * kRows, .stride = 2048};
  const Factor right = {.begin = 32768, .rows = kColumns, .is_turned = true, .stride = 2048};
  Image image(32768 + 4096);
  const std::vector<float> a = Numbers(2 * kRows * 16, 5);
  const std::vector<float> b = Numbers(kColumns * 16, 6);
  image.Put(left, a, 16, kF16);
  image.Put(right, b, 16, kF16);
  const std::string product =
      Multiply(kF16, kColumns, left.Descriptor(0), right.Descriptor(0), "SCALE, 1, 1, 0, 1");
  const std::string of_group = absl::StrReplaceAll(
      product, {{"wgmma",
                 "shr.u32 %r3, %r0, 7;\nmul.wide.u32 %rd4, %r3, 1024;\n"
                 "add.s64 %rd1, %rd1, %rd4;\nsetp.ne.u32 %p1, %r3, %r3;\nwgmma"}});
  const auto run = [&](const std::string& scale) {
    const std::string twice =
        absl::StrCat(kFence, absl::StrReplaceAll(of_group, {{"SCALE", "1"}}), kCommit,
                     absl::StrReplaceAll(of_group, {{"SCALE", scale}}), kCommit,
                     "wgmma.wait_group.sync.aligned 1;\nwgmma.wait_group.sync.aligned 0;\n");
    return RunBody(absl::StrCat(CopyOf(32768 + 4096, 256), Zeros(kColumns), twice), image, kColumns,
                   256);
  };
  for (const auto& [scale, factor] : {std::pair("1", 2.0F), {"%p1", 1.0F}, {"0", 1.0F}}) {
    const Words out = run(scale);
    for (size_t group = 0; group < 2; ++group) {
      const auto begin = static_cast<std::ptrdiff_t>(group * kRows * kColumns);
      const auto row = static_cast<std::ptrdiff_t>(group * kRows * 16);
      ExpectProducts({out.begin() + begin, out.begin() + begin + kRows * kColumns},
                     {a.begin() + row, a.begin() + row + kRows * 16}, b, kColumns, 16, factor);
    }
  }
}

// A product of 64 x 8 x 16 that is as it must be, and what becomes of it with something else.
class PtxWarpGroupDeathTest : public PtxWarpGroupTest {
 protected:
  static constexpr size_t kColumns = 8;
  static constexpr size_t kBytes = 8192 + 2048;
  const Factor left_ = {.begin = 0, .rows = kRows};
  const Factor right_ = {.begin = 8192, .rows = kColumns};
  const std::string copy_ = CopyOf(kBytes, 128);

  std::string Product(uint64_t a, uint64_t b) const {
    return Multiply(kF16, kColumns, a, b, "1, 1, 1, 0, 0");
  }
  std::string Product() const { return Product(left_.Descriptor(0), right_.Descriptor(0)); }
  void RunAll(const std::string& body, unsigned instances = 128) {
    RunBody(body, Image(kBytes), kColumns, instances);
  }
  void RunProduct(uint64_t a, uint64_t b) {
    RunAll(absl::StrCat(copy_, Zeros(kColumns), kFence, Product(a, b), kCommit, kWait));
  }
};

TEST_F(PtxWarpGroupDeathTest, WhatInstancesWroteIsFencedOffBeforeABarrier) {
  const std::string proxy = "fence.proxy.async.shared::cta;\n";
  const std::string bar = "bar.sync 0;\n";
  const std::string rest = absl::StrCat(Zeros(kColumns), kFence, Product(), kCommit, kWait);
  RunAll(absl::StrCat(copy_, rest));
  EXPECT_DEATH(RunAll(absl::StrCat(Without(copy_, proxy, 0), rest)), "no fence.proxy.async");
  EXPECT_DEATH(RunAll(absl::StrCat(Without(copy_, bar, 0), rest)), "no barrier since");
  // Too late for who reads what others wrote.
  EXPECT_DEATH(RunAll(absl::StrCat(Without(copy_, proxy, 0), proxy, rest)), "no fence.proxy.async");
  RunAll(absl::StrCat(Without(copy_, proxy, 0), proxy, bar, rest));
  const std::string copied =
      absl::StrCat(copy_, "cp.async.cg.shared.global [%r2], [%rd0], 16;\ncp.async.commit_group;\n");
  const std::string wait = "cp.async.wait_all;\n";
  RunAll(absl::StrCat(copied, wait, proxy, bar, rest));
  EXPECT_DEATH(RunAll(absl::StrCat(copied, proxy, wait, bar, rest)), "no fence.proxy.async");
  EXPECT_DEATH(RunAll(absl::StrCat(copied, proxy, bar, rest, wait)), "a copy is still to fill");
  EXPECT_DEATH(RunAll(absl::StrCat("mov.u32 %r1, steps;\n", rest)), "nobody has written");
}

TEST_F(PtxWarpGroupDeathTest, FactorsStayUntilProductsHaveBeenWaitedFor) {
  const std::string begin = absl::StrCat(copy_, Zeros(kColumns), kFence, Product(), kCommit);
  const std::string write = "st.shared.b32 [%r2], %r4;\n";
  RunAll(absl::StrCat(begin, kWait, "bar.sync 0;\n", write));
  EXPECT_DEATH(RunAll(absl::StrCat(begin, write, kWait)), "a product may still read it: st.shared");
  EXPECT_DEATH(RunAll(absl::StrCat(begin, "bar.sync 0;\n", write, kWait)), "may still read it");
  EXPECT_DEATH(RunAll(absl::StrCat(begin, kWait, write)), "no barrier since another instance read");
  EXPECT_DEATH(RunAll(absl::StrCat(begin, "cp.async.cg.shared.global [%r2], [%rd0], 16;\n")),
               "may still read it: cp.async");
}

TEST_F(PtxWarpGroupDeathTest, SumsBelongToTheirProducts) {
  const std::string begin = absl::StrCat(copy_, Zeros(kColumns));
  const std::string product = absl::StrCat(Product(), kCommit);
  EXPECT_DEATH(RunAll(absl::StrCat(begin, product, kWait)), "no wgmma.fence");
  EXPECT_DEATH(RunAll(absl::StrCat(begin, kFence, product, kWait, "add.f32 %s3, %s3, %s3;\n",
                                   product, kWait)),
               "no wgmma.fence");
  EXPECT_DEATH(RunAll(absl::StrCat(copy_, product, kWait)), "no wgmma.fence");
  // Products of one shape follow each other without.
  RunAll(absl::StrCat(begin, kFence, product, product, kWait));
  EXPECT_DEATH(RunAll(absl::StrCat(begin, kFence, product)), "may still add to: st.global");
  EXPECT_DEATH(
      RunAll(absl::StrCat(begin, kFence, product, product, "wgmma.wait_group.sync.aligned 1;\n")),
      "may still add to: st.global");
  EXPECT_DEATH(RunAll(absl::StrCat(begin, kFence, product, "mov.f32 %s0, 0f00000000;\n", kWait)),
               "may still add to: mov.f32");
  // What is in no group nobody waits for.
  EXPECT_DEATH(RunAll(absl::StrCat(begin, kFence, Product(), kWait)), "may still add to");
  EXPECT_DEATH(RunAll(absl::StrCat(begin, kFence, product, "ret;\n")), "ends before its products");
  EXPECT_DEATH(RunAll(absl::StrCat(
                   copy_, Zeros(16), kFence, product,
                   Multiply(kF16, 16, left_.Descriptor(0), right_.Descriptor(0), "1, 1, 1, 0, 0"),
                   kCommit, kWait)),
               "of another shape");
}

TEST_F(PtxWarpGroupDeathTest, WarpGroupsArriveTogether) {
  const std::string rest = absl::StrCat(Zeros(kColumns), kFence, Product(), kCommit, kWait);
  EXPECT_DEATH(RunAll(absl::StrCat(CopyOf(kBytes, 64), rest), 64), "a warp group that is not full");
  EXPECT_DEATH(
      RunAll(absl::StrCat(copy_, "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra DONE;\n", rest, "DONE:\n")),
      "a warp group diverges: one is at its end, another at wgmma.fence");
  EXPECT_DEATH(
      RunAll(absl::StrCat(copy_, "setp.lt.u32 %p0, %r0, 3;\n@%p0 bra DONE;\n", rest, "DONE:\n")),
      "a warp diverges");
  const std::string other =
      absl::StrReplaceAll(rest, {{"wgmma.mma_async", "@%p0 mov.u64 %rd1, 0;\nwgmma.mma_async"}});
  EXPECT_DEATH(RunAll(absl::StrCat(copy_, "setp.lt.u32 %p0, %r0, 32;\n", other)),
               "differ about operand 1");
}

TEST_F(PtxWarpGroupDeathTest, DescriptorsSayWhatThereIs) {
  const uint64_t a = left_.Descriptor(0);
  const uint64_t b = right_.Descriptor(0);
  RunProduct(a, b);
  for (const int bit : {14, 30, 46, 52}) {
    EXPECT_DEATH(RunProduct(a | uint64_t{1} << bit, b), "bits that mean nothing");
  }
  // Other swizzles, and patterns that begin elsewhere.
  EXPECT_DEATH(RunProduct(a ^ uint64_t{3} << 62, b), "does not know");
  EXPECT_DEATH(RunProduct(a | uint64_t{1} << 49, b), "does not know");
  EXPECT_DEATH(RunProduct(a + 128 / 16, b), "does not begin in its first row");
  EXPECT_DEATH(RunProduct(a + 112 / 16, b), "does not begin in its first row");
  EXPECT_DEATH(RunProduct(a - (uint64_t{16 / 16} << 32), b), "patterns that do not begin at 1024");
  EXPECT_DEATH(RunProduct(a + (uint64_t{1} << 16), b), "a leading offset");
  EXPECT_DEATH(RunProduct(a, Factor{.begin = kBytes, .rows = 8}.Descriptor(0)), "outside of what");
  const auto turned = [&](size_t columns, const Factor& factor, size_t from) {
    RunAll(absl::StrCat(copy_, Zeros(columns), kFence,
                        Multiply(kF16, columns, a, factor.Descriptor(from), "1, 1, 1, 0, 1"),
                        kCommit, kWait));
  };
  turned(72, {.begin = 0, .is_turned = true, .leading = 2048}, 0);
  EXPECT_DEATH(turned(8, {.begin = 0, .is_turned = true}, 32), "does not begin at 1024");
  EXPECT_DEATH(turned(72, {.begin = 0, .is_turned = true, .leading = 0}, 0),
               "do not begin at 1024");
  EXPECT_DEATH(turned(72, {.begin = 0, .is_turned = true, .leading = 512}, 0),
               "do not begin at 1024");
}

TEST_F(PtxWarpGroupDeathTest, OthersAreNotKnown) {
  const auto run = [&](const std::string& was, const std::string& is) {
    RunAll(absl::StrCat(copy_, Zeros(kColumns), kFence, absl::StrReplaceAll(Product(), {{was, is}}),
                        kCommit, kWait));
  };
  EXPECT_DEATH(run("m64n8k16", "m64n12k16"), "does not know");
  EXPECT_DEATH(run("m64n8k16", "m64n8k8"), "does not know");
  EXPECT_DEATH(run("f16.f16", "f16.bf16"), "does not know");
  EXPECT_DEATH(run("f32.f16.f16", "f16.f16.f16"), "does not know");
  EXPECT_DEATH(run("1, 1, 1, 0, 0", "1, 2, 1, 0, 0"), "does not know");
  EXPECT_DEATH(run("1, 1, 1, 0, 0", "1, 1, 1"), "does not know");
  EXPECT_DEATH(RunAll("fence.proxy.async.global;\n"), "does not know");
}

}  // namespace
}  // namespace slipway::cuda_testing
