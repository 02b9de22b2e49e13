#include "core/rpc/unproven_connections.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace slipway {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(10);

HeldConnection Connection(int fd) { return {.fd = fd, .socket = 100 + static_cast<uint64_t>(fd)}; }

TEST(UnprovenConnections, EndsThoseWhoseTimeIsOver) {
  UnprovenConnections connections(10, kPatience);
  EXPECT_EQ(connections.NextEnd(), absl::InfiniteDuration());
  EXPECT_EQ(connections.Add("a", Connection(1), absl::Seconds(0)), std::nullopt);
  EXPECT_EQ(connections.Add("b", Connection(2), absl::Seconds(3)), std::nullopt);
  EXPECT_EQ(connections.NextEnd(), absl::Seconds(10));
  EXPECT_TRUE(connections.TakeOverdue(absl::Seconds(9)).empty());
  const std::vector<HeldConnection> overdue = connections.TakeOverdue(absl::Seconds(10));
  ASSERT_EQ(overdue.size(), 1u);
  EXPECT_EQ(overdue[0], Connection(1));
  EXPECT_EQ(connections.NextEnd(), absl::Seconds(13));
}

TEST(UnprovenConnections, ForgetsThoseThatCall) {
  UnprovenConnections connections(10, kPatience);
  connections.Add("a", Connection(1), absl::Seconds(0));
  connections.Add("b", Connection(2), absl::Seconds(0));
  EXPECT_EQ(connections.Prove("a"), Connection(1));
  EXPECT_EQ(connections.Prove("a"), std::nullopt);
  EXPECT_EQ(connections.Prove("of nobody"), std::nullopt);
  const std::vector<HeldConnection> overdue = connections.TakeOverdue(absl::Seconds(20));
  ASSERT_EQ(overdue.size(), 1u);
  EXPECT_EQ(overdue[0], Connection(2));
  EXPECT_EQ(connections.size(), 0);
}

TEST(UnprovenConnections, EndsTheFirstWhenThereAreTooMany) {
  UnprovenConnections connections(2, kPatience);
  connections.Add("a", Connection(1), absl::Seconds(0));
  connections.Add("b", Connection(2), absl::Seconds(0));
  connections.Prove("a");
  EXPECT_EQ(connections.Add("c", Connection(3), absl::Seconds(0)), std::nullopt);
  EXPECT_EQ(connections.Add("d", Connection(4), absl::Seconds(0)), Connection(2));
  EXPECT_EQ(connections.size(), 2);
}

TEST(UnprovenConnections, AnAddressUsedAgainIsTheLatterOnes) {
  UnprovenConnections connections(10, kPatience);
  connections.Add("a", Connection(1), absl::Seconds(0));
  connections.Add("a", Connection(2), absl::Seconds(5));
  EXPECT_EQ(connections.size(), 1);
  EXPECT_TRUE(connections.TakeOverdue(absl::Seconds(12)).empty());
  EXPECT_EQ(connections.TakeOverdue(absl::Seconds(15)).size(), 1u);
}

}  // namespace
}  // namespace slipway
