#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include "absl/status/status.h"
#include "core/rpc/grpc_reconnect.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

TEST(GrpcStatus, KeepsCodeAndMessage) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), code == 0 ? "" : "why");
    EXPECT_EQ(FromGrpc(ToGrpc(status)), status) << code;
    EXPECT_EQ(static_cast<int>(ToGrpc(status).error_code()), code);
  }
}

TEST(PauseUntilConnected, EndsWhenToldTo) {
  const auto channel = grpc::CreateCustomChannel(
      "unix:/nonexistent/socket", grpc::InsecureChannelCredentials(), ClientChannelArguments());
  PauseUntilConnected(*channel, absl::Milliseconds(1), std::stop_token());
  std::stop_source stop;
  stop.request_stop();
  PauseUntilConnected(*channel, absl::InfiniteDuration(), stop.get_token());
}

TEST(GrpcSettings, BothSidesConnect) {
  grpc::CallbackGenericService service;
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&service);
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  ApplyServerSettings(builder);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  const auto channel =
      grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                grpc::InsecureChannelCredentials(), ClientChannelArguments());
  PauseUntilConnected(*channel, absl::Seconds(30), std::stop_token());
  EXPECT_EQ(channel->GetState(false), GRPC_CHANNEL_READY);
}

}  // namespace
}  // namespace slipway
