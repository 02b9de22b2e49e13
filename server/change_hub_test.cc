#include "server/change_hub.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace slipway::server {
namespace {

TEST(ChangeHubTest, TellsSubscribersOfAKeyUntilTheyLeave) {
  ChangeHub hub;
  int a = 0;
  int b = 0;
  ChangeHub::Subscription first = hub.Subscribe("x", [&] { ++a; });
  const ChangeHub::Subscription second = hub.Subscribe("x", [&] { ++b; });
  hub.Notify({"x", "y"});
  hub.Notify({"y"});
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 1);
  first.reset();
  hub.Notify({"x"});
  EXPECT_FALSE(hub.is_closed());
  hub.Close();
  EXPECT_TRUE(hub.is_closed());
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 3);
}

TEST(ChangeHubTest, ACallbackMayLeaveAndSubscribe) {
  ChangeHub hub;
  int told = 0;
  ChangeHub::Subscription other;
  ChangeHub::Subscription own;
  own = hub.Subscribe("x", [&] {
    other = hub.Subscribe("x", [&] { ++told; });
    own.reset();
  });
  hub.Notify({"x"});
  EXPECT_EQ(told, 0);
  hub.Notify({"x"});
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace slipway::server
