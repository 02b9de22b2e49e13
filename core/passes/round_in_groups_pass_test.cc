#include "core/passes/round_in_groups_pass.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/fuse_ops_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Rounded(const std::string& text) {
  const auto after = PassTester().After(
      [](Graph graph, const PassContext& context) -> absl::StatusOr<Graph> {
        SLIPWAY_ASSIGN_OR_RETURN(graph, FuseOps(std::move(graph), context));
        return RoundInGroups(std::move(graph), context);
      },
      text);
  EXPECT_OK(after.status());
  return after.value_or("");
}

std::string Codes(const char* type, const char* zero, const char* zero_read) {
  return absl::StrCat(R"(
    graph "g" (%x: f32[4, 9], %r: f32[4, 9]) -> (%y) {
      const %s: f32[] = {0.02}
      const %t: f32[] = {0.5}
      const %z: )",
                      type, "[] = {", zero, "}\n const %v: ", type, "[] = {", zero_read, R"(}
      %q = QuantizeLinear(%x, %s, %z)
      %d = DequantizeLinear(%q, %t, %v)
      %y = Add(%d, %r)
    })");
}

TEST(RoundInGroups, RoundsWhereCodesWereMade) {
  for (const char* type : {"u8", "i8"}) {
    const std::string after = Rounded(Codes(type, "7", "7"));
    EXPECT_THAT(after, HasSubstr("Round"));
    EXPECT_THAT(after, HasSubstr("Clip"));
    EXPECT_THAT(after, Not(HasSubstr("= DequantizeLinear")));
    EXPECT_THAT(after, Not(HasSubstr("= QuantizeLinear")));
  }
}

// A code that means something else, and one that is stored.
TEST(RoundInGroups, LeavesOtherCodes) {
  EXPECT_THAT(Rounded(Codes("u8", "7", "8")), HasSubstr("= DequantizeLinear"));
  EXPECT_THAT(Rounded(R"(
    graph "g" (%x: f32[4, 9]) -> (%q, %y) {
      const %s: f32[] = {0.02}
      %q = QuantizeLinear(%x, %s)
      %d = DequantizeLinear(%q, %s)
      %y = Relu(%d)
    })"),
              HasSubstr("= DequantizeLinear"));
}

}  // namespace
}  // namespace slipway
