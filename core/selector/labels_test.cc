#include "core/selector/labels.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using slipway::testing::IsOkAndHolds;
using slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

TEST(LabelsTest, AKeyHasAValue) {
  EXPECT_THAT(ParseLabel("lab=berlin"), IsOkAndHolds(std::pair("lab", "berlin")));
  EXPECT_THAT(ParseLabel("a.b_c-1=A/b:c@1.2+3-_"),
              IsOkAndHolds(std::pair("a.b_c-1", "A/b:c@1.2+3-_")));
  EXPECT_THAT(ParseLabel("broken="), IsOkAndHolds(std::pair("broken", "")));
  EXPECT_OK(CheckLabel(std::string(63, 'k'), std::string(63, 'v')));
}

TEST(LabelsTest, OddBytesAreNamed) {
  const struct {
    std::string text;
    const char* says;
  } kBad[] = {
      {"lab", "\"lab\" is no label: KEY=VALUE wanted"},
      {"=x", "a label has no key"},
      {"Lab=x", "the key of a label \"Lab\" has the byte 0x4c at 0"},
      {"-lab=x", "has the byte 0x2d at 0"},
      {"la b=x", "\"la b\" has the byte 0x20 at 2"},
      {"lab=a b", "the value of label \"lab\", \"a b\", has the byte 0x20 at 1"},
      {"lab=\x07", "\"\\x07\", has the byte 0x07 at 0"},
      {"lab=\xc3\xa9", "has the byte 0xc3 at 0"},
      {"lab=a|b", "has the byte 0x7c at 1"},
      {"lab=*", "has the byte 0x2a at 0"},
      {"lab=a=b", "has the byte 0x3d at 1"},
      {std::string("lab=\0", 5), "has the byte 0x00 at 0"},
      {std::string(64, 'k') + "=v", "has 64 bytes; at most 63"},
      {"k=" + std::string(64, 'v'), "has 64 bytes; at most 63"},
      {std::string(1 << 20, 'k') + "=v", "kkk\"... has 1048576 bytes"},
  };
  for (const auto& [text, says] : kBad) {
    EXPECT_THAT(ParseLabel(text), StatusIs(Code::kInvalidArgument, HasSubstr(says)));
  }
}

TEST(LabelsTest, ThereAreSoManyAndEachOnce) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < kMaxLabels; ++i) texts.push_back(absl::StrCat("key", i, "=v"));
  EXPECT_THAT(ParseLabels(texts), IsOkAndHolds(::testing::SizeIs(kMaxLabels)));
  texts.push_back("more=v");
  EXPECT_THAT(ParseLabels(texts),
              StatusIs(Code::kInvalidArgument, "33 labels are given; at most 32"));
  EXPECT_THAT(ParseLabels({"a=1", "a=2"}),
              StatusIs(Code::kInvalidArgument, "label \"a\" is given twice"));
}

}  // namespace
}  // namespace slipway
