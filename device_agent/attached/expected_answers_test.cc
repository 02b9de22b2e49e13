#include "device_agent/attached/expected_answers.h"

#include <string>

#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

constexpr absl::Duration kNow = absl::Seconds(7);

runner::Request Read(int64_t offset, int64_t size) {
  runner::Request request;
  request.mutable_operation()->mutable_read();
  request.set_data_offset(offset);
  request.set_data_size(size);
  return request;
}
runner::Request Write(int64_t size) {
  runner::Request request;
  request.mutable_operation()->mutable_write();
  request.set_data_size(size);
  return request;
}
runner::Request Put(const Digest& blob) {
  runner::Request request;
  *request.mutable_put()->mutable_tensor()->mutable_blob() = ToProto(blob);
  return request;
}
attached::FromDevice Response(const std::string& data, Code code = Code::kOk) {
  attached::FromDevice message;
  message.mutable_response()->mutable_result()->set_code(static_cast<int>(code));
  message.set_data(data);
  return message;
}
attached::FromDevice::Need::Rest Rest(const Digest& blob, int64_t offset) {
  attached::FromDevice::Need::Rest rest;
  *rest.mutable_blob() = ToProto(blob);
  rest.set_offset(offset);
  return rest;
}

TEST(ExpectedAnswers, DataGoesWhereTheOldestRequestWantsIt) {
  ExpectedAnswers answers;
  answers.Ask(Read(100, 3), kNow);
  answers.Ask(Write(5), kNow);
  answers.Ask(Read(200, 2), kNow);
  EXPECT_THAT(answers.Take(Response("abc"), kNow), IsOkAndHolds(100));
  EXPECT_OK(answers.Take(Response(""), kNow));
  EXPECT_THAT(answers.Take(Response("ab"), kNow), IsOkAndHolds(200));
}

TEST(ExpectedAnswers, AResponseToNothingIsRefused) {
  ExpectedAnswers answers;
  EXPECT_THAT(answers.Take(Response(""), kNow), StatusIs(Code::kInvalidArgument));
  answers.Ask(Read(0, 1), kNow);
  EXPECT_OK(answers.Take(Response("a"), kNow));
  EXPECT_THAT(answers.Take(Response("a"), kNow), StatusIs(Code::kInvalidArgument));
}

TEST(ExpectedAnswers, BytesThatNobodyReadsAreRefused) {
  for (const auto& [request, response] :
       {std::pair(Read(0, 2), Response("abc")), std::pair(Read(0, 2), Response("a")),
        std::pair(Read(0, 2), Response("")), std::pair(Write(2), Response("ab")),
        std::pair(Read(0, 2), Response("ab", Code::kNotFound))}) {
    ExpectedAnswers answers;
    answers.Ask(request, kNow);
    EXPECT_THAT(answers.Take(response, kNow),
                StatusIs(Code::kInvalidArgument, HasSubstr("bytes, not")));
  }
}

TEST(ExpectedAnswers, OnlyWhatWasNamedIsGiven) {
  const Digest mine = Digest::Of("mine");
  const Digest others = Digest::Of("others");
  ExpectedAnswers answers;
  EXPECT_THAT(answers.Give(Rest(mine, 0)), StatusIs(Code::kInvalidArgument));
  answers.Ask(Put(mine), kNow);
  EXPECT_THAT(answers.Give(Rest(mine, 0)), IsOkAndHolds(mine));
  EXPECT_THAT(answers.Give(Rest(mine, 4)), IsOkAndHolds(mine));
  EXPECT_THAT(answers.Give(Rest(mine, 5)), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(answers.Give(Rest(mine, -1)), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(answers.Give(Rest(others, 0)), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(answers.Give({}), StatusIs(Code::kInvalidArgument));
}

TEST(ExpectedAnswers, KnowsSinceWhenItWaits) {
  ExpectedAnswers answers;
  answers.Ask(Write(1), absl::Seconds(1));
  answers.Ask(Write(1), absl::Seconds(2));
  EXPECT_EQ(answers.AwaitAsked(), absl::Seconds(1));
  EXPECT_OK(answers.Take(Response(""), absl::Seconds(3)));
  EXPECT_EQ(answers.AwaitAsked(), absl::Seconds(3));
}

}  // namespace
}  // namespace slipway
