#include "tests/load/fleet_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/json.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<absl::Duration> Milliseconds(int count) {
  std::vector<absl::Duration> times;
  for (int i = 1; i <= count; ++i) times.push_back(absl::Milliseconds(i));
  return times;
}

FleetReport Report() {
  FleetReport report;
  report.transport = "tls";
  report.agents = 100;
  report.agents_connected = 99;
  report.wanted_jobs_per_second = 20;
  report.load = absl::Seconds(10);
  report.connect = absl::Seconds(2);
  report.verdict.asked = 160;
  report.verdict.accepted = 150;
  report.verdict.finished = 150;
  report.sync = Milliseconds(200);
  report.times.accept = Milliseconds(100);
  report.rss_mib = {40, 41};
  report.peak_rss_mib = 41;
  report.idle = absl::Seconds(5);
  report.idle_cpu = absl::Milliseconds(50);
  report.load_cpu = absl::Milliseconds(400);
  return report;
}

TEST(FleetReportTest, PercentilesAreOfThoseMeasured) {
  const std::vector<absl::Duration> times = Milliseconds(200);
  EXPECT_EQ(PercentileOf(times, 50), absl::Milliseconds(100));
  EXPECT_EQ(PercentileOf(times, 99), absl::Milliseconds(198));
  EXPECT_EQ(PercentileOf(times, 100), absl::Milliseconds(200));
  EXPECT_EQ(PercentileOf(times, 0), absl::Milliseconds(1));
  EXPECT_EQ(PercentileOf({}, 99), absl::ZeroDuration());
}

TEST(FleetReportTest, Json) {
  FleetReport report = Report();
  const Json json = Json::parse(ReportJson(report));
  EXPECT_EQ(json["accepted"], 150);
  EXPECT_EQ(json["finished"], 150);
  EXPECT_EQ(json["lost"], 0);
  EXPECT_EQ(json["doubled"], 0);
  EXPECT_EQ(json["jobs_per_second"], 15.0);
  EXPECT_EQ(json["sync_p99_ms"], 198.0);
  EXPECT_EQ(json["accept_p50_ms"], 50.0);
  EXPECT_EQ(json["server_rss_mib"], 41);
  EXPECT_EQ(json["server_rss_over_time_mib"], Json({40, 41}));
  // 10 ms a second are for idle agents, so that 300 ms are left for 150 jobs.
  EXPECT_DOUBLE_EQ(json["server_cpu_us_per_job"], 2000);
  EXPECT_DOUBLE_EQ(json["server_cpu_us_per_idle_agent_second"], 100);
  EXPECT_FALSE(json.contains("recovered_seconds"));
  report.recovered = absl::Seconds(3);
  EXPECT_EQ(Json::parse(ReportJson(report))["recovered_seconds"], 3.0);
}

TEST(FleetReportTest, Text) {
  FleetReport report = Report();
  EXPECT_THAT(ReportText(report), HasSubstr("99 of 100 agents over tls"));
  EXPECT_THAT(ReportText(report), HasSubstr("15.0 a second of 20.0 wanted"));
  EXPECT_THAT(ReportText(report), Not(HasSubstr("back")));
  report.recovered = absl::Seconds(3);
  report.verdict.complaints = {"lost: request 1"};
  EXPECT_THAT(ReportText(report), HasSubstr("all agents back 3.0 s"));
  EXPECT_THAT(ReportText(report), HasSubstr("lost: request 1\n"));
}

TEST(FleetReportTest, ExitCodes) {
  FleetReport report = Report();
  EXPECT_EQ(ReportExitCode(report), 0);
  report.verdict.unfinished = 3;  // The server was too slow, and has lost nothing.
  EXPECT_EQ(ReportExitCode(report), 0);
  report.verdict.lost = 1;
  EXPECT_EQ(ReportExitCode(report), 1);
  report.verdict.lost = 0;
  report.verdict.doubled = 1;
  EXPECT_EQ(ReportExitCode(report), 1);
  report.verdict.doubled = 0;
  report.has_recovered = false;
  EXPECT_EQ(ReportExitCode(report), 1);
}

}  // namespace
}  // namespace slipway::testing
