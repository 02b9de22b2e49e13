#include "core/base/wildcard.h"

#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(MatchesPattern, StarsStandForAnyCharacters) {
  for (const char* pattern : {"layer1/conv", "*", "layer1*", "*conv", "l*r1*o*v", "**", "*1*"}) {
    EXPECT_TRUE(MatchesPattern(pattern, "layer1/conv")) << pattern;
  }
  for (const char* pattern : {"", "layer1", "conv", "layer1/conv2", "*x*", "l*c", "*conv*x"}) {
    EXPECT_FALSE(MatchesPattern(pattern, "layer1/conv")) << pattern;
  }
  EXPECT_TRUE(MatchesPattern("*ab", "aab"));
  EXPECT_TRUE(MatchesPattern("*aab*b", "aaabaabb"));
  EXPECT_TRUE(MatchesPattern("", ""));
  EXPECT_TRUE(MatchesPattern("*", ""));
}

}  // namespace
}  // namespace slipway
