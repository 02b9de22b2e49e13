// What every JobStore must do, as tests: each implementation instantiates the suite with a factory.
#ifndef SLIPWAY_SERVER_JOBS_JOB_STORE_TEST_SUITE_H_
#define SLIPWAY_SERVER_JOBS_JOB_STORE_TEST_SUITE_H_

#include <functional>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/jobs/job_store.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {

// A store that can be closed and opened again without losing anything.
class JobStoreFixture {
 public:
  virtual ~JobStoreFixture() = default;
  // Opens the store, the first time an empty one; an earlier one has been destroyed.
  virtual std::unique_ptr<JobStore> Open() = 0;
};

using MakeJobStoreFixture = std::function<std::unique_ptr<JobStoreFixture>()>;

class JobStoreTest : public ::testing::TestWithParam<MakeJobStoreFixture> {
 protected:
  JobStoreTest() : fixture_(GetParam()()), store_(fixture_->Open()) {}

  void Reopen() {
    store_.reset();
    store_ = fixture_->Open();
  }

  static JobRecord NewRun(int number) {
    JobRecord record;
    v1::Job& job = *record.mutable_job();
    const std::string digits = std::to_string(number);
    job.set_id("01JAAAAAAAAAAAAAAAAAAAA" + std::string(3 - digits.size(), '0') + digits);
    job.set_owner("local");
    job.set_request_id("request " + digits);
    job.set_state(v1::Job::QUEUED);
    job.set_create_time_ns(1'000 + number);
    v1::Tensor& input = *job.mutable_run()->add_inputs();
    input.set_name("x");
    input.set_inline_data(std::string("\0\1\2\3", 4));
    record.set_work_digest("work " + digits);
    record.mutable_run()->set_target("x86-64-linux");
    return record;
  }

  const absl::Time now_ = absl::FromUnixSeconds(1'767'225'600);
  const std::unique_ptr<JobStoreFixture> fixture_;
  std::unique_ptr<JobStore> store_;
};

using slipway::testing::StatusIs;

TEST_P(JobStoreTest, KeepsWhatWasCreated) {
  const JobStore::Created created = *store_->Create(NewRun(1));
  EXPECT_FALSE(created.existed);
  EXPECT_GT(created.record.job().revision(), 0);
  Reopen();
  const absl::StatusOr<JobRecord> read = store_->Get(created.record.job().id());
  ASSERT_OK(read);
  EXPECT_EQ(read->SerializeAsString(), created.record.SerializeAsString());
}

TEST_P(JobStoreTest, GetOfAnUnknownJob) {
  EXPECT_THAT(store_->Get("01JAAAAAAAAAAAAAAAAAAAAAAA"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(JobStoreTest, TheSameRequestMakesOneJob) {
  const JobStore::Created first = *store_->Create(NewRun(1));
  JobRecord again = NewRun(2);
  again.mutable_job()->set_request_id("request 1");
  again.set_work_digest("work 1");
  const JobStore::Created second = *store_->Create(again);
  EXPECT_TRUE(second.existed);
  EXPECT_EQ(second.record.job().id(), first.record.job().id());
  again.set_work_digest("other work");
  EXPECT_THAT(store_->Create(again), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(store_->Get(again.job().id()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ((*store_->FindRequest("local", "request 1"))->job().id(), first.record.job().id());
  EXPECT_FALSE(store_->FindRequest("local", "request 2")->has_value());
  EXPECT_FALSE(store_->FindRequest("somebody", "request 1")->has_value());
}

TEST_P(JobStoreTest, TransitionsRaiseTheRevisionAndLast) {
  JobRecord record = store_->Create(NewRun(1))->record;
  const JobRecord other = store_->Create(NewRun(2))->record;
  EXPECT_GT(other.job().revision(), record.job().revision());
  record = *store_->Transition(record, Assigned{.attempt_id = "a1", .assignee = "d"}, now_);
  EXPECT_GT(record.job().revision(), other.job().revision());
  v1::RunResult result;
  result.set_device("d");
  record = *store_->Transition(record, AttemptSucceeded{"a1", result}, now_);
  Reopen();
  const JobRecord read = *store_->Get(record.job().id());
  EXPECT_EQ(read.SerializeAsString(), record.SerializeAsString());
  EXPECT_EQ(read.job().run_result().device(), "d");
  EXPECT_EQ(read.job().run().inputs(0).inline_data().size(), 4u);
}

TEST_P(JobStoreTest, RevisionsRiseOverRestarts) {
  const int64_t before = store_->Create(NewRun(1))->record.job().revision();
  Reopen();
  EXPECT_GT(store_->Create(NewRun(2))->record.job().revision(), before);
}

TEST_P(JobStoreTest, RevisionsRiseWhenTheNewestJobIsForgotten) {
  JobRecord record = store_->Create(NewRun(1))->record;
  record = *store_->Transition(record, CancelRequested{}, now_);
  EXPECT_EQ(*store_->DeleteEndedBefore(now_ + absl::Seconds(1)), 1);
  Reopen();
  EXPECT_GT(store_->Create(NewRun(2))->record.job().revision(), record.job().revision());
}

TEST_P(JobStoreTest, ATransitionOfAnOldRecordIsRefused) {
  const JobRecord old = store_->Create(NewRun(1))->record;
  const JobRecord assigned = *store_->Transition(old, Assigned{.attempt_id = "a1"}, now_);
  EXPECT_THAT(store_->Transition(old, Assigned{.attempt_id = "a2"}, now_),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(store_->Get(old.job().id())->attempt().id(), "a1");
}

TEST_P(JobStoreTest, AnEventWithoutEffectChangesNothing) {
  JobRecord record = store_->Create(NewRun(1))->record;
  record = *store_->Transition(record, CancelRequested{}, now_);
  const JobRecord again = *store_->Transition(record, CancelRequested{}, now_ + absl::Seconds(9));
  EXPECT_EQ(again.SerializeAsString(), record.SerializeAsString());
}

TEST_P(JobStoreTest, AnIllegalEventChangesNothing) {
  const JobRecord record = store_->Create(NewRun(1))->record;
  EXPECT_THAT(store_->Transition(record, Started{"a1"}, now_),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(store_->Get(record.job().id())->SerializeAsString(), record.SerializeAsString());
}

TEST_P(JobStoreTest, ListsNewestFirstInPagesWithoutContents) {
  for (int i = 1; i <= 5; ++i) ASSERT_OK(store_->Create(NewRun(i)));
  const std::vector<v1::Job> page = *store_->List({.owner = "local"}, 2);
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[0].request_id(), "request 5");
  EXPECT_EQ(page[0].run().inputs(0).name(), "x");
  EXPECT_FALSE(page[0].run().inputs(0).has_inline_data());
  const std::vector<v1::Job> next = *store_->List({.owner = "local", .before_id = page[1].id()}, 9);
  ASSERT_EQ(next.size(), 3u);
  EXPECT_EQ(next[0].request_id(), "request 3");
  EXPECT_TRUE(store_->List({.owner = "somebody"}, 9)->empty());
}

TEST_P(JobStoreTest, ListsByState) {
  JobRecord record = store_->Create(NewRun(1))->record;
  ASSERT_OK(store_->Create(NewRun(2)));
  ASSERT_OK(store_->Transition(record, CancelRequested{}, now_));
  const std::vector<v1::Job> cancelled =
      *store_->List({.owner = "local", .states = {v1::Job::CANCELLED, v1::Job::FAILED}}, 9);
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled[0].request_id(), "request 1");
}

TEST_P(JobStoreTest, ListsLiveJobsOldestFirst) {
  for (int i = 1; i <= 3; ++i) ASSERT_OK(store_->Create(NewRun(i)));
  const JobRecord second = (*store_->ListLive())[1];
  ASSERT_OK(store_->Transition(second, CancelRequested{}, now_));
  Reopen();
  const std::vector<JobRecord> live = *store_->ListLive();
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0].job().request_id(), "request 1");
  EXPECT_EQ(live[1].job().request_id(), "request 3");
  EXPECT_EQ(live[1].job().run().inputs(0).inline_data().size(), 4u);
}

TEST_P(JobStoreTest, ForgetsOnlyWhatEndedBefore) {
  const JobRecord live = store_->Create(NewRun(1))->record;
  const JobRecord old =
      *store_->Transition(store_->Create(NewRun(2))->record, CancelRequested{}, now_);
  const JobRecord fresh = *store_->Transition(store_->Create(NewRun(3))->record, CancelRequested{},
                                              now_ + absl::Hours(2));
  EXPECT_EQ(*store_->DeleteEndedBefore(now_ + absl::Hours(1)), 1);
  EXPECT_OK(store_->Get(live.job().id()));
  EXPECT_THAT(store_->Get(old.job().id()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_OK(store_->Get(fresh.job().id()));
  // The request is forgotten with its job.
  EXPECT_FALSE(store_->FindRequest("local", "request 2")->has_value());
}

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_STORE_TEST_SUITE_H_
