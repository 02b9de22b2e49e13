// Holds features.md against the lexicon.
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

// The first column of the tables below the heading "## `arch`".
std::set<std::string> DocumentedFeatures(absl::string_view text, absl::string_view arch) {
  std::set<std::string> features;
  bool is_inside = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "## ")) is_inside = line == absl::StrCat("## ", arch);
    const std::vector<std::string> parts = absl::StrSplit(line, '`');
    if (is_inside && absl::StartsWith(line, "| `") && parts.size() > 2) features.insert(parts[1]);
  }
  return features;
}

// The names that an error lists as known.
std::set<std::string> KnownFeatures(absl::string_view device) {
  const absl::Status status = ParseTarget(absl::StrCat(device, "-nonsense")).status();
  const std::vector<std::string> halves =
      absl::StrSplit(std::string(status.message()), "known are ");
  return absl::StrSplit(halves.back(), ", ");
}

TEST(FeaturesDocumentedTest, TheTablesListTheLexicon) {
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile("core/target/features.md", 1 << 20));
  EXPECT_EQ(DocumentedFeatures(text, "x86-64"), KnownFeatures("x86-64-linux"));
  EXPECT_EQ(DocumentedFeatures(text, "arm-64"), KnownFeatures("arm-64-linux"));
  EXPECT_EQ(DocumentedFeatures(text, "arm-32"), KnownFeatures("arm-32-linux"));
  EXPECT_EQ(DocumentedFeatures(text, "riscv-64"), KnownFeatures("riscv-64-linux"));
  EXPECT_EQ(DocumentedFeatures(text, "wasm-32"), KnownFeatures("wasm-32-wasi"));
}

}  // namespace
}  // namespace slipway
