#include "core/base/digest.h"

#include <string>

#include "absl/hash/hash_testing.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

// The examples of FIPS 180-4 (NIST's "SHA256.pdf" and the empty message).
constexpr char kEmptyHex[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kAbcHex[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kTwoBlocksHex[] = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
constexpr char kMillionHex[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(DigestTest, HashesTheExamplesOfTheStandard) {
  EXPECT_EQ(Digest::Of("").hex(), kEmptyHex);
  EXPECT_EQ(Digest::Of("abc").hex(), kAbcHex);
  EXPECT_EQ(Digest::Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            kTwoBlocksHex);
  EXPECT_EQ(Digest::Of("abc").size_bytes(), 3);
}

TEST(DigestTest, HashesPieceByPiece) {
  Hasher hasher;
  const std::string piece(1000, 'a');
  for (int i = 0; i < 1000; ++i) hasher.Update(piece);
  Hasher moved = std::move(hasher);
  const Digest digest = moved.Finish();
  EXPECT_EQ(digest.hex(), kMillionHex);
  EXPECT_EQ(digest.size_bytes(), 1000000);
}

TEST(DigestTest, DefaultIsUnset) {
  EXPECT_FALSE(Digest().is_set());
  EXPECT_TRUE(Digest::Of("").is_set());
  EXPECT_NE(Digest(), Digest::Of(""));
}

TEST(DigestTest, ParsesWhatItPrints) {
  const Digest digest = Digest::Of("abc");
  EXPECT_EQ(digest.ToString(), std::string(kAbcHex) + "/3");
  ASSERT_OK_AND_ASSIGN(const Digest parsed, Digest::Parse(digest.ToString()));
  EXPECT_EQ(parsed, digest);
}

TEST(DigestTest, RefusesWhatIsNotADigest) {
  const std::string abc = kAbcHex;
  const absl::StatusCode bad = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(Digest::Parse(""), StatusIs(bad, HasSubstr("HEX/SIZE")));
  EXPECT_THAT(Digest::Parse(abc), StatusIs(bad, HasSubstr("HEX/SIZE")));
  EXPECT_THAT(Digest::Parse("abc/3"), StatusIs(bad, HasSubstr("3 characters, not 64")));
  EXPECT_THAT(Digest::Parse(abc + "/"), StatusIs(bad, HasSubstr("decimal number")));
  EXPECT_THAT(Digest::Parse(abc + "/ 3"), StatusIs(bad, HasSubstr("decimal number")));
  EXPECT_THAT(Digest::Parse(abc + "/+3"), StatusIs(bad, HasSubstr("decimal number")));
  EXPECT_THAT(Digest::Parse(abc + "/03"), StatusIs(bad, HasSubstr("decimal number")));
  EXPECT_THAT(Digest::Parse(abc + "/99999999999999999999"), StatusIs(bad, HasSubstr("decimal")));
  EXPECT_THAT(Digest::Parse(abc + "/-1"), StatusIs(bad, HasSubstr("negative size -1")));
  EXPECT_THAT(Digest::FromHex("B" + abc.substr(1), 3), StatusIs(bad, HasSubstr("'B'")));
  EXPECT_THAT(Digest::FromHex(std::string(64, '\n'), 3), StatusIs(bad, HasSubstr("'\\n'")));
}

TEST(DigestTest, KeepsMessagesShort) {
  const absl::Status status = Digest::Parse(std::string(1 << 20, 'x')).status();
  EXPECT_LT(status.message().size(), 300u);
}

TEST(DigestTest, ComparesAndHashesByValue) {
  ASSERT_OK_AND_ASSIGN(const Digest other_size, Digest::FromHex(kAbcHex, 4));
  EXPECT_NE(Digest::Of("abc"), other_size);
  EXPECT_LT(Digest::Of("abc"), other_size);
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Digest(), Digest::Of(""), Digest::Of("abc"), other_size}));
}

}  // namespace
}  // namespace slipway
