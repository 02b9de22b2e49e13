#include "core/base/byte_size.h"

#include <cstdint>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(ByteSizeTest, Parses) {
  EXPECT_THAT(ParseByteSize("0"), IsOkAndHolds(0));
  EXPECT_THAT(ParseByteSize("4096"), IsOkAndHolds(4096));
  EXPECT_THAT(ParseByteSize("17B"), IsOkAndHolds(17));
  EXPECT_THAT(ParseByteSize("512MiB"), IsOkAndHolds(512 << 20));
  EXPECT_THAT(ParseByteSize("1.5GiB"), IsOkAndHolds(3 << 29));
  EXPECT_THAT(ParseByteSize("2GB"), IsOkAndHolds(2000000000));
  EXPECT_THAT(ParseByteSize("9223372036854775807"), IsOkAndHolds(INT64_MAX));
}

TEST(ByteSizeTest, RefusesWhatIsNoSize) {
  for (const char* text : {"", "MiB", "-1", "+1", " 1", "1 MiB", "1.5", "1mib", "1M", "1.2.3MiB",
                           "9223372036854775808", "8388608TiB", "99999999999999999999999GiB", "1e3",
                           "0x10", "infTiB", ".MiB"}) {
    EXPECT_THAT(ParseByteSize(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("512MiB")))
        << text;
  }
}

TEST(ByteSizeTest, FormatsExactly) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{1000}, int64_t{1024},
                              int64_t{512} << 20, int64_t{3} << 29, int64_t{5} << 50, INT64_MAX}) {
    EXPECT_THAT(ParseByteSize(ExactByteSize(bytes)), IsOkAndHolds(bytes));
  }
  EXPECT_EQ(ExactByteSize(512 << 20), "512MiB");
  EXPECT_EQ(ExactByteSize(1000), "1000B");
  EXPECT_EQ(ExactByteSize(0), "0B");
}

TEST(ByteSizeTest, FormatsForPeople) {
  EXPECT_EQ(RoundByteSize(0), "0 B");
  EXPECT_EQ(RoundByteSize(1023), "1023 B");
  EXPECT_EQ(RoundByteSize(1024), "1.00 KiB");
  EXPECT_EQ(RoundByteSize(102400000), "97.7 MiB");
  EXPECT_EQ(RoundByteSize((int64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(RoundByteSize(int64_t{1} << 60), "1048576 TiB");
}

}  // namespace
}  // namespace slipway
