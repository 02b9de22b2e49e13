// slipway_embed_data and slipway_freestanding_archives together.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/embedded_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/build_rules/sum_archives.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(EmbeddedArchivesTest, ListsFilesByName) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : SumArchives()) names.emplace_back(file.name);
  EXPECT_THAT(names, ElementsAre("sum.arm-32.a", "sum.arm-64.a", "sum.riscv-64.a", "sum.wasm-32.a",
                                 "sum.x86-64.a", "word.proto"));
}

TEST(EmbeddedArchivesTest, HoldsTheBytesOfEachFile) {
  const auto files = SumArchives();
  for (const EmbeddedFile& file : files.first(files.size() - 1)) {
    EXPECT_THAT(std::string(file.contents), StartsWith("!<arch>\n")) << std::string(file.name);
    EXPECT_THAT(std::string(file.contents), HasSubstr("slipway_test_sum"));
  }
  EXPECT_NE(files[0].contents, files[1].contents);
  EXPECT_THAT(std::string(files.back().contents), StartsWith("// Messages for the test"));
  EXPECT_EQ(files.back().contents.back(), '\n');
}

}  // namespace
}  // namespace slipway
