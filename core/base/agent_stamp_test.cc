#include "core/base/agent_stamp.h"

#include <string>

#include "core/base/version.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(AgentStampTest, ThisBuildHasOne) {
  const AgentStamp own = OwnAgentStamp();
  EXPECT_EQ(own.version, kVersion);
  EXPECT_NE(own.platform.find("-linux"), std::string::npos);
}

TEST(AgentStampTest, IsFoundAnywhereAndTheFirstOfThoseThatAreSoundCounts) {
  const std::string bytes = std::string("\x7f\0ELF slipway-agent-stamp ;", 26) +
                            "slipway-agent-stamp a b slipway-agent-stamp 1.2.3-x+y arm-64-linux; "
                            "slipway-agent-stamp 2 other;";
  const std::optional<AgentStamp> stamp = FindAgentStamp(bytes);
  ASSERT_TRUE(stamp.has_value());
  EXPECT_EQ(stamp->version, "1.2.3-x+y");
  EXPECT_EQ(stamp->platform, "arm-64-linux");
}

TEST(AgentStampTest, WhatIsNoneIsNone) {
  const std::string mark = "slipway-agent-stamp ";
  for (const std::string& bytes :
       {std::string(), mark, mark + "1", mark + "1 ", mark + "1 x", mark + " x;", mark + "1 ;",
        mark + "1/2 x;", mark + "1 x y;", mark + std::string(65, '1') + " x;",
        mark + "1 " + std::string(65, 'x') + ";", std::string("slipway-agent-stam 1 x;")}) {
    EXPECT_FALSE(FindAgentStamp(bytes).has_value()) << bytes;
  }
  EXPECT_TRUE(
      FindAgentStamp(mark + std::string(64, '1') + " " + std::string(64, 'x') + ";").has_value());
}

}  // namespace
}  // namespace slipway
