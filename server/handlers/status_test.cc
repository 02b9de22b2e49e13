#include "server/handlers/status.h"

#include "core/base/version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/testing/handler_environment.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class StatusHandlerTest : public ::testing::Test {
 protected:
  v1::ServerStatus Status(const FrontSums& front) {
    v1::ServerStatus status;
    EXPECT_OK(GetServerStatus(server_.env, front, &status));
    return status;
  }

  testing::HandlerEnvironment server_;
};

TEST_F(StatusHandlerTest, TellsWhatTheServerIsAndHas) {
  server_.env.began = server_.clock.Monotonic();
  server_.clock.Advance(absl::Seconds(90));
  server_.env.blob_bytes = [] { return 17; };
  server_.env.blob_dir = server_.folder.path();
  server_.env.limits.blob_quota_bytes = 1'000;
  server_.memory_bytes = 100;
  const v1::ServerStatus status = Status({.connections = {.accepted = 9, .held = 3, .refused = {}},
                                          .max_connections = 4,
                                          .waiting_calls = 2});
  EXPECT_EQ(status.version(), kVersion);
  EXPECT_EQ(status.instance_id(), "instance");
  EXPECT_EQ(absl::Nanoseconds(status.uptime_ns()), absl::Seconds(90));
  EXPECT_EQ(status.refusals_size(), 0);
  EXPECT_EQ(status.memory_bytes(), 100);
  EXPECT_EQ(status.memory_limit_bytes(), 1'000);
  EXPECT_GE(status.descriptors(), 3);
  EXPECT_GT(status.max_descriptors(), status.descriptors());
  EXPECT_EQ(status.connections(), 3);
  EXPECT_EQ(status.max_connections(), 4);
  EXPECT_EQ(status.waiting_calls(), 2);
  EXPECT_EQ(status.blob_bytes(), 17);
  EXPECT_EQ(status.blob_quota_bytes(), 1'000);
  EXPECT_GT(status.disk_free_bytes(), 0);
  EXPECT_EQ(status.log_level(), "info");
}

TEST_F(StatusHandlerTest, TellsWhatLacks) {
  server_.TakeMemory();
  const v1::ServerStatus status = Status({.connections = {.accepted = 9, .held = 4, .refused = {}},
                                          .max_connections = 4,
                                          .waiting_calls = 0});
  ASSERT_EQ(status.refusals_size(), 2);
  EXPECT_EQ(status.refusals(0).cause(), v1::ServerRefusal::MEMORY);
  EXPECT_THAT(status.refusals(0).message(), HasSubstr("--memory-limit"));
  EXPECT_EQ(status.refusals(1).cause(), v1::ServerRefusal::CONNECTIONS);
  EXPECT_THAT(status.refusals(1).message(), HasSubstr("--max-connections"));
}

TEST_F(StatusHandlerTest, TheLogShowsAnotherLevelUntilItShowsItsOwnAgain) {
  InitLog("", LogLevel::kWarning);
  server_.env.log_level = LogLevel::kWarning;
  v1::SetLogLevelRequest request;
  v1::SetLogLevelResponse response;
  request.set_level("debug");
  ASSERT_OK(SetLogLevel(server_.caller, server_.env, request, &response));
  EXPECT_EQ(response.before(), "warning");
  EXPECT_EQ(Status({}).log_level(), "debug");
  request.set_level("loud");
  EXPECT_THAT(SetLogLevel(server_.caller, server_.env, request, &response),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'loud'")));
  request.set_level("");
  ASSERT_OK(SetLogLevel(server_.caller, server_.env, request, &response));
  EXPECT_EQ(response.before(), "debug");
  EXPECT_EQ(Status({}).log_level(), "warning");
  InitLog("", LogLevel::kInfo);
}

TEST_F(StatusHandlerTest, ABlobFolderThatCannotBeReadIsAnError) {
  server_.env.blob_bytes = [] { return absl::InternalError("no such folder"); };
  v1::ServerStatus status;
  EXPECT_THAT(GetServerStatus(server_.env, {}, &status),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("no such folder")));
}

}  // namespace
}  // namespace slipway::server
