#include "core/base/status_macros.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;

absl::Status Missing() { return absl::NotFoundError("no such thing"); }

TEST(StatusMacrosTest, AnnotateKeepsCodeAndPayloads) {
  absl::Status status = Missing();
  status.SetPayload("type.example/x", absl::Cord("payload"));
  const absl::Status annotated = Annotate(status, "model 'm'");
  EXPECT_THAT(annotated, StatusIs(absl::StatusCode::kNotFound, "model 'm': no such thing"));
  EXPECT_EQ(annotated.GetPayload("type.example/x"), absl::Cord("payload"));
  EXPECT_OK(Annotate(absl::OkStatus(), "unused"));
}

absl::Status ReturnIf(const absl::Status& status, bool* went_on) {
  SLIPWAY_RETURN_IF_ERROR(status);
  SLIPWAY_RETURN_IF_ERROR_WITH(absl::OkStatus(), "unused");
  *went_on = true;
  return absl::OkStatus();
}

TEST(StatusMacrosTest, ReturnIfErrorReturnsOnlyErrors) {
  bool went_on = false;
  EXPECT_THAT(ReturnIf(Missing(), &went_on), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(went_on);
  EXPECT_OK(ReturnIf(absl::OkStatus(), &went_on));
  EXPECT_TRUE(went_on);
}

absl::StatusOr<int> AddOne(absl::StatusOr<std::unique_ptr<int>> number) {
  // Two on neighbouring lines: their hidden names must differ.
  SLIPWAY_ASSIGN_OR_RETURN(const int one, absl::StatusOr<int>(1));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::unique_ptr<int> value, std::move(number), "adding");
  return *value + one;
}

TEST(StatusMacrosTest, AssignOrReturnMovesTheValueOrAddsContext) {
  EXPECT_THAT(AddOne(std::make_unique<int>(2)), IsOkAndHolds(3));
  EXPECT_THAT(AddOne(Missing()), StatusIs(absl::StatusCode::kNotFound, "adding: no such thing"));
}

}  // namespace
}  // namespace slipway
