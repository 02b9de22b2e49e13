// The short form of fleet_load: what it finds out on a small fleet, and that nothing is left of it.
#include "tests/load/fleet_load.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

class FleetLoadTest : public ::testing::TestWithParam<FleetTransport> {};

TEST_P(FleetLoadTest, NothingIsLostOrDoubled) {
  ASSERT_OK_AND_ASSIGN(const FleetReport report, RunFleetLoad({.transport = GetParam(),
                                                               .agents = 50,
                                                               .clients = 4,
                                                               .jobs_per_second = 20,
                                                               .load = absl::Seconds(5),
                                                               .idle = absl::ZeroDuration()}));
  EXPECT_EQ(ReportExitCode(report), 0) << ReportText(report);
  EXPECT_EQ(report.agents_connected, 50);
  // A busy machine keeps no rate, but some jobs there are, and all of them end.
  EXPECT_GT(report.verdict.accepted, 0);
  EXPECT_EQ(report.verdict.finished, report.verdict.accepted) << ReportText(report);
  EXPECT_EQ(report.times.give.size(), static_cast<size_t>(report.verdict.accepted));
  EXPECT_FALSE(report.sync.empty());
  EXPECT_GT(report.peak_rss_mib, 0);
  EXPECT_GT(report.load_cpu, absl::ZeroDuration());
}

INSTANTIATE_TEST_SUITE_P(Transports, FleetLoadTest,
                         ::testing::Values(FleetTransport::kTls, FleetTransport::kUnix),
                         [](const auto& info) {
                           return std::string(FleetTransportName(info.param));
                         });

TEST(FleetLoadTest, AServerThatIsKilledLosesNothing) {
  ASSERT_OK_AND_ASSIGN(const FleetReport report, RunFleetLoad({.agents = 50,
                                                               .clients = 4,
                                                               .jobs_per_second = 20,
                                                               .load = absl::Seconds(5),
                                                               .idle = absl::ZeroDuration(),
                                                               .restart_after = absl::Seconds(1)}));
  EXPECT_EQ(ReportExitCode(report), 0) << ReportText(report);
  EXPECT_TRUE(report.recovered.has_value());
  EXPECT_EQ(report.verdict.finished, report.verdict.accepted) << ReportText(report);
}

TEST(FleetLoadTest, ItCanBeStopped) {
  absl::Notification stop;
  const absl::StatusOr<FleetReport> report = RunFleetLoad({.agents = 5,
                                                           .jobs_per_second = 5,
                                                           .load = absl::Hours(1),
                                                           .tell =
                                                               [&stop](absl::string_view what) {
                                                                 if (what == "asks for jobs")
                                                                   stop.Notify();
                                                               },
                                                           .stop = &stop});
  EXPECT_THAT(report, StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace slipway::testing
