// A whole server, probed by clients that know none of its services: by gRPC's health and reflection.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/artifact/manifest.h"
#include "core/artifact/test_manifest.h"
#include "core/base/files.h"
#include "core/base/version.h"
#include "core/rpc/grpc_status.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/grpc/health/v1/health.grpc.pb.h"
#include "proto/grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "server/grpc_test_client.h"
#include "server/server_context.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::grpc::health::v1::Health;
using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;
using ::grpc::reflection::v1alpha::ServerReflection;
using ::grpc::reflection::v1alpha::ServerReflectionRequest;
using ::grpc::reflection::v1alpha::ServerReflectionResponse;
using ::slipway::testing::StatusIs;
using ::testing::Contains;

constexpr int kPatienceSeconds = 60;

class ProbeTest : public ::testing::Test {
 protected:
  ProbeTest() {
    signal(SIGXFSZ, SIG_IGN);
    ServerOptions options;
    options.listen = "unix:" + JoinPath(folder_.path(), "socket");
    options.data_dir = JoinPath(folder_.path(), "data");
    options.cache_dir = JoinPath(folder_.path(), "cache");
    options.workers = 0;
    server_ = *ServerContext::Create(*Complete(options));
    client_ = std::make_unique<TestClient>(server_->address());
    health_ = Health::NewStub(client_->channel);
  }

  static void SetPatience(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(kPatienceSeconds));
  }

  absl::StatusOr<HealthCheckResponse::ServingStatus> Check(const std::string& service) {
    HealthCheckRequest request;
    request.set_service(service);
    absl::StatusOr<HealthCheckResponse> response =
        TestClient::Call(*health_, &Health::Stub::Check, request);
    if (!response.ok()) return response.status();
    return response->status();
  }

  // Answers to requests of one stream.
  std::vector<ServerReflectionResponse> Reflect(
      const std::vector<ServerReflectionRequest>& requests) {
    const std::unique_ptr<ServerReflection::Stub> stub =
        ServerReflection::NewStub(client_->channel);
    grpc::ClientContext context;
    SetPatience(context);
    const auto stream = stub->ServerReflectionInfo(&context);
    std::vector<ServerReflectionResponse> responses;
    for (const ServerReflectionRequest& request : requests) {
      EXPECT_TRUE(stream->Write(request));
      EXPECT_TRUE(stream->Read(&responses.emplace_back()));
    }
    stream->WritesDone();
    EXPECT_OK(FromGrpc(stream->Finish()));
    return responses;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("probe");
  std::unique_ptr<ServerContext> server_;
  std::unique_ptr<TestClient> client_;
  std::unique_ptr<Health::Stub> health_;
};

TEST_F(ProbeTest, AGenericClientCallsWhatItIsToldOf) {
  ServerReflectionRequest list;
  list.set_list_services("");
  ServerReflectionRequest symbol;
  symbol.set_file_containing_symbol("slipway.v1.ServerService");
  const std::vector<ServerReflectionResponse> told = Reflect({list, symbol});
  std::vector<std::string> services;
  for (const auto& service : told[0].list_services_response().service()) {
    services.push_back(service.name());
  }
  EXPECT_THAT(services, Contains("slipway.v1.ServerService"));

  google::protobuf::SimpleDescriptorDatabase database;
  for (const std::string& bytes : told[1].file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(bytes));
    database.Add(file);
  }
  google::protobuf::DescriptorPool pool(&database);
  const auto* const method = pool.FindMethodByName("slipway.v1.ServerService.GetServerInfo");
  ASSERT_NE(method, nullptr);

  grpc::GenericStub stub(client_->channel);
  grpc::ClientContext context;
  SetPatience(context);
  grpc::CompletionQueue queue;
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  grpc::ByteBuffer answer;
  grpc::Status status;
  const auto call =
      stub.PrepareUnaryCall(&context, "/slipway.v1.ServerService/GetServerInfo", request, &queue);
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  ASSERT_OK(FromGrpc(status));
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(answer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<google::protobuf::Message> info(
      factory.GetPrototype(method->output_type())->New());
  ASSERT_TRUE(info->ParseFromString(bytes));
  EXPECT_EQ(
      info->GetReflection()->GetString(*info, method->output_type()->FindFieldByName("version")),
      kVersion);
}

TEST_F(ProbeTest, TellsTheHealthOfServices) {
  for (const char* const service : {"", "slipway.v1.RunService", "grpc.health.v1.Health"}) {
    EXPECT_THAT(Check(service), testing::IsOkAndHolds(HealthCheckResponse::SERVING)) << service;
  }
  EXPECT_THAT(Check("slipway.v1.NoService"), StatusIs(absl::StatusCode::kNotFound));
  HealthCheckRequest unknown;
  unknown.set_service("slipway.v1.NoService");
  grpc::ClientContext context;
  SetPatience(context);
  const auto watch = health_->Watch(&context, unknown);
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  EXPECT_THAT(FromGrpc(watch->Finish()), StatusIs(absl::StatusCode::kCancelled));
}

// The disk is full as far as this process goes, and then is not.
TEST_F(ProbeTest, AWatcherHearsWhenTheDatabaseRefusesAndWhenItDoesNotAnyMore) {
  const std::string manifest = SerializeManifest(TestManifest());
  for (const std::string& blob : {manifest, TestCode(), TestConstants()}) {
    ASSERT_OK(client_->Write(blob));
  }
  grpc::ClientContext context;
  SetPatience(context);
  const auto watch = health_->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);

  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4'096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  v1::CreateRunRequest request;
  request.set_request_id("r");
  *request.mutable_spec()->mutable_manifest() = ToProto(Digest::Of(manifest));
  const auto created = TestClient::Call(*client_->runs, &v1::RunService::Stub::CreateRun, request);
  const bool was_told = watch->Read(&response);
  const HealthCheckResponse::ServingStatus while_full = response.status();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(created, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_TRUE(was_told);
  EXPECT_EQ(while_full, HealthCheckResponse::NOT_SERVING);
  // Nobody asks it for anything, and yet it finds out.
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
}

TEST_F(ProbeTest, WatchersDoNotHoldUpTheEnd) {
  grpc::ClientContext context;
  SetPatience(context);
  const auto watch = health_->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  server_.reset();
  while (watch->Read(&response)) {
  }
  EXPECT_FALSE(watch->Finish().ok());
}

}  // namespace
}  // namespace slipway::server
