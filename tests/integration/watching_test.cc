// What an operator asks real processes: what the server is doing, and to show more in their logs.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/plain_connection.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

bool Eventually(const std::function<bool()>& condition) {
  const absl::Time end = absl::Now() + absl::Seconds(60);
  while (!condition()) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

TEST(WatchingTest, StatusTellsAHealthyServerFromOneThatLacksSomething) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Start({.agents = 1}));
  const CommandResult healthy = cluster->Slipway({"status"});
  EXPECT_EQ(healthy.status.exit_code, 0) << healthy.ToString();
  EXPECT_THAT(healthy.out, AllOf(HasSubstr("the server does what it is asked for\n"),
                                 HasSubstr("1 idle, 0 busy, 0 lost")));
  const CommandResult json = cluster->Slipway({"status", "--json"});
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"schema_version\": 1"), HasSubstr("\"healthy\": true")));
  ASSERT_OK(cluster->StopAll());

  // What a server has from the beginning is above 80 % of this, and below all of it.
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> usual, Cluster::Start({.agents = 0}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Client> client, usual->Connect());
  ASSERT_OK_AND_ASSIGN(const ServerStatus status, client->Status());
  ASSERT_OK(usual->StopAll());
  const std::string limit = absl::StrCat(status.memory_bytes / 92 * 100 / 1024, "KiB");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> small,
                       Cluster::Start({.agents = 0, .server_flags = {"--memory-limit", limit}}));
  const CommandResult lacks = small->Slipway({"status"});
  EXPECT_EQ(lacks.status.exit_code, 1) << lacks.ToString();
  EXPECT_THAT(lacks.out, AllOf(HasSubstr("does not begin everything"), HasSubstr("memory: ")));
  EXPECT_OK(small->StopAll());
}

TEST(WatchingTest, LogsShowMoreWhileAnAdministratorSaysSo) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Cluster> cluster, Cluster::Start({.agents = 1}));
  const auto set = [&cluster](std::vector<std::string> words) {
    std::vector<std::string> argv = {ServerBinary(), "loglevel"};
    argv.insert(argv.end(), words.begin(), words.end());
    argv.insert(argv.end(), {"--server", cluster->address()});
    return RunCommand({.argv = argv, .environment = cluster->environment()});
  };
  const CommandResult first = set({"debug", "--fleet"});
  EXPECT_EQ(first.out, "info\n") << first.ToString();
  EXPECT_THAT(cluster->server().Log(),
              HasSubstr("the log shows another level before=info now=debug"));
  EXPECT_TRUE(Eventually([&cluster] {
    return absl::StrContains(cluster->agent(0).Log(), "the log shows another level now=debug");
  })) << cluster->agent(0).Log();
  EXPECT_THAT(cluster->Slipway({"status"}).out, HasSubstr("log shows     debug\n"));
  EXPECT_EQ(set({"default", "--fleet"}).out, "debug\n");
  EXPECT_TRUE(Eventually([&cluster] {
    return absl::StrContains(cluster->agent(0).Log(), "the log shows another level now=info");
  })) << cluster->agent(0).Log();
  EXPECT_OK(cluster->StopAll());
}

TEST(WatchingTest, AServerSaysWhereItsMetricsAreRead) {
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<Cluster> cluster,
      Cluster::Start({.agents = 1, .server_flags = {"--metrics-listen", "127.0.0.1:0"}}));
  const std::string log = cluster->server().Log();
  const std::string before = "metrics are served address=";
  const size_t at = log.find(before);
  ASSERT_NE(at, std::string::npos) << log;
  const std::string address =
      log.substr(at + before.size(), log.find('\n', at) - at - before.size());
  const std::string text = Ask(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(
      text, AllOf(HasSubstr("HTTP/1.1 200 OK"), HasSubstr("\nslipway_devices{state=\"idle\"} 1\n"),
                  HasSubstr("slipway_call_seconds_count{method=\"AgentService.Sync\"} ")));
  EXPECT_OK(cluster->StopAll());
}

}  // namespace
}  // namespace slipway::testing
