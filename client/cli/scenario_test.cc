// Scenarios: what is typed, and what is shown.
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "client/cli/exit_code.h"
#include "client/cli/render_scenario.h"
#include "client/cli/scenario_flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<std::optional<Scenario>> Read(const std::vector<std::string>& arguments) {
  FlagSet flags("test", "");
  ScenarioFlags scenario;
  scenario.AddTo(flags);
  const auto parsed = flags.Parse(arguments);
  if (!parsed.ok()) return parsed.status();
  return scenario.Read(flags);
}

TEST(ScenarioFlags, SayHowCallsCome) {
  ASSERT_OK_AND_ASSIGN(const auto none, Read({}));
  EXPECT_FALSE(none.has_value());
  ASSERT_OK_AND_ASSIGN(const auto multi, Read({"--scenario", "multi-stream", "--calls", "4"}));
  EXPECT_EQ(multi->kind, ScenarioKind::kMultiStream);
  EXPECT_EQ(multi->calls_per_query, 4);
  EXPECT_EQ(multi->instances, 0);
  ASSERT_OK_AND_ASSIGN(const auto offline, Read({"--scenario=offline", "--instances=3"}));
  EXPECT_EQ(offline->kind, ScenarioKind::kOffline);
  EXPECT_EQ(offline->instances, 3);
  ASSERT_OK_AND_ASSIGN(const auto server, Read({"--scenario=server", "--qps=0.5",
                                                "--latency-bound=20ms", "--percentile=99.9%"}));
  EXPECT_EQ(server->kind, ScenarioKind::kServer);
  EXPECT_EQ(server->qps, 0.5);
  EXPECT_EQ(server->latency_bound, absl::Milliseconds(20));
  EXPECT_DOUBLE_EQ(server->percentile, 0.999);
  ASSERT_OK_AND_ASSIGN(const auto search,
                       Read({"--scenario=server", "--find-qps", "--latency-bound=20ms"}));
  EXPECT_TRUE(search->find_qps);
  EXPECT_EQ(search->qps, 0);
  EXPECT_EQ(search->percentile, 0.99);
}

TEST(ScenarioFlags, RefuseWhatTheyCannotBe) {
  using Arguments = std::vector<std::string>;
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"--scenario=sever"}, "single-stream, multi-stream, offline or server, not \"sever\""},
      {{"--scenario="}, "--scenario"},
      {{"--scenario=server"}, "--qps N"},
      {{"--scenario=server", "--qps=0"}, "0.001 to 1000000, not \"0\""},
      {{"--scenario=server", "--qps=-3"}, "not \"-3\""},
      {{"--scenario=server", "--qps=nan"}, "not \"nan\""},
      {{"--scenario=server", "--qps=inf"}, "not \"inf\""},
      {{"--scenario=server", "--qps=1e7"}, "not \"1e7\""},
      {{"--scenario=server", "--qps=ten"}, "not \"ten\""},
      {{"--scenario=server", "--qps=1", "--latency-bound=0"}, "above 0"},
      {{"--scenario=server", "--qps=1", "--latency-bound=2h"}, "at most 1h"},
      {{"--scenario=server", "--qps=1", "--percentile=100%"}, "percentile"},
      {{"--scenario=server", "--qps=1", "--percentile=0%"}, "percentile"},
      {{"--scenario=server", "--find-qps"}, "--latency-bound TIME"},
      {{"--scenario=offline", "--qps=1"}, "\"--qps\" is for \"--scenario server\""},
      {{"--scenario=server", "--qps=1", "--calls=2"}, "is for \"--scenario multi-stream\""},
      {{"--qps=1"}, "is for \"--scenario server\""},
      {{"--instances=2"}, "several calls at once"},
      {{"--scenario=single-stream", "--instances=2"}, "several calls at once"},
  };
  for (const auto& [arguments, says] : cases) {
    const absl::Status status = Read(arguments).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(says)))
        << absl::StrJoin(arguments, " ");
    EXPECT_EQ(ExitCodeOf(status), ExitCode::kWrongCall);
  }
}

