#include "server/jobs/job_state.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using v1::Job;

const absl::Time kNow = absl::FromUnixSeconds(1'767'225'600);

JobRecord RecordIn(Job::State state) {
  JobRecord record;
  Job& job = *record.mutable_job();
  job.set_id("01JAAAAAAAAAAAAAAAAAAAAAAA");
  job.set_state(state);
  job.mutable_compilation()->mutable_target()->set_name("x86-64-linux");
  job.mutable_deadlines()->set_queue_ns(1'000'000'000);
  job.mutable_deadlines()->set_run_ns(2'000'000'000);
  job.mutable_deadlines()->set_total_ns(10'000'000'000);
  job.set_create_time_ns(absl::ToUnixNanos(kNow));
  record.set_queued_time_ns(absl::ToUnixNanos(kNow));
  record.mutable_compilation();
  if (state == Job::ASSIGNED || state == Job::RUNNING) {
    record.mutable_lease()->set_id("a1");
    record.mutable_lease()->set_begin_time_ns(absl::ToUnixNanos(kNow));
    job.set_assignee("worker-1");
    job.set_attempts(1);
  }
  return record;
}

v1::JobError Error(absl::StatusCode code, const std::string& message) {
  v1::JobError error;
  error.set_code(static_cast<int>(code));
  error.set_message(message);
  return error;
}

// One event of every kind, in the order of JobEvent.
std::vector<JobEvent> AllEvents() {
  Lease lease;
  lease.set_id("a1");
  return {Assigned{.attempt_id = "a1"},
          Joined{.lease = lease},
          Started{"a1"},
          Progressed{"a1", {}},
          AttemptSucceeded{"a1", v1::CompilationResult()},
          AttemptFailed{"a1", Error(absl::StatusCode::kInvalidArgument, "bad model"), false},
          AttemptLost{"a1", "gone", true},
          FoundInCache{},
          Rekeyed{},
          DeadlinePassed{DeadlineKind::kTotal},
          CancelRequested{},
          GivenUp{Error(absl::StatusCode::kUnavailable, "no compiler")}};
}

// What job.proto's picture says, written down a second time: the state after each event that may come.
TEST(JobStateTest, EveryPairOfStateAndEvent) {
  const std::map<std::pair<Job::State, std::string>, Job::State> legal = {
      {{Job::QUEUED, "assigned"}, Job::ASSIGNED},
      {{Job::QUEUED, "joined"}, Job::ASSIGNED},
      {{Job::QUEUED, "found in cache"}, Job::SUCCEEDED},
      {{Job::QUEUED, "rekeyed"}, Job::QUEUED},
      {{Job::QUEUED, "deadline passed"}, Job::FAILED},
      {{Job::QUEUED, "cancel requested"}, Job::CANCELLED},
      {{Job::QUEUED, "given up"}, Job::FAILED},
      {{Job::ASSIGNED, "started"}, Job::RUNNING},
      {{Job::ASSIGNED, "progressed"}, Job::RUNNING},
      {{Job::ASSIGNED, "attempt succeeded"}, Job::SUCCEEDED},
      {{Job::ASSIGNED, "attempt failed"}, Job::FAILED},
      {{Job::ASSIGNED, "attempt lost"}, Job::QUEUED},
      {{Job::ASSIGNED, "deadline passed"}, Job::FAILED},
      {{Job::ASSIGNED, "cancel requested"}, Job::CANCELLED},
      {{Job::RUNNING, "started"}, Job::RUNNING},
      {{Job::RUNNING, "progressed"}, Job::RUNNING},
      {{Job::RUNNING, "attempt succeeded"}, Job::SUCCEEDED},
      {{Job::RUNNING, "attempt failed"}, Job::FAILED},
      {{Job::RUNNING, "attempt lost"}, Job::QUEUED},
      {{Job::RUNNING, "deadline passed"}, Job::FAILED},
      {{Job::RUNNING, "cancel requested"}, Job::CANCELLED},
      {{Job::SUCCEEDED, "deadline passed"}, Job::SUCCEEDED},
      {{Job::SUCCEEDED, "cancel requested"}, Job::SUCCEEDED},
      {{Job::FAILED, "deadline passed"}, Job::FAILED},
      {{Job::FAILED, "cancel requested"}, Job::FAILED},
      {{Job::CANCELLED, "deadline passed"}, Job::CANCELLED},
      {{Job::CANCELLED, "cancel requested"}, Job::CANCELLED},
  };
  const std::vector<JobEvent> events = AllEvents();
  ASSERT_EQ(events.size(), static_cast<size_t>(kJobEventKinds));
  std::set<std::string> names;
  for (int state = Job::State_MIN; state <= Job::State_MAX; ++state) {
    for (size_t event = 0; event < events.size(); ++event) {
      ASSERT_EQ(events[event].index(), event);
      const auto from = static_cast<Job::State>(state);
      const std::string name(EventName(event));
      names.insert(name);
      SCOPED_TRACE(StateName(from) + " " + name);
      const absl::StatusOr<JobRecord> after = Apply(RecordIn(from), events[event], kNow);
      const auto expected = legal.find({from, name});
      if (expected == legal.end()) {
        EXPECT_THAT(after, StatusIs(absl::StatusCode::kFailedPrecondition));
        EXPECT_EQ(RuleFor(from, event), Rule::kIllegal);
      } else {
        ASSERT_OK(after);
        EXPECT_EQ(after->job().state(), expected->second);
        EXPECT_EQ(after->has_lease(),
                  expected->second == Job::ASSIGNED || expected->second == Job::RUNNING);
        EXPECT_EQ(after->job().end_time_ns() != 0,
                  IsTerminal(expected->second) && !IsTerminal(from));
      }
    }
  }
  EXPECT_EQ(names.size(), events.size());
}

TEST(JobStateTest, AGivenUpJobKeepsWhy) {
  v1::JobError error = Error(absl::StatusCode::kUnavailable, "no compiler");
  error.set_log_tail("no library");
  const JobRecord record = *Apply(RecordIn(Job::QUEUED), GivenUp{error}, kNow);
  EXPECT_EQ(record.job().error().SerializeAsString(), error.SerializeAsString());
}

TEST(JobStateTest, EventsOfAnotherAttemptAreDropped) {
  for (const JobEvent& event :
       {JobEvent(Started{"a0"}), JobEvent(Progressed{"a0", {}}),
        JobEvent(AttemptSucceeded{"a0", v1::CompilationResult()}),
        JobEvent(AttemptFailed{"a0", {}, true}), JobEvent(AttemptLost{"a0", "", true})}) {
    EXPECT_THAT(Apply(RecordIn(Job::RUNNING), event, kNow), StatusIs(absl::StatusCode::kAborted));
  }
}

TEST(JobStateTest, AClientsSilenceIsCountedFromWhenItWasHeardLast) {
  const absl::Time later = kNow + absl::Minutes(5);
  Progressed progressed{"a1", {}};
  progressed.progress.set_silent_ns(2'000'000'000);
  JobRecord record = *Apply(RecordIn(Job::RUNNING), progressed, later);
  EXPECT_EQ(absl::FromUnixNanos(record.lease().silent_since_ns()), later - absl::Seconds(2));
  // Before its session there was nothing to be heard.
  progressed.progress.set_silent_ns(INT64_MAX);
  record = *Apply(record, progressed, later);
  EXPECT_EQ(absl::FromUnixNanos(record.lease().silent_since_ns()), kNow);
  for (const int64_t heard : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    progressed.progress.set_silent_ns(heard);
    EXPECT_EQ(Apply(record, progressed, later)->lease().silent_since_ns(), 0);
  }
}

TEST(JobStateTest, AResultOfAnotherKindIsRefused) {
  EXPECT_THAT(Apply(RecordIn(Job::RUNNING), AttemptSucceeded{"a1", v1::RunResult()}, kNow),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(JobStateTest, LostAttemptsWaitLongerAndEndAfterThree) {
  JobRecord record = RecordIn(Job::QUEUED);
  absl::Duration wait = kFirstBackoff;
  for (int attempt = 1; attempt <= kMaxAttempts; ++attempt) {
    const std::string id = "a" + std::to_string(attempt);
    record = *Apply(record, Assigned{.attempt_id = id}, kNow);
    EXPECT_EQ(record.job().attempts(), attempt);
    record = *Apply(record, AttemptLost{id, "worker 'w' was silent", true}, kNow);
    if (attempt == kMaxAttempts) break;
    EXPECT_EQ(record.job().state(), Job::QUEUED);
    EXPECT_EQ(absl::FromUnixNanos(record.not_before_ns()) - kNow, wait);
    wait *= kBackoffFactor;
  }
  EXPECT_EQ(record.job().state(), Job::FAILED);
  EXPECT_EQ(record.job().error().code(), static_cast<int>(absl::StatusCode::kAborted));
  EXPECT_EQ(record.job().error().message(), "worker 'w' was silent; given up after 3 attempts");
}

TEST(JobStateTest, AnAttemptTheServerSpoiltDoesNotCount) {
  const JobRecord record =
      *Apply(RecordIn(Job::RUNNING), AttemptLost{"a1", "restart", false}, kNow);
  EXPECT_EQ(record.job().state(), Job::QUEUED);
  EXPECT_EQ(record.job().attempts(), 0);
  EXPECT_EQ(record.not_before_ns(), absl::ToUnixNanos(kNow));
}

TEST(JobStateTest, ARetriableFailureIsTriedAgainAndKeepsItsErrorAtTheEnd) {
  JobRecord record = RecordIn(Job::RUNNING);
  const v1::JobError error = Error(absl::StatusCode::kResourceExhausted, "the disk is full");
  record = *Apply(record, AttemptFailed{"a1", error, true}, kNow);
  EXPECT_EQ(record.job().state(), Job::QUEUED);
  EXPECT_FALSE(record.job().has_error());
  record = *Apply(record, Assigned{.attempt_id = "a2"}, kNow);
  record = *Apply(record, AttemptFailed{"a2", error, true}, kNow);
  record = *Apply(record, Assigned{.attempt_id = "a3"}, kNow);
  record = *Apply(record, AttemptFailed{"a3", error, true}, kNow);
  EXPECT_EQ(record.job().state(), Job::FAILED);
  EXPECT_EQ(record.job().error().code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
}

TEST(JobStateTest, DeadlineOfTakesTheNearest) {
  JobRecord record = RecordIn(Job::QUEUED);
  EXPECT_EQ(DeadlineOf(record)->kind, DeadlineKind::kQueue);
  EXPECT_EQ(DeadlineOf(record)->time, kNow + absl::Seconds(1));
  record = RecordIn(Job::RUNNING);
  EXPECT_EQ(DeadlineOf(record)->kind, DeadlineKind::kRun);
  EXPECT_EQ(DeadlineOf(record)->time, kNow + absl::Seconds(2) + kRunDeadlineGrace);
  record.mutable_job()->mutable_deadlines()->set_total_ns(1'500'000'000);
  EXPECT_EQ(DeadlineOf(record)->kind, DeadlineKind::kTotal);
  EXPECT_EQ(DeadlineOf(record)->time, kNow + absl::Milliseconds(1'500));
  EXPECT_FALSE(DeadlineOf(RecordIn(Job::CANCELLED)).has_value());
}

TEST(JobStateTest, APassedDeadlineSaysWhich) {
  const JobRecord record = *Apply(RecordIn(Job::RUNNING), DeadlinePassed{DeadlineKind::kRun}, kNow);
  EXPECT_EQ(record.job().error().code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(record.job().error().message(), "'worker-1' did not end within the run deadline of 2s");
}

}  // namespace
}  // namespace slipway::server
