#include "core/identity/given_identity.h"

#include <string>

#include "core/identity/identity_id.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(GivenIdentity, SaysNameAndRoles) {
  const std::optional<GivenIdentity> ada = GivenIdentityOfUri("urn:slipway:user:ada");
  ASSERT_TRUE(ada.has_value());
  EXPECT_EQ(ada->name, "ada");
  EXPECT_EQ(ada->roles, RoleSet({Role::kUser}));
  EXPECT_TRUE(IsIdentityId(ada->id()));
  const std::optional<GivenIdentity> root = GivenIdentityOfUri("urn:slipway:user+admin:ada");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->roles, RoleSet({Role::kUser, Role::kAdmin}));
}

// Records outlive certificates and servers.
TEST(GivenIdentity, HasTheSameIdForever) {
  EXPECT_EQ(GivenIdentityOfUri("urn:slipway:user:ada")->id(), "034f1c1d75bb488d");
  EXPECT_EQ(GivenIdentityOfUri("urn:slipway:user+admin:ada")->id(),
            GivenIdentityOfUri("urn:slipway:admin+user:ada")->id());
  EXPECT_NE(GivenIdentityOfUri("urn:slipway:user+admin:ada")->id(),
            GivenIdentityOfUri("urn:slipway:user:ada")->id());
  EXPECT_NE(GivenIdentityOfUri("urn:slipway:user:bob")->id(),
            GivenIdentityOfUri("urn:slipway:user:ada")->id());
}

TEST(GivenIdentity, RefusesAllElse) {
  for (const std::string& uri :
       {std::string(), std::string("urn:slipway:"), std::string("urn:slipway:user"),
        std::string("urn:slipway:user:"), std::string("urn:slipway:user:Ada"),
        std::string("urn:slipway:user:a.b"), std::string("urn:slipway:user:ada:x"),
        std::string("urn:slipway::ada"), std::string("urn:slipway:user+user:ada"),
        std::string("urn:slipway:server:ada"), std::string("urn:slipway:user+server:ada"),
        std::string("urn:slipway:king:ada"), std::string("URN:slipway:user:ada"),
        std::string(" urn:slipway:user:ada"), std::string("https://slipway/user/ada"),
        std::string("urn:slipway:user:ada\0", 21), IdentityUri("0123456789abcdef"),
        "urn:slipway:user:" + std::string(64, 'a'), "urn:slipway:user:" + std::string(1000, 'a')}) {
    EXPECT_FALSE(GivenIdentityOfUri(uri).has_value()) << uri;
  }
}

}  // namespace
}  // namespace slipway
