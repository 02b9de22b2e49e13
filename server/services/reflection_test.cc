#include "server/services/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/grpc/health/v1/health.pb.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/identity.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/jobs/job_record.pb.h"
#include "server/services/access.h"

namespace slipway::server {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using Request = grpc::reflection::v1alpha::ServerReflectionRequest;
using Response = grpc::reflection::v1alpha::ServerReflectionResponse;

// The messages of all services are linked.
const google::protobuf::Descriptor* const kLinked[] = {
    v1::AgentState::descriptor(),    v1::CreateCompilationRequest::descriptor(),
    v1::InviteRequest::descriptor(), v1::ServerInfo::descriptor(),
    v1::WorkerState::descriptor(),   grpc::health::v1::HealthCheckRequest::descriptor(),
    JobRecord::descriptor()};

Response Symbol(const std::string& name) {
  Request request;
  request.set_file_containing_symbol(name);
  return Reflect(request);
}

TEST(ReflectionTest, ListsTheServicesOfTheAccessTable) {
  Request request;
  request.set_list_services("");
  const Response response = Reflect(request);
  std::set<std::string> services;
  for (const auto& service : response.list_services_response().service()) {
    services.insert(service.name());
  }
  EXPECT_THAT(services, Contains("slipway.v1.JobService"));
  for (const AccessRow& row : kAccess) {
    EXPECT_THAT(services, Contains(std::string(row.method.substr(0, row.method.rfind('.')))));
  }
}

// What a generic client does: it makes types of what it is sent, and nothing else.
TEST(ReflectionTest, WhatIsToldOfAServiceIsAllThatAClientNeeds) {
  google::protobuf::SimpleDescriptorDatabase database;
  std::set<std::string> names;
  const Response told = Symbol("slipway.v1.ServerService");
  for (const std::string& bytes : told.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(bytes));
    EXPECT_TRUE(names.insert(file.name()).second) << file.name();
    database.Add(file);
  }
  google::protobuf::DescriptorPool pool(&database);
  const auto* const method = pool.FindMethodByName("slipway.v1.ServerService.GetServerInfo");
  ASSERT_NE(method, nullptr);
  EXPECT_EQ(method->output_type()->full_name(), "slipway.v1.ServerInfo");
  EXPECT_NE(method->output_type()->FindFieldByName("counters"), nullptr);
}

TEST(ReflectionTest, FindsFilesByName) {
  Request request;
  request.set_file_by_filename("proto/slipway/v1/worker.proto");
  EXPECT_GT(Reflect(request).file_descriptor_response().file_descriptor_proto_size(), 1);
}

TEST(ReflectionTest, TellsNothingOfWhatNoServiceUses) {
  ASSERT_NE(kLinked[6], nullptr);
  EXPECT_TRUE(Symbol("slipway.server.JobRecord").has_error_response());
  Request request;
  request.set_file_by_filename("server/jobs/job_record.proto");
  EXPECT_TRUE(Reflect(request).has_error_response());
}

TEST(ReflectionTest, AnswersWhatNobodyMeans) {
  EXPECT_EQ(Reflect(Request()).error_response().error_code(), 3);
  EXPECT_EQ(Symbol("slipway.v1.Nothing").error_response().error_code(), 5);
  Request request;
  request.mutable_file_containing_extension()->set_containing_type("slipway.v1.Job");
  EXPECT_TRUE(Reflect(request).has_error_response());
  const Response numbers = [] {
    Request all;
    all.set_all_extension_numbers_of_type("slipway.v1.ServerInfo");
    return Reflect(all);
  }();
  EXPECT_EQ(numbers.all_extension_numbers_response().base_type_name(), "slipway.v1.ServerInfo");
  const Response refused = Symbol(std::string(1 << 20, 'x'));
  EXPECT_THAT(refused.error_response().error_message(), HasSubstr("at most"));
  EXPECT_LT(refused.ByteSizeLong(), 1'000u);
}

}  // namespace
}  // namespace slipway::server
