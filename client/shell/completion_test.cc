#include "client/shell/completion.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> ListFake(const std::string& folder) {
  static const auto* const kFolders = new std::map<std::string, std::vector<std::string>>{
      {"", {"digits.slip", "other net.slip", "notes.txt", "x.npy", ".hidden.npy", "images/"}},
      {"images/", {"7.npy", "8.npy", "7.png"}},
  };
  const auto found = kFolders->find(folder);
  return found == kFolders->end() ? std::vector<std::string>() : found->second;
}

const KnownNames kNames = {.programs = {"net", "other"}, .tensors = {"scores", "seven", "a b"}};

// The line as each candidate would make it.
std::vector<std::string> Complete(const std::string& before) {
  const Completion completion = CompleteLine(before, kNames, ListFake);
  std::vector<std::string> lines;
  for (const std::string& candidate : completion.candidates) {
    lines.push_back(absl::StrCat(before.substr(0, completion.begin), candidate));
  }
  return lines;
}

TEST(CompletionTest, Commands) {
  EXPECT_THAT(Complete("f"), ElementsAre("facts", "free"));
  EXPECT_THAT(Complete("  fr"), ElementsAre("  free"));
  // One that must give something a name is no beginning, and one that gives nothing does not follow "=".
  EXPECT_THAT(Complete("l"), ElementsAre("list"));
  EXPECT_THAT(Complete("x = l"), ElementsAre("x = load"));
  EXPECT_THAT(Complete("a, b = c"), ElementsAre("a, b = call", "a, b = copy"));
  EXPECT_THAT(Complete("x"), IsEmpty());
  EXPECT_THAT(Complete("nonsense "), IsEmpty());
}

TEST(CompletionTest, NamesOfTheKindThatIsWanted) {
  EXPECT_THAT(Complete("call "), ElementsAre("call net", "call other"));
  EXPECT_THAT(Complete("y = call net s"), ElementsAre("y = call net scores", "y = call net seven"));
  EXPECT_THAT(Complete("call net seven s"),
              ElementsAre("call net seven scores", "call net seven seven"));
  EXPECT_THAT(Complete("free n"), ElementsAre("free net"));
  EXPECT_THAT(Complete("get \"a"), ElementsAre("get \"a b\""));
  EXPECT_THAT(Complete("get a"), ElementsAre("get \"a b\""));
  EXPECT_THAT(Complete("copy seven "), IsEmpty());
  EXPECT_THAT(
      Complete("diff net other "),
      ElementsAre("diff net other \"a b\"", "diff net other absolute=", "diff net other relative=",
                  "diff net other scores", "diff net other seven"));
}

TEST(CompletionTest, Options) {
  EXPECT_THAT(Complete("time net seven c"), ElementsAre("time net seven cache="));
  // They count for no word.
  EXPECT_THAT(Complete("x = load threads=2 d"), ElementsAre("x = load threads=2 digits.slip"));
  EXPECT_THAT(Complete("time samples=3 n"), ElementsAre("time samples=3 net"));
}

TEST(CompletionTest, Files) {
  EXPECT_THAT(Complete("net = load "), ElementsAre("net = load \"other net.slip\"",
                                                   "net = load digits.slip", "net = load images/"));
  EXPECT_THAT(Complete("x = put i"), ElementsAre("x = put images/"));
  EXPECT_THAT(Complete("x = put images/"),
              ElementsAre("x = put images/7.npy", "x = put images/8.npy"));
  EXPECT_THAT(Complete("x = put ."), ElementsAre("x = put .hidden.npy"));
  EXPECT_THAT(Complete("x = put \"im"), ElementsAre("x = put \"images/"));
  EXPECT_THAT(Complete("x = put \"images/8"), ElementsAre("x = put \"images/8.npy\""));
  EXPECT_THAT(Complete("get seven x"), ElementsAre("get seven x.npy"));
}

TEST(CompletionTest, ACommentIsNobodysBusiness) {
  EXPECT_THAT(Complete("list # f"), IsEmpty());
  EXPECT_THAT(Complete("#"), IsEmpty());
}

}  // namespace
}  // namespace slipway::cli
