// slipway_source_digest of slipway.bzl, against digests made here.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "tests/common/status_matchers.h"
#include "tests/source_digest/same_digest.h"
#include "tests/source_digest/top_digest.h"

namespace slipway {
namespace {

TEST(SourceDigestTest, IsOfAllFilesBelowAndTheirNames) {
  std::string expected;
  for (const char* name : {"base.cc", "base.h", "extra.txt", "generated.cc", "top.cc"}) {
    const std::string path = absl::StrCat("tests/source_digest/fixture/", name);
    ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path, 1 << 20));
    absl::StrAppend(&expected, Digest::Of(bytes).hex(), " ", path, "\n");
  }
  ASSERT_OK_AND_ASSIGN(const std::string listing,
                       ReadFile("tests/source_digest/top_digest.sha256", 1 << 20));
  EXPECT_EQ(listing, expected);
  EXPECT_EQ(TopDigest(), Digest::Of(expected).hex());
}

TEST(SourceDigestTest, DoesNotDependOnOrderOrRepetition) { EXPECT_EQ(SameDigest(), TopDigest()); }

}  // namespace
}  // namespace slipway
