#include "core/rpc/listen_address.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;

TEST(ListenAddress, IsLoopbackWhereOtherMachinesCannotReachIt) {
  for (const char* text : {"127.0.0.1:1", "127.255.0.3:1", "localhost:1", "[::1]:1",
                           "[0:0:0:0:0:0:0:1]:1", "unix:/run/socket"}) {
    ASSERT_OK_AND_ASSIGN(const ListenAddress address, ParseListenAddress(text));
    EXPECT_TRUE(address.is_loopback) << text;
    EXPECT_OK(CheckListen(text, /*asks_who=*/false, /*is_insecure=*/false)) << text;
  }
}

// A name is whoever answers to it; what begins like an address is none.
TEST(ListenAddress, IsNotLoopbackForWhatLooksLikeIt) {
  for (const char* text :
       {"127.name.example:1", "127.0.0.1.example:1", "127.0.0:1", "127.:1", "localhost.example:1",
        "0.0.0.0:1", "[::]:1", "[::2]:1", "::1:1", "[127.0.0.1]:1", "128.0.0.1:1", "board:1"}) {
    ASSERT_OK_AND_ASSIGN(const ListenAddress address, ParseListenAddress(text));
    EXPECT_FALSE(address.is_loopback) << text;
    EXPECT_THAT(CheckListen(text, /*asks_who=*/false, /*is_insecure=*/false),
                StatusIs(absl::StatusCode::kPermissionDenied))
        << text;
    EXPECT_OK(CheckListen(text, /*asks_who=*/true, /*is_insecure=*/false));
    EXPECT_OK(CheckListen(text, /*asks_who=*/false, /*is_insecure=*/true));
  }
}

TEST(ListenAddress, IsReachedFromThisMachineByTheLoopback) {
  EXPECT_EQ(LocalAddress("0.0.0.0:7411"), "127.0.0.1:7411");
  EXPECT_EQ(LocalAddress("[::]:7411"), "127.0.0.1:7411");
  EXPECT_EQ(LocalAddress("10.0.0.0:7411"), "10.0.0.0:7411");
}

TEST(ListenAddress, RefusesWhatIsNone) {
  for (const char* text : {"", "host", ":1", "host:", "host:65536", "host:-1", "unix:"}) {
    EXPECT_THAT(ParseListenAddress(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

}  // namespace
}  // namespace slipway
