#include "server/jobs/live_jobs.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using v1::Job;

constexpr int64_t kSecond = 1'000'000'000;

JobRecord Compilation(const std::string& id, const std::string& group, int64_t queue_seconds = 10) {
  JobRecord record;
  record.mutable_job()->set_id(id);
  record.mutable_job()->set_state(Job::QUEUED);
  record.mutable_job()->set_owner("ann");
  record.mutable_job()->mutable_compilation()->mutable_target()->set_name("x86-64-linux");
  record.mutable_job()->mutable_deadlines()->set_queue_ns(queue_seconds * kSecond);
  record.mutable_job()->mutable_deadlines()->set_run_ns(100 * kSecond);
  record.mutable_job()->mutable_deadlines()->set_total_ns(1'000 * kSecond);
  record.mutable_compilation()->set_group(group);
  return record;
}

JobRecord WithAttempt(JobRecord record, const std::string& attempt, const std::string& holder) {
  record.mutable_job()->set_state(Job::ASSIGNED);
  record.mutable_lease()->set_id(attempt);
  record.mutable_lease()->set_holder(holder);
  return record;
}

JobRecord Since(JobRecord record, int64_t seconds) {
  record.mutable_lease()->set_begin_time_ns(seconds * kSecond);
  return record;
}

JobRecord Ended(JobRecord record) {
  record.mutable_job()->set_state(Job::SUCCEEDED);
  record.clear_lease();
  return record;
}

TEST(LiveJobsTest, FindsJobsByQueueAttemptHolderAndGroup) {
  LiveJobs live;
  live.Put(Compilation("2", "g"));
  live.Put(Compilation("1", "g"));
  live.Put(Compilation("3", ""));
  JobRecord run;
  run.mutable_job()->set_id("4");
  run.mutable_job()->set_state(Job::QUEUED);
  run.mutable_job()->mutable_run();
  run.mutable_run()->set_target("x86-64-linux");
  live.Put(run);
  EXPECT_THAT(live.QueuedCompilations(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(live.waiting().size(), 4);
  const DeviceNeed& need = std::get<DeviceNeed>(*live.Find("4")->need);
  EXPECT_EQ(need.program.target.ToString(), "x86-64-linux");
  // A record of a server that knew version 1 alone.
  EXPECT_EQ(need.program.abi, 1u);
  EXPECT_EQ(need.program.format, 1u);
  EXPECT_EQ(live.CompilationsWanted(), 2);

  live.Put(WithAttempt(Compilation("1", "g"), "a", "worker/w"));
  live.Put(WithAttempt(Compilation("2", "g"), "a", "worker/w"));
  EXPECT_THAT(live.QueuedCompilations(), ElementsAre("3"));
  EXPECT_EQ(live.held().at("ann"), 2);
  EXPECT_THAT(live.JobsOfAttempt("a"), ElementsAre("1", "2"));
  EXPECT_THAT(live.AttemptsOf("worker/w"), ElementsAre("a"));
  EXPECT_THAT(live.JobsOfGroup("g"), ElementsAre("1", "2"));
  EXPECT_THAT(live.JobsOfGroup(""), IsEmpty());

  // The attempt stays its holder's as long as one job has it.
  live.Put(Ended(Compilation("1", "g")));
  EXPECT_EQ(live.Find("1"), nullptr);
  EXPECT_THAT(live.AttemptsOf("worker/w"), ElementsAre("a"));
  live.Put(Ended(Compilation("2", "g")));
  EXPECT_THAT(live.AttemptsOf("worker/w"), IsEmpty());
  EXPECT_THAT(live.Holders(), IsEmpty());
  EXPECT_EQ(live.CompilationsWanted(), 1);
  EXPECT_EQ(live.size(), 2);
  EXPECT_THAT(live.held(), IsEmpty());
}

TEST(LiveJobsTest, ACompilationNeedsTheCompilerItIsKeyedFor) {
  LiveJobs live;
  JobRecord record = Compilation("1", "g");
  for (const char* fingerprint : {"e", "f"}) {
    record.mutable_compilation()->set_fingerprint(fingerprint);
    live.Put(record);
    live.Release(absl::UnixEpoch());
    EXPECT_EQ(live.waiting().Pick(TargetFingerprints{{"x86-64-linux", fingerprint}}, live.held()),
              "1");
  }
  EXPECT_EQ(live.waiting().Pick(TargetFingerprints{{"x86-64-linux", "e"}}, live.held()),
            absl::nullopt);
}

TEST(LiveJobsTest, WhatNobodyCanBeAskedForWaitsForItsDeadline) {
  LiveJobs live;
  JobRecord record = Compilation("1", "g");
  record.mutable_job()->mutable_compilation()->mutable_target()->set_name("z80");
  live.Put(record);
  EXPECT_EQ(live.waiting().size(), 0);
  EXPECT_EQ(live.NextDeadline()->id, "1");
}

TEST(LiveJobsTest, CountsMemoryDownToNothing) {
  LiveJobs live;
  live.Put(Compilation("1", "g"));
  EXPECT_GT(live.size_bytes(), 0);
  const std::string owner = Compilation("1", "g").job().owner();
  EXPECT_EQ(live.bytes_of_owner(owner), live.size_bytes());
  EXPECT_EQ(live.bytes_of_owner("another"), 0);
  live.Put(WithAttempt(Compilation("1", "g"), "a", "worker/w"));
  live.Put(Ended(Compilation("1", "g")));
  EXPECT_EQ(live.size_bytes(), 0);
  EXPECT_EQ(live.bytes_of_owner(owner), 0);
  EXPECT_FALSE(live.NextDeadline().has_value());
}

TEST(LiveJobsTest, TheNextDeadlineAndTheNextDelayedJob) {
  LiveJobs live;
  live.Put(Compilation("1", "", 20));
  live.Put(Compilation("2", "", 10));
  EXPECT_EQ(live.NextDeadline()->id, "2");
  EXPECT_EQ(live.NextDeadline()->time, absl::FromUnixSeconds(10));
  JobRecord delayed = Compilation("2", "", 30);
  delayed.set_not_before_ns(5 * kSecond);
  live.Put(delayed);
  EXPECT_EQ(live.NextDeadline()->id, "1");
  live.Release(absl::FromUnixSeconds(4));
  EXPECT_EQ(live.waiting().NextRelease(), absl::FromUnixSeconds(5));
  live.Put(WithAttempt(delayed, "a", "worker/w"));
  EXPECT_EQ(live.waiting().NextRelease(), absl::nullopt);
}

TEST(LiveJobsTest, KnowsWhatAnOwnersJobsHoldAndHaveHeld) {
  const auto time = [](const LiveJobs& live, int64_t now, HeldKind kind = HeldKind::kWorker) {
    return live.HeldTime("ann", kind, absl::FromUnixSeconds(now));
  };
  LiveJobs live;
  EXPECT_EQ(time(live, 100), absl::ZeroDuration());
  live.Put(Since(WithAttempt(Compilation("a", ""), "1", "worker/w"), 90));
  live.Put(Since(WithAttempt(Compilation("b", ""), "2", "worker/w"), 80));
  EXPECT_EQ(time(live, 100), absl::Seconds(30));
  EXPECT_EQ(time(live, 110), absl::Seconds(50));
  EXPECT_EQ(time(live, 110, HeldKind::kDevice), absl::ZeroDuration());
  EXPECT_EQ(live.HeldTime("bob", HeldKind::kWorker, absl::FromUnixSeconds(110)),
            absl::ZeroDuration());
  JobRecord again = Compilation("b", "");
  again.set_held_ns(40 * kSecond);
  live.Put(again);
  EXPECT_EQ(time(live, 120), absl::Seconds(70));
  // The clock was set back.
  EXPECT_EQ(time(live, 10), absl::Seconds(40));
  live.Put(Ended(again));
  live.Put(Ended(Compilation("a", "")));
  EXPECT_EQ(time(live, 200), absl::ZeroDuration());
}

}  // namespace
}  // namespace slipway::server
