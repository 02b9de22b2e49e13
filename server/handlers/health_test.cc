#include "server/handlers/health.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/testing/handler_environment.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using Response = grpc::health::v1::HealthCheckResponse;

class HealthTest : public ::testing::Test {
 protected:
  Response::ServingStatus Of(absl::string_view service) { return HealthOf(server_.env, service); }

  testing::HandlerEnvironment server_;
};

TEST_F(HealthTest, AllServeWhereNothingLacks) {
  for (const HealthRow& row : kHealth) EXPECT_EQ(Of(row.service), Response::SERVING) << row.service;
  EXPECT_EQ(Of("slipway.v1.JobService"), Response::SERVING);
  EXPECT_EQ(Of("grpc.health.v1.Health"), Response::SERVING);
  EXPECT_EQ(Of("slipway.v1.NoService"), Response::SERVICE_UNKNOWN);
  EXPECT_EQ(Of("slipway.v1"), Response::SERVICE_UNKNOWN);
}

TEST_F(HealthTest, WithoutMemoryNothingNewIsBegun) {
  server_.TakeMemory();
  EXPECT_EQ(Of(""), Response::NOT_SERVING);
  EXPECT_EQ(Of("slipway.v1.RunService"), Response::NOT_SERVING);
  EXPECT_EQ(Of("slipway.v1.BlobService"), Response::NOT_SERVING);
  // What is under way goes on.
  EXPECT_EQ(Of("slipway.v1.AgentService"), Response::SERVING);
  EXPECT_EQ(Of("slipway.v1.JobService"), Response::SERVING);
}

TEST_F(HealthTest, WithoutADatabaseNobodyIsToldOfChanges) {
  server_.database.Refuse(absl::ResourceExhaustedError("the disk is full"));
  JobRecord record;
  record.mutable_job()->set_id("01234567890123456789012345");
  record.mutable_job()->mutable_run();
  record.mutable_job()->set_state(v1::Job::QUEUED);
  ASSERT_FALSE(server_.dispatcher->Accept(server_.caller, record).ok());
  EXPECT_EQ(Of(""), Response::NOT_SERVING);
  EXPECT_EQ(Of("slipway.v1.CompileService"), Response::NOT_SERVING);
  EXPECT_EQ(Of("slipway.v1.AgentService"), Response::NOT_SERVING);
  EXPECT_EQ(Of("slipway.v1.BlobService"), Response::SERVING);
  server_.database.Refuse(absl::OkStatus());
  server_.clock.Advance(absl::Seconds(2));
  server_.dispatcher->Tick();
  EXPECT_EQ(Of(""), Response::SERVING);
}

}  // namespace
}  // namespace slipway::server
