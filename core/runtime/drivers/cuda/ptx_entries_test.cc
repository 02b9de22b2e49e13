#include "core/runtime/drivers/cuda/ptx_entries.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kBad = absl::StatusCode::kInvalidArgument;
constexpr char kHead[] = ".version 7.0\n.target sm_80, debug\n.address_size 64\n";

TEST(PtxEntries, CountParameters) {
  ASSERT_OK_AND_ASSIGN(const PtxText text, ReadPtx(absl::StrCat("// .version 1.0\n", kHead, R"(
/* .entry hidden(.param .u32 x) */
.visible .entry one(
  .param .u64 .ptr .global .align 4 one_a,  // .param .u64 not_me,
  .param .u64 .ptr .global .align 4 one_b,
  .param .s64 one_n
)
{ ret; }
.entry $none { .reg .b32 %r<2>; ret; }
.entry untold(.param .b64 a, .param .u64 b) .maxntid 64, 1, 1 { ret; }
.entry late(.param .u64 a, .param .u64 .ptr b) { ret; }
.func helper(.param .u32 x) { ret; }
.entry empty() { ret; }
)")));
  EXPECT_EQ(text.version, "7.0");
  EXPECT_EQ(text.target, "sm_80");
  ASSERT_EQ(text.entries.size(), 5u);
  EXPECT_EQ(text.entries.at("one").parameters, 3u);
  EXPECT_EQ(text.entries.at("one").tensors, 2u);
  EXPECT_EQ(text.entries.at("$none").parameters, 0u);
  EXPECT_EQ(text.entries.at("untold").parameters, 2u);
  EXPECT_EQ(text.entries.at("untold").tensors, std::nullopt);
  EXPECT_EQ(text.entries.at("late").tensors, std::nullopt);
  EXPECT_EQ(text.entries.at("empty").parameters, 0u);
}

// Each is read from where eight bytes are given.
TEST(PtxEntries, RefuseOtherParameters) {
  for (const char* parameter : {".param .u32 n", ".param .f32 x", ".param .align 8 .b8 s[64]",
                                ".param .u64 a[2]", ".reg .u64 a"}) {
    EXPECT_THAT(ReadPtx(absl::StrCat(kHead, ".entry f(.param .u64 a, ", parameter, ") { ret; }")),
                StatusIs(kBad, HasSubstr("parameter 1 of entry 'f'")))
        << parameter;
  }
  std::string many = ".param .u64 p";
  for (int i = 0; i < 600; ++i) absl::StrAppend(&many, ",.param .u64 p", i);
  EXPECT_THAT(ReadPtx(absl::StrCat(kHead, ".entry f(", many, ") { ret; }")),
              StatusIs(kBad, HasSubstr("more than 512")));
}

TEST(PtxEntries, RefuseWhatIsNoText) {
  EXPECT_THAT(ReadPtx(""), StatusIs(kBad, HasSubstr(".version")));
  EXPECT_THAT(ReadPtx(".version 7.0"), StatusIs(kBad, HasSubstr(".target")));
  EXPECT_THAT(ReadPtx(absl::string_view("\x7f"
                                        "ELF\0",
                                        5)),
              StatusIs(kBad, HasSubstr("zero")));
  EXPECT_THAT(ReadPtx(absl::StrCat(kHead, ".entry f(.param .u64 a")),
              StatusIs(kBad, HasSubstr("do not end")));
  EXPECT_THAT(ReadPtx(absl::StrCat(kHead, "/* no end")).status(), StatusIs(absl::StatusCode::kOk));
}

}  // namespace
}  // namespace slipway
