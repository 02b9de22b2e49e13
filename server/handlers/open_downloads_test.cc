#include "server/handlers/open_downloads.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr OpenDownloads::Limits kLimits = {
    .in_all = 4, .of_owner = 3, .bytes = 64, .least_piece = 20, .largest_piece = 40};

TEST(OpenDownloads, PiecesShrinkAsReadersGrow) {
  OpenDownloads downloads(kLimits);
  EXPECT_EQ(downloads.PieceBytes(), 40);
  ASSERT_OK(downloads.Begin("ada"));
  EXPECT_EQ(downloads.PieceBytes(), 40);
  ASSERT_OK(downloads.Begin("ada"));
  EXPECT_EQ(downloads.PieceBytes(), 32);
  ASSERT_OK(downloads.Begin("bob"));
  EXPECT_EQ(downloads.PieceBytes(), 21);
  ASSERT_OK(downloads.Begin("bob"));
  EXPECT_EQ(downloads.PieceBytes(), 20);
  for (const char* owner : {"ada", "ada", "bob"}) downloads.End(owner);
  EXPECT_EQ(downloads.PieceBytes(), 40);
}

TEST(OpenDownloads, AreFewOfAnOwnerAndInAll) {
  OpenDownloads downloads(kLimits);
  for (int i = 0; i < 3; ++i) ASSERT_OK(downloads.Begin("ada"));
  EXPECT_THAT(downloads.Begin("ada"), StatusIs(absl::StatusCode::kUnavailable,
                                               HasSubstr("3 blobs are being read for 'ada'")));
  ASSERT_OK(downloads.Begin("bob"));
  EXPECT_THAT(downloads.Begin("cy"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("4 blobs are being read")));
  downloads.End("ada");
  EXPECT_OK(downloads.Begin("cy"));
}

}  // namespace
}  // namespace slipway::server
