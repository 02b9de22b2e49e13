#include "core/rpc/grpc_call_counts.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

// As gRPC 1.51 tells; grpc_tls_test.cc holds this against gRPC itself.
constexpr absl::string_view kSocket =
    R"({"socket":{"data":{"lastRemoteStreamCreatedTimestamp":"2026-11-24T01:10:03.05Z",)"
    R"("streamsFailed":"31","streamsStarted":"150","streamsSucceeded":"19"},"local":{},)"
    R"("ref":{"name":"chttp2 ipv4:127.0.0.3:44984","socketId":"2"},"remote":{},)"
    R"("security":{"tls":{"remote_certificate":"cGVtCg=="}}}})";

TEST(CallCountsTest, AConnectionIsRead) {
  const SocketCalls calls = ReadSocketMessage(kSocket);
  EXPECT_EQ(calls.address, "ipv4:127.0.0.3:44984");
  EXPECT_EQ(calls.certificate, "pem\n");
  EXPECT_EQ(calls.open, 100);
  EXPECT_EQ(calls.broken_off, 31);
}

TEST(CallCountsTest, WhatIsNotToldIsNone) {
  const SocketCalls calls = ReadSocketMessage(R"({"socket":{"data":{}}})");
  EXPECT_EQ(calls.address, "");
  EXPECT_EQ(calls.certificate, "");
  EXPECT_EQ(calls.open, 0);
  EXPECT_EQ(calls.broken_off, 0);
  EXPECT_EQ(ReadSocketMessage("").open, 0);
}

TEST(CallCountsTest, NumbersAreFoundByTheirWholeKey) {
  EXPECT_EQ(ChannelzNumber(kSocket, "streamsStarted"), 150);
  EXPECT_EQ(ChannelzNumber(kSocket, "Started"), 0);
  EXPECT_EQ(ChannelzNumber(kSocket, "name"), 0);
}

}  // namespace
}  // namespace slipway
