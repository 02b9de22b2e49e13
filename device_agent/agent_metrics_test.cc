#include "device_agent/agent_metrics.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AgentMetricsTest, ShowWhatTheAgentIsDoing) {
  AgentTally tally;
  const auto text = [&tally](absl::Duration now) {
    return absl::StrCat("\n", RenderMetrics(AgentMetrics(tally, now)));
  };
  EXPECT_THAT(text(absl::Seconds(1)), Not(HasSubstr("silent")));
  v1::RunAssignment run;
  run.mutable_run();
  v1::RunAssignment session;
  session.mutable_session();
  tally.Begun();
  EXPECT_THAT(text(absl::Seconds(1)), HasSubstr("\nslipway_agent_busy 1\n"));
  tally.Ended(run, v1::RunAttemptState::SUCCEEDED, absl::Milliseconds(50));
  tally.Ended(session, v1::RunAttemptState::STOPPED, absl::Seconds(90));
  tally.Synced(absl::OkStatus(), absl::Seconds(10));
  tally.Synced(absl::UnavailableError("away"), absl::Seconds(12));
  // The agent has said something else meanwhile.
  tally.Synced(absl::CancelledError("stale"), absl::Seconds(13));
  for (const char* const line :
       {"slipway_agent_busy 0", "slipway_agent_server_silent_seconds 5",
        "slipway_agent_syncs_total{code=\"OK\"} 1",
        "slipway_agent_syncs_total{code=\"UNAVAILABLE\"} 1",
        "slipway_agent_attempts_ended_total{kind=\"run\",end=\"succeeded\"} 1",
        "slipway_agent_attempts_ended_total{kind=\"run\",end=\"failed\"} 0",
        "slipway_agent_attempts_ended_total{kind=\"session\",end=\"stopped\"} 1",
        "slipway_agent_attempt_seconds_bucket{kind=\"run\",le=\"0.02\"} 0",
        "slipway_agent_attempt_seconds_bucket{kind=\"run\",le=\"0.1\"} 1",
        "slipway_agent_attempt_seconds_sum{kind=\"session\"} 90"}) {
    EXPECT_THAT(text(absl::Seconds(15)), HasSubstr(absl::StrCat("\n", line, "\n")));
  }
  EXPECT_THAT(text(absl::Seconds(15)), Not(HasSubstr("CANCELLED")));
}

}  // namespace
}  // namespace slipway
