#include "client/session/load_operation.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

RequestAnswer Lacks(const std::vector<Digest>& blobs) {
  RequestAnswer answer;
  answer.error = absl::FailedPreconditionError("the device lacks blobs");
  for (const Digest& blob : blobs) {
    *answer.response.mutable_loaded()->add_missing() = ToProto(blob);
  }
  return answer;
}

class LoadOperationTest : public ::testing::Test {
 protected:
  LoadOperation Make() {
    v1::SessionRequest load;
    load.mutable_load()->set_program(1);
    return LoadOperation(
        load,
        [this](const Digest& digest) -> std::optional<Blob> {
          asked_.push_back(digest);
          if (digest == Digest::Of(code_)) return Blob::Own(code_);
          return std::nullopt;
        },
        /*piece_bytes=*/1 << 20,
        [](const v1::SessionResponse::Loaded&) { return absl::OkStatus(); });
  }

  const std::string code_ = "code";
  std::vector<Digest> asked_;
};

TEST_F(LoadOperationTest, NothingIsGatheredForADeviceThatHasAll) {
  LoadOperation operation = Make();
  ASSERT_THAT(operation.Begin(), SizeIs(1));
  EXPECT_THAT(operation.Take(0, RequestAnswer()), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto next, operation.Next());
  EXPECT_THAT(next, IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(LoadOperationTest, WhatTheDeviceLacksIsAskedForOnce) {
  LoadOperation operation = Make();
  ASSERT_THAT(operation.Take(0, Lacks({Digest::Of(code_)})), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto writes, operation.Next());
  ASSERT_THAT(writes, SizeIs(1));
  EXPECT_EQ(writes[0].data, code_);
  RequestAnswer written;
  written.response.mutable_blob_written()->set_size(static_cast<int64_t>(code_.size()));
  ASSERT_THAT(operation.Take(0, written), IsOk());
  ASSERT_OK_AND_ASSIGN(const auto again, operation.Next());
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_TRUE(again[0].request.has_load());
  // A device that asks for it again has something else.
  EXPECT_THAT(operation.Take(0, Lacks({Digest::Of(code_)})),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(asked_, ElementsAre(Digest::Of(code_)));
}

TEST_F(LoadOperationTest, ABlobThatIsNoneOfTheArtifactsIsAnError) {
  LoadOperation operation = Make();
  EXPECT_THAT(operation.Take(0, Lacks({Digest::Of("other")})),
              StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace slipway
