#include "core/wire/session_messages.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

v1::SessionRequest WriteOf(uint64_t id) {
  v1::SessionRequest request;
  request.set_id(id);
  request.mutable_write()->set_tensor(7);
  request.mutable_write()->set_offset(64);
  return request;
}

std::string Bytes(size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(i * 31 >> 3));
  return bytes;
}

class SessionMessages : public ::testing::TestWithParam<size_t> {};

TEST_P(SessionMessages, AreThoseOfProtocolBuffers) {
  const std::string data = Bytes(GetParam());
  const absl::Cord message = WriteSessionRequest(WriteOf(3), absl::Cord(data));
  v1::SessionRequests parsed;
  ASSERT_TRUE(parsed.ParseFromString(std::string(message)));
  ASSERT_EQ(parsed.requests_size(), 1);
  EXPECT_EQ(parsed.requests(0).id(), 3u);
  EXPECT_EQ(parsed.requests(0).data(), data);
  // What anybody else writes is read.
  parsed.set_acked(2);
  *parsed.mutable_requests()->Add() = WriteOf(2);
  parsed.mutable_requests()->SwapElements(0, 1);
  ASSERT_OK_AND_ASSIGN(const SessionRequestParts parts,
                       ParseSessionRequests(absl::Cord(parsed.SerializeAsString())));
  EXPECT_EQ(parts.message.acked(), 2u);
  ASSERT_EQ(parts.message.requests_size(), 2);
  EXPECT_EQ(parts.message.requests(1).id(), 3u);
  EXPECT_EQ(parts.message.requests(1).write().offset(), 64);
  EXPECT_EQ(parts.message.requests(1).data(), "");
  EXPECT_EQ(std::string(parts.data), data);
}

TEST_P(SessionMessages, BehindEachOtherAreOne) {
  absl::Cord both = WriteSessionRequest(WriteOf(1));
  both.Append(WriteSessionAck(9));
  both.Append(WriteSessionRequest(WriteOf(2), absl::Cord(Bytes(GetParam()))));
  ASSERT_OK_AND_ASSIGN(const SessionRequestParts parts, ParseSessionRequests(both));
  EXPECT_EQ(parts.message.acked(), 9u);
  ASSERT_EQ(parts.message.requests_size(), 2);
  EXPECT_EQ(parts.message.requests(1).id(), 2u);
  EXPECT_EQ(std::string(parts.data), Bytes(GetParam()));
}

TEST_P(SessionMessages, ResponsesToo) {
  v1::SessionResponse response;
  response.set_id(8);
  const absl::Cord message = WriteSessionResponse(response, absl::Cord(Bytes(GetParam())));
  ASSERT_OK_AND_ASSIGN(const SessionResponseParts parts, ParseSessionResponses(message));
  ASSERT_EQ(parts.message.responses_size(), 1);
  EXPECT_EQ(parts.message.responses(0).id(), 8u);
  EXPECT_EQ(std::string(parts.data), Bytes(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, SessionMessages, ::testing::Values(0, 1, 100, 70'000, 1 << 20));

TEST(SessionMessagesTest, DataIsSharedWhenItIsLarge) {
  const std::string bytes = Bytes(1 << 20);
  const absl::Cord data = absl::MakeCordFromExternal(bytes, [] {});
  const absl::Cord message = WriteSessionRequest(WriteOf(1), data);
  ASSERT_OK_AND_ASSIGN(const SessionRequestParts parts, ParseSessionRequests(message));
  EXPECT_EQ(parts.data.chunk_begin()->data(), bytes.data());
}

TEST(SessionMessagesTest, TheLargestAnswerIsTakenWithWhatMayStandAroundIt) {
  v1::SessionResponse before;
  before.set_message(std::string(kMaxSessionGatheredBytes - 100, 'm'));
  v1::SessionResponse answer;
  answer.set_message(std::string(kMaxSessionAnswerBytes - 100, 'm'));
  absl::Cord message = WriteSessionResponse(before);
  message.Append(WriteSessionResponse(answer, absl::Cord(Bytes(kMaxSessionDataBytes))));
  ASSERT_OK_AND_ASSIGN(const SessionResponseParts parts, ParseSessionResponses(message));
  ASSERT_EQ(parts.message.responses_size(), 2);
  EXPECT_EQ(parts.message.responses(1).message(), answer.message());
  EXPECT_EQ(parts.data.size(), static_cast<size_t>(kMaxSessionDataBytes));
}

TEST(SessionMessagesTest, WhatIsNoMessageIsRefused) {
  for (size_t size : {1u, 1000u, 100'000u}) {
    EXPECT_EQ(ParseSessionRequests(absl::Cord(std::string(size, '\xff'))).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  absl::Cord two = WriteSessionRequest(WriteOf(1), absl::Cord(Bytes(80'000)));
  two.Append(WriteSessionRequest(WriteOf(2), absl::Cord(Bytes(10))));
  EXPECT_THAT(std::string(ParseSessionRequests(two).status().message()), HasSubstr("last request"));
  EXPECT_THAT(
      std::string(ParseSessionRequests(WriteSessionRequest(WriteOf(1), absl::Cord(Bytes(2 << 20))))
                      .status()
                      .message()),
      HasSubstr("2097152 bytes of data are over the limit"));
  EXPECT_THAT(
      std::string(ParseSessionRequests(absl::Cord(Bytes((4 << 20) + 1))).status().message()),
      HasSubstr("a message of 4194305 bytes is over the limit"));
  EXPECT_THAT(
      std::string(ParseSessionResponses(absl::Cord(Bytes((19 << 20) + 1))).status().message()),
      HasSubstr("a message of 19922945 bytes is over the limit"));
  // A length beyond the end.
  absl::Cord cut = WriteSessionRequest(WriteOf(1), absl::Cord(Bytes(100'000)));
  cut.RemoveSuffix(1);
  EXPECT_FALSE(ParseSessionRequests(cut).ok());
}

}  // namespace
}  // namespace slipway
