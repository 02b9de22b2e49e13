#include "server/jobs/job_tally.h"

#include <numeric>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/compile.pb.h"

namespace slipway::server {
namespace {

using v1::Job;

const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

JobRecord Queued() {
  JobRecord record;
  record.mutable_job()->mutable_run();
  record.mutable_job()->set_state(Job::QUEUED);
  record.set_queued_time_ns(absl::ToUnixNanos(kStart));
  return record;
}

JobRecord Held(Job::State state, absl::Time since) {
  JobRecord record = Queued();
  record.mutable_job()->set_state(state);
  record.mutable_lease()->set_id("attempt");
  record.mutable_lease()->set_begin_time_ns(absl::ToUnixNanos(since));
  return record;
}

int64_t CountOf(const DurationHistogram& histogram) {
  const HistogramCounts counts = histogram.Read();
  return std::accumulate(counts.counts.begin(), counts.counts.end(), int64_t{0});
}

TEST(JobTallyTest, CountsWaitAttemptAndEndOfAJob) {
  JobTally tally;
  tally.Accepted(Queued().job());
  const absl::Time given = kStart + absl::Seconds(3);
  tally.Moved(Queued(), Held(Job::ASSIGNED, given), given);
  tally.Moved(Held(Job::ASSIGNED, given), Held(Job::RUNNING, given), given + absl::Seconds(1));
  JobRecord ended = Queued();
  ended.mutable_job()->set_state(Job::SUCCEEDED);
  tally.Moved(Held(Job::RUNNING, given), ended, given + absl::Seconds(5));
  const JobTally::OfKind& runs = tally.of(v1::Job::RUN);
  EXPECT_EQ(runs.accepted, 1);
  EXPECT_EQ(CountOf(runs.waits), 1);
  EXPECT_NEAR(runs.waits.Read().sum, 3, 1e-9);
  EXPECT_EQ(CountOf(runs.attempts), 1);
  EXPECT_NEAR(runs.attempts.Read().sum, 5, 1e-9);
  EXPECT_EQ(runs.ended[0], 1);
  EXPECT_EQ(tally.of(v1::Job::BENCHMARK).accepted, 0);
}

TEST(JobTallyTest, AnAttemptThatWasLostCountsAndTheJobDoesNotEnd) {
  JobTally tally;
  const absl::Time given = kStart + absl::Seconds(1);
  JobRecord again = Queued();
  again.set_queued_time_ns(absl::ToUnixNanos(kStart + absl::Seconds(9)));
  tally.Moved(Held(Job::RUNNING, given), again, kStart + absl::Seconds(9));
  tally.Moved(again, Held(Job::ASSIGNED, kStart + absl::Seconds(10)), kStart + absl::Seconds(10));
  const JobTally::OfKind& runs = tally.of(v1::Job::RUN);
  EXPECT_NEAR(runs.attempts.Read().sum, 8, 1e-9);
  // Since it came into the queue again.
  EXPECT_NEAR(runs.waits.Read().sum, 1, 1e-9);
  EXPECT_EQ(runs.ended[0] + runs.ended[1] + runs.ended[2], 0);
}

TEST(JobTallyTest, AJobThatEndsWaitingHadNoAttempt) {
  JobTally tally;
  JobRecord cancelled = Queued();
  cancelled.mutable_job()->set_state(Job::CANCELLED);
  tally.Moved(Queued(), cancelled, kStart);
  EXPECT_EQ(tally.of(v1::Job::RUN).ended[2], 1);
  EXPECT_EQ(CountOf(tally.of(v1::Job::RUN).waits), 0);
  EXPECT_EQ(CountOf(tally.of(v1::Job::RUN).attempts), 0);
}

TEST(JobTallyTest, OneAnsweredByTheCacheEndsAtOnce) {
  JobTally tally;
  Job job;
  job.mutable_compilation();
  job.set_state(Job::SUCCEEDED);
  tally.Accepted(job);
  EXPECT_EQ(tally.of(v1::Job::COMPILATION).accepted, 1);
  EXPECT_EQ(tally.of(v1::Job::COMPILATION).ended[0], 1);
}

}  // namespace
}  // namespace slipway::server
