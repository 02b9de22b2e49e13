#include "core/selector/selector.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr int64_t kGiB = int64_t{1} << 30;

DeviceAttributes Board() {
  DeviceAttributes board;
  board.texts[DeviceAttribute::kId] = {"board-1"};
  board.texts[DeviceAttribute::kArch] = {"arm-64"};
  board.texts[DeviceAttribute::kFeature] = {"dotprod", "fp16"};
  board.texts[DeviceAttribute::kModel] = {"Cortex A76"};
  board.numbers[DeviceAttribute::kCores] = 4;
  board.numbers[DeviceAttribute::kMemory] = 4 * kGiB;
  board.labels = {{"lab", "berlin"}, {"broken", ""}};
  return board;
}

Selector Parsed(absl::string_view text) {
  absl::StatusOr<Selector> selector = Selector::Parse(text);
  EXPECT_OK(selector.status()) << text;
  return selector.ok() ? *selector : Selector();
}

bool Matches(absl::string_view text) { return Parsed(text).Matches(Board()); }

TEST(SelectorTest, ADeviceMatchesWhenAllTermsHold) {
  for (const char* text : {"arch=arm-64 memory>=4GiB label:lab=berlin",
                           "arch=x86-64|arm-64",
                           "id=board-*",
                           "id=*1",
                           "feature=fp16",
                           "feature=avx2|dotprod",
                           "model=\"Cortex A*\"",
                           "cores=4",
                           "cores=2|4",
                           "cores!=2|3",
                           "cores<5",
                           "cores<=4",
                           "cores>3",
                           "memory<4.5GiB",
                           "memory=4096MiB",
                           "memory>4GB",
                           "arch!=x86-64",
                           "label:lab",
                           "label:lab=ber*",
                           "label:lab!=munich",
                           "label:floor!=2",
                           "!label:floor",
                           "label:broken",
                           "label:broken=\"\"",
                           "feature!=avx2",
                           "  arch=arm-64   cores=4 ",
                           "kernel!=6.*",
                           "storage!=1GiB"}) {
    EXPECT_TRUE(Matches(text)) << text;
  }
  for (const char* text :
       {"arch=arm-64 memory>=4.1GiB label:lab=berlin", "arch=x86-64", "id=board", "feature=avx2",
        "feature!=fp16|avx2", "cores=1|2|3", "cores!=4", "cores<4", "cores>4", "memory>4GiB",
        "label:floor", "!label:lab", "label:lab!=berlin", "label:lab=Berlin", "label:lab=\"\"",
        "kernel=*", "storage>=0B", "storage<1GiB", "charge<=100"}) {
    EXPECT_FALSE(Matches(text)) << text;
  }
  EXPECT_TRUE(Selector().Matches(Board()));
}

TEST(SelectorTest, WhereADeviceIsNamedAnIdIsNoSelector) {
  for (const char* id : {"board-1", "a.b_c", "7", "", "Board"}) EXPECT_FALSE(IsSelector(id)) << id;
  for (const char* text : {"id=a", "label:a", "!label:a", "a b", " ", "board*", "a\n", "\x80"}) {
    EXPECT_TRUE(IsSelector(text)) << text;
  }
}

TEST(SelectorTest, TheCanonicalFormParsesToTheSame) {
  const struct {
    const char* text;
    const char* canonical;
  } kForms[] = {{" arch=arm-64   memory>=4096MiB ", "arch=arm-64 memory>=4GiB"},
                {"model=\"A B\"|\"C\"", "model=\"A B\"|C"},
                {"label:a=\"\" label:b !label:c", "label:a=\"\" label:b !label:c"},
                {"model=\"x|y\" cores<=007", "model=\"x|y\" cores<=7"},
                {"memory<1000", "memory<1000B"},
                {"label:a!=b|c*", "label:a!=b|c*"}};
  for (const auto& [text, canonical] : kForms) {
    EXPECT_EQ(Parsed(text).ToString(), canonical);
    EXPECT_EQ(Parsed(canonical), Parsed(text));
  }
  EXPECT_FALSE(Parsed("cores=1") == Parsed("cores=2"));
  EXPECT_FALSE(Parsed("cores=1") == Parsed("cores<=1"));
}

