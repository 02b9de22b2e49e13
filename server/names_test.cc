#include "server/names.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;

TEST(IdGeneratorTest, IdsRiseWithTimeAndWithinAMillisecond) {
  IdGenerator ids([] { return ~uint64_t{0}; });
  const absl::Time now = absl::FromUnixMillis(1'767'225'600'000);
  std::string last;
  for (absl::Duration step : {absl::ZeroDuration(), absl::ZeroDuration(), absl::Milliseconds(1),
                              -absl::Hours(1), absl::ZeroDuration()}) {
    const std::string id = ids.Next(now + step);
    EXPECT_GT(id, last);
    EXPECT_OK(CheckJobId(id)) << id;
    last = id;
  }
}

TEST(IdGeneratorTest, EncodesTheTimeFirst) {
  IdGenerator ids([] { return 0; });
  // 2^40 milliseconds: bit 120 of 130, so character 2 (of 26) holds its bit 0 and below.
  EXPECT_EQ(ids.Next(absl::FromUnixMillis(int64_t{1} << 40)), "01000000000000000000000000");
  EXPECT_EQ(ids.Next(absl::FromUnixMillis((int64_t{1} << 40) + 31)), "010000000Z0000000000000000");
}

TEST(NamesTest, JobIds) {
  for (const char* bad : {"", "01", "81000000000000000000000000", "0100000000000000000000000I",
                          "010000000000000000000000000", "01000000000000000000000000 "}) {
    EXPECT_THAT(CheckJobId(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

TEST(NamesTest, RequestIds) {
  EXPECT_OK(CheckRequestId("a b~"));
  EXPECT_OK(CheckRequestId(std::string(128, 'x')));
  EXPECT_FALSE(CheckRequestId("").ok());
  EXPECT_FALSE(CheckRequestId(std::string(129, 'x')).ok());
  EXPECT_FALSE(CheckRequestId("a\n").ok());
  EXPECT_FALSE(CheckRequestId("\xc3\xa9").ok());
}

TEST(NamesTest, PeerIds) {
  EXPECT_OK(CheckPeerId("agent_id", "board-7.lab_2"));
  for (const std::string& bad : {std::string(), std::string("-a"), std::string("A"),
                                 std::string("a b"), std::string(65, 'a')}) {
    EXPECT_FALSE(CheckPeerId("agent_id", bad).ok()) << bad;
  }
}

TEST(NamesTest, KeysTellTheirKind) {
  EXPECT_EQ(IdOfKey(AgentKey("a")), "a");
  EXPECT_EQ(KindOfKey(AgentKey("a")), "agent");
  EXPECT_EQ(PeerName(WorkerKey("w")), "worker 'w'");
  EXPECT_TRUE(IsLocalWorker(WorkerKey(LocalWorkerId(3))));
  EXPECT_FALSE(IsLocalWorker(AgentKey(LocalWorkerId(3))));
  EXPECT_FALSE(IsLocalWorker(WorkerKey("w")));
}

}  // namespace
}  // namespace slipway::server
