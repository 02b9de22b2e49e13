#include "core/identity/role.h"

#include <gtest/gtest.h>

#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;

TEST(RoleSetTest, NamesAreReadBack) {
  const RoleSet roles = {Role::kAdmin, Role::kUser};
  EXPECT_EQ(roles.ToString("+"), "user+admin");
  EXPECT_THAT(RoleSet::Parse("user+admin"), IsOkAndHolds(roles));
  EXPECT_THAT(RoleSet::Parse("admin+user"), IsOkAndHolds(roles));
}

TEST(RoleSetTest, EveryRoleHasANameOfItsOwn) {
  for (const Role role : {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin, Role::kServer}) {
    EXPECT_EQ(RoleNamed(RoleName(role)), role);
    EXPECT_TRUE(RoleSet({role}).Has(role));
  }
  EXPECT_EQ(RoleNamed("root"), std::nullopt);
}

TEST(RoleSetTest, WhatIsNoListOfRolesIsRefused) {
  for (const char* text : {"", "+", "user+", "user+user", "User", "user admin", "root"}) {
    EXPECT_THAT(RoleSet::Parse(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

TEST(RoleSetTest, SetsAreCompared) {
  const RoleSet roles = {Role::kUser, Role::kAgent};
  EXPECT_TRUE(roles.HasAnyOf({Role::kAgent, Role::kWorker}));
  EXPECT_FALSE(roles.HasAnyOf({Role::kWorker, Role::kAdmin}));
  EXPECT_FALSE(roles.HasAnyOf({}));
  EXPECT_TRUE(RoleSet().empty());
}

}  // namespace
}  // namespace slipway