TEST(SelectorTest, AnErrorSaysWhatWasExpectedAndPointsThere) {
  const struct {
    const char* text;
    const char* message;
  } kErrors[] = {
      {"arch= memory>=4GiB",
       "no selector: a blank at byte 5, expected a value\narch= memory>=4GiB\n     ^"},
      {"arch", "no selector: the end at byte 4, expected one of = != < <= > >=\narch\n    ^"},
      {"arch=a cores=many",
       "no selector: \"many\" at byte 13, expected a whole number below 2^63\narch=a "
       "cores=many\n             ^"},
      {"arch<arm-64",
       "no selector: an order of texts at byte 4, expected \"=\" or \"!=\"\narch<arm-64\n    ^"},
      {"cores<1|2",
       "no selector: several values at byte 9, expected one value after an order\ncores<1|2\n"
       "         ^"},
      {"model=\"a b",
       "no selector: a quote that is not closed at byte 6, expected another one\nmodel=\"a b\n"
       "      ^"},
      {"model=\"a\"b",
       "no selector: \"b\" at byte 9, expected a blank, \"|\" or the end\nmodel=\"a\"b\n         "
       "^"},
      {"!cores", "no selector: \"c\" at byte 1, expected \"label:\" after \"!\"\n!cores\n ^"},
      {"!label:a=b",
       "no selector: \"!\" before a label that is compared at byte 0, expected "
       "\"label:a!=...\"\n!label:a=b\n^"},
      {"id=a|", "no selector: the end at byte 5, expected a value\nid=a|\n     ^"},
      {"id=a\tb", "no selector: the byte 0x09 at byte 4, expected printable ASCII\nid=a?b\n    ^"},
      {"label:=a",
       "no selector: a label has no key at byte 6, expected the key of a label\nlabel:=a\n      "
       "^"},
  };
  for (const auto& [text, message] : kErrors) {
    EXPECT_THAT(Selector::Parse(text), StatusIs(Code::kInvalidArgument, message));
  }
}

TEST(SelectorTest, AnUnknownAttributeIsAnsweredWithThoseThatThereAre) {
  for (const char* text : {"speed=9", "", "   ", "=a", "board*", "cores=2 color=red"}) {
    EXPECT_THAT(Selector::Parse(text),
                StatusIs(Code::kInvalidArgument,
                         HasSubstr("expected one of id, target, arch, feature, accelerator, model, "
                                   "os, kernel, machine, power, cores, performance-cores, "
                                   "efficiency-cores, memory, storage, storage-free, charge and "
                                   "label:KEY\n")))
        << text;
  }
}

TEST(SelectorTest, SizesThatAreTooLargeAreRefused) {
  for (const char* text :
       {"memory>=9223372036854775808", "memory>=8388608TiB", "memory>=1e300GiB", "memory=-1",
        "memory=4gib", "cores=9223372036854775808", "cores=-1", "cores=1.5", "cores=0x10"}) {
    EXPECT_THAT(Selector::Parse(text), StatusIs(Code::kInvalidArgument, HasSubstr("below")))
        << text;
  }
  EXPECT_OK(Selector::Parse("memory>=8388607TiB cores<=9223372036854775807").status());
}

TEST(SelectorTest, ALongOneIsRefusedAndALongLineIsShownInPart) {
  EXPECT_THAT(Selector::Parse(std::string(10 << 10, 'a')),
              StatusIs(Code::kInvalidArgument, "a selector has 10240 bytes; at most 1024"));
  EXPECT_OK(Selector::Parse("id=" + std::string(kMaxSelectorBytes - 3, 'a')).status());
  const absl::Status status = Selector::Parse("id=" + std::string(500, 'a') + " b=c").status();
  EXPECT_THAT(std::string(status.message()),
              ::testing::EndsWith(absl::StrCat("\n...", std::string(35, 'a'), " b=c\n",
                                               std::string(39, ' '), "^")));
}

