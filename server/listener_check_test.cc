#include "server/listener_check.h"

#include "gtest/gtest.h"

namespace slipway::server {
namespace {

class ListenerCheckTest : public ::testing::Test {
 protected:
  int64_t accepted_ = 0;
  int knocks_ = 0;
  bool listens_ = true;
  ListenerCheck check_{3,
                       {.accepted = [this] { return accepted_; },
                        .knock =
                            [this] {
                              ++knocks_;
                              if (listens_) ++accepted_;
                            }}};
};

TEST_F(ListenerCheckTest, ListensWhileKnocksAreAnswered) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(check_.Knock());
  EXPECT_EQ(knocks_, 10);
}

TEST_F(ListenerCheckTest, IsDeafAfterThreeKnocksWithoutAnAnswer) {
  EXPECT_TRUE(check_.Knock());
  listens_ = false;
  EXPECT_TRUE(check_.Knock());
  EXPECT_TRUE(check_.Knock());
  EXPECT_TRUE(check_.Knock());
  EXPECT_FALSE(check_.Knock());
}

TEST_F(ListenerCheckTest, AConnectionOfAnybodyIsASignOfLife) {
  // In a flood its own knocks may not come through.
  listens_ = false;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(check_.Knock());
    EXPECT_TRUE(check_.Knock());
    ++accepted_;
  }
}

}  // namespace
}  // namespace slipway::server
