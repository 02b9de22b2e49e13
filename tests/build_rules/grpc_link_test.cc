// Links and runs what a binary with gRPC needs, all of it static.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/build_rules/echo.grpc.pb.h"
#include "tests/build_rules/echo.pb.h"
#include "tests/build_rules/word.pb.h"

namespace slipway::testing {
namespace {

class EchoServer final : public EchoService::Service {
 public:
  grpc::Status Echo(grpc::ServerContext*, const Word* request, EchoResponse* response) override {
    *response->mutable_word() = *request;
    response->mutable_answered_at()->set_seconds(7);
    return grpc::Status::OK;
  }
};

TEST(GrpcLinkTest, AnswersOverLoopback) {
  EchoServer service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);

  const auto stub = EchoService::NewStub(
      grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  Word request;
  request.set_text("slip");
  EchoResponse response;
  const grpc::Status status = stub->Echo(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.word().text(), "slip");
  EXPECT_EQ(response.answered_at().seconds(), 7);
}

}  // namespace
}  // namespace slipway::testing