TEST(SelectorTest, ItSaysWhyADeviceDoesNotMatch) {
  const struct {
    const char* text;
    const char* of_several;
  } kReasons[] = {
      {"cores=4 arch=x86-64", "have arch arm-64"},
      {"arch!=arm-64", "have arch arm-64"},
      {"feature=avx2", "lack avx2"},
      {"feature=avx2|sse4", "lack avx2 or sse4"},
      {"feature!=fp16", "have feature fp16"},
      {"memory>=8GiB", "have memory<8GiB"},
      {"memory>4GiB", "have memory<=4GiB"},
      {"cores<4", "have cores>=4"},
      {"cores<=3", "have cores>3"},
      {"cores=1|2", "have cores!=1|2"},
      {"cores!=4", "have cores=4"},
      {"storage>1GiB", "do not tell their storage"},
      {"kernel=6*", "do not tell their kernel"},
      {"id=x*", "have another id"},
      {"label:lab=munich", "have label lab=berlin"},
      {"label:floor=2", "have no label floor"},
      {"!label:broken", "have label broken"},
  };
  for (const auto& [text, of_several] : kReasons) {
    const std::optional<Reason> reason = Parsed(text).WhyNot(Board());
    ASSERT_TRUE(reason.has_value()) << text;
    EXPECT_EQ(reason->of_several, of_several) << text;
  }
  EXPECT_EQ(Parsed("arch=x86-64").WhyNot(Board())->of_one, "has arch arm-64");
  EXPECT_EQ(Parsed("feature=avx2").WhyNot(Board())->of_one, "lacks avx2");
  EXPECT_EQ(Parsed("storage>1GiB").WhyNot(Board())->of_one, "does not tell its storage");
  EXPECT_EQ(Parsed("arch=arm-64").WhyNot(Board()), std::nullopt);
}

TEST(ExplanationTest, ReasonsAreCountedTheMostFrequentFirst) {
  std::vector<Reason> reasons(7, {"has arch x86-64", "have arch x86-64"});
  reasons.insert(reasons.end(), 2, Reason{"lacks avx2", "lack avx2"});
  reasons.insert(reasons.end(), 3, MatchesBut("quarantined"));
  EXPECT_EQ(ExplainNone("arch=arm-64 label:lab=berlin", reasons),
            "no device matches arch=arm-64 label:lab=berlin: of 12 devices, 7 have arch x86-64, 3 "
            "match but are quarantined, 2 lack avx2");
  EXPECT_EQ(ExplainNone("a=b", {}), "no device matches a=b: none is known");
  EXPECT_EQ(ExplainNone("a=b", {MatchesBut("lost")}),
            "no device matches a=b: the only one that is known matches but is lost");
  EXPECT_EQ(ExplainNone("a=b", {MatchesBut("lost"), {"lacks x", "lack x"}}),
            "no device matches a=b: of 2 devices, 1 lacks x, 1 matches but is lost");
}

TEST(ExplanationTest, OfManyReasonsTheRestIsCountedTogether) {
  std::vector<Reason> reasons;
  for (int i = 0; i < 11; ++i) {
    const std::string model = absl::StrCat("model ", i / 10, i % 10);
    reasons.push_back({"has " + model, "have " + model});
  }
  EXPECT_THAT(ExplainNone("x", reasons),
              ::testing::EndsWith("1 has model 06, 1 has model 07, 3 are other than that"));
}

TEST(AttributeRowsTest, EachAttributeHasARowOfItsOwnInOrder) {
  std::set<absl::string_view> names;
  for (size_t i = 0; i < AttributeRows().size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(AttributeRows()[i].attribute), i);
    EXPECT_TRUE(names.insert(AttributeRows()[i].name).second);
  }
  EXPECT_EQ(AttributeRows().back().attribute, DeviceAttribute::kCharge);
}

}  // namespace
}  // namespace slipway