TEST(DefaultSamples, AreEnoughForThePercentile) {
  EXPECT_EQ(DefaultSamples(std::nullopt), 100);
  Scenario server = {.kind = ScenarioKind::kServer, .qps = 200, .percentile = 0.99};
  EXPECT_EQ(DefaultSamples(server), 2000);
  server.qps = 1;
  EXPECT_EQ(DefaultSamples(server), 736);
  server.qps = 1e6;
  EXPECT_EQ(DefaultSamples(server), 100'000);
  server.find_qps = true;
  EXPECT_EQ(DefaultSamples(server), 1840);
  server.percentile = 0.999999;
  EXPECT_EQ(DefaultSamples(server), 100'000);
}

BenchmarkResult ServerResult() {
  BenchmarkResult result;
  result.device = "board";
  for (int64_t i = 0; i < 1000; ++i) result.samples_ns.push_back(1'000'000 + i * 7919 % 1000);
  result.scenario = {.scenario = {.kind = ScenarioKind::kServer,
                                  .instances = 2,
                                  .qps = 50,
                                  .latency_bound = absl::Milliseconds(20),
                                  .percentile = 0.95},
                     .duration = absl::Seconds(20.4),
                     .calls = 1000,
                     .verdict = BoundVerdict::kMet};
  return result;
}

TEST(CheckScenarioTaken, RefusesWhatWasMeasuredInstead) {
  BenchmarkResult result = ServerResult();
  EXPECT_OK(CheckScenarioTaken(std::nullopt, result));
  EXPECT_OK(CheckScenarioTaken(result.scenario->scenario, result));
  const absl::Status other = CheckScenarioTaken(Scenario{.kind = ScenarioKind::kOffline}, result);
  EXPECT_THAT(other,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("update the agent")));
  EXPECT_EQ(ExitCodeOf(other), ExitCode::kWorkFailed);
  result.scenario.reset();
  EXPECT_THAT(CheckScenarioTaken(ServerResult().scenario->scenario, result),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(RenderScenario, TellsOfAServer) {
  BenchmarkResult result = ServerResult();
  EXPECT_EQ(SamplesText(result), "1000 queries");
  EXPECT_THAT(ScenarioRows(result),
              ElementsAre(ElementsAre("scenario", "server, 2 instances"),
                          ElementsAre("queries a second", "50.00 asked, 49.02 achieved")));
  EXPECT_EQ(ScenarioPercentile(result), "p95");
  EXPECT_EQ(ScenarioVerdict(result), "met: p95 within 20.0 ms at 50.00 queries a second\n");
  result.scenario->verdict = BoundVerdict::kUndecided;
  EXPECT_THAT(ScenarioVerdict(result), HasSubstr("undecided: p95"));
  result.scenario->verdict = BoundVerdict::kMissed;
  result.scenario->scenario.find_qps = true;
  result.scenario->trials = {{100, absl::Milliseconds(30), BoundVerdict::kMissed},
                             {50, absl::Milliseconds(25), BoundVerdict::kMissed}};
  EXPECT_EQ(ScenarioVerdict(result),
            "\n  QUERIES/S      p95  BOUND\n        100  30.0 ms  missed\n"
            "      50.00  25.0 ms  missed\n\n"
            "missed: p95 within 20.0 ms at 50.00 queries a second, and at every other rate\n");
}

TEST(RenderScenario, TellsOfCallsAtOnce) {
  BenchmarkResult result = ServerResult();
  result.scenario->verdict.reset();
  result.scenario->scenario = {
      .kind = ScenarioKind::kMultiStream, .instances = 1, .calls_per_query = 8};
  result.scenario->calls = 8000;
  EXPECT_EQ(SamplesText(result), "1000 queries of 8 calls");
  EXPECT_THAT(ScenarioRows(result), ElementsAre(ElementsAre("scenario", "multi-stream, 1 instance"),
                                                ElementsAre("calls a second", "392")));
  EXPECT_TRUE(HasTimes(result));
  EXPECT_EQ(ScenarioVerdict(result), "");
  result.scenario->scenario.kind = ScenarioKind::kOffline;
  result.iterations_per_sample = 8;
  for (size_t i = 0; i < 1000; ++i) result.samples_ns[i] = static_cast<int64_t>(i + 1) * 20'400'000;
  EXPECT_EQ(SamplesText(result), "1000 of 8 calls");
  EXPECT_FALSE(HasTimes(result));
  EXPECT_THAT(ScenarioRows(result)[1][1], StartsWith("392"));
}

TEST(RenderScenario, IsJson) {
  JsonWriter json;
  json.BeginObject();
  BenchmarkResult result = ServerResult();
  ScenarioJson(json, result);
  json.EndObject();
  const std::string text = json.Take();
  for (const char* part : {"\"name\": \"server\"", "\"qps\": 50", "\"bound\": \"met\"",
                           "\"latency_bound_ns\": 20000000", "\"trials\": []"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace
}  // namespace slipway::cli
