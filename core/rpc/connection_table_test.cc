#include "core/rpc/connection_table.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway {
namespace {

using Answer = ConnectionTable::Answer;

class ConnectionTableTest : public ::testing::Test {
 protected:
  Answer Take(uint64_t socket, const std::string& peer = "") {
    const Answer answer = table_.Take({.fd = 3, .socket = socket, .peer = peer});
    if (answer == Answer::kTaken) open_.insert(socket);
    return answer;
  }

  std::set<uint64_t> open_;
  ConnectionTable table_{{.all = 4, .each_peer = 2}, [this](const HeldConnection& connection) {
                           return open_.contains(connection.socket);
                         }};
};

TEST_F(ConnectionTableTest, TakesAsManyAsItMay) {
  for (uint64_t socket = 1; socket <= 4; ++socket) EXPECT_EQ(Take(socket), Answer::kTaken);
  EXPECT_EQ(Take(5), Answer::kFull);
  EXPECT_EQ(Take(5), Answer::kFull);
}

TEST_F(ConnectionTableTest, APeerHasALimitOfItsOwn) {
  EXPECT_EQ(Take(1, "a"), Answer::kTaken);
  EXPECT_EQ(Take(2, "a"), Answer::kTaken);
  EXPECT_EQ(Take(3, "a"), Answer::kFullForPeer);
  EXPECT_EQ(Take(3, "b"), Answer::kTaken);
  EXPECT_EQ(Take(4), Answer::kTaken);
}

TEST_F(ConnectionTableTest, ClosedOnesMakeRoom) {
  for (uint64_t socket = 1; socket <= 4; ++socket) EXPECT_EQ(Take(socket), Answer::kTaken);
  open_.erase(2);
  EXPECT_EQ(Take(5), Answer::kTaken);
  EXPECT_EQ(Take(6), Answer::kFull);
}

TEST_F(ConnectionTableTest, ClosedOnesMakeRoomForTheirPeer) {
  EXPECT_EQ(Take(1, "a"), Answer::kTaken);
  EXPECT_EQ(Take(2, "a"), Answer::kTaken);
  open_.erase(1);
  EXPECT_EQ(Take(3, "a"), Answer::kTaken);
  EXPECT_EQ(Take(4, "a"), Answer::kFullForPeer);
  open_.clear();
  EXPECT_EQ(Take(5, "a"), Answer::kTaken);
  EXPECT_EQ(Take(6, "a"), Answer::kTaken);
  EXPECT_EQ(table_.size(), 2);
}

}  // namespace
}  // namespace slipway
