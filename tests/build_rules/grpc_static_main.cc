// A binary that uses gRPC with TLS, for static_binary_test.

#include <grpcpp/grpcpp.h>

#include <cstdio>

#include "tests/build_rules/echo.grpc.pb.h"
#include "tests/build_rules/echo.pb.h"

int main() {
  const auto stub = slipway::testing::EchoService::NewStub(
      grpc::CreateChannel("127.0.0.1:1", grpc::SslCredentials({})));
  slipway::testing::EchoResponse response;
  response.mutable_word()->set_text("linked");
  std::puts(stub == nullptr ? "no stub" : response.word().text().c_str());
  return 0;
}
