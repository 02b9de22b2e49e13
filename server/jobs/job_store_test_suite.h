// What every JobStore, DeviceStore, IdentityStore and HistoryStore must do, as tests: each implementation instantiates the suite with a factory.
// Nothing here asks for one process or a file: an implementation over a network runs it as it is.
#ifndef SLIPWAY_SERVER_JOBS_JOB_STORE_TEST_SUITE_H_
#define SLIPWAY_SERVER_JOBS_JOB_STORE_TEST_SUITE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/devices/device_store.h"
#include "server/history/history_entry.h"
#include "server/history/history_store.h"
#include "server/identities/identity_store.h"
#include "server/jobs/job_state.h"
#include "server/jobs/job_store.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {

// A server's view of what is stored.
struct Stores {
  std::shared_ptr<JobStore> jobs;
  std::shared_ptr<DeviceStore> devices;
  std::shared_ptr<IdentityStore> identities;
  std::shared_ptr<HistoryStore> history;
};

// What is stored, first nothing; it stays while nobody has it open.
class JobStoreFixture {
 public:
  virtual ~JobStoreFixture() = default;
  virtual Stores Open() = 0;
  // Whether it can be open twice at a time.
  virtual bool IsShared() const = 0;
};

using MakeJobStoreFixture = std::function<std::unique_ptr<JobStoreFixture>()>;

class JobStoreTest : public ::testing::TestWithParam<MakeJobStoreFixture> {
 protected:
  JobStoreTest() : fixture_(GetParam()()), stores_(fixture_->Open()) { Reserve(); }

  JobStore& store() { return *stores_.jobs; }

  void Reopen() {
    stores_ = {};
    stores_ = fixture_->Open();
    Reserve();
  }

  static JobRecord NewRun(int number, const std::string& owner = "local") {
    JobRecord record;
    v1::Job& job = *record.mutable_job();
    const std::string digits = std::to_string(number);
    job.set_id("01JAAAAAAAAAAAAAAAAAAAA" + std::string(3 - digits.size(), '0') + digits);
    job.set_owner(owner);
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

  // A new job as it is to be stored.
  JobStore::Change New(JobRecord record) {
    record.mutable_job()->set_revision(next_revision_++);
    return {.record = std::move(record), .replaces = 0};
  }
  // What becomes of `current`.
  JobStore::Change Next(const JobRecord& current, const JobEvent& event, absl::Time now) {
    JobRecord next = *Apply(current, event, now);
    next.mutable_job()->set_revision(next_revision_++);
    return {.record = std::move(next), .replaces = current.job().revision()};
  }
  JobStore::Change Next(const JobRecord& current, const JobEvent& event) {
    return Next(current, event, now_);
  }

  // Stores one change that must not be left out; the record stored.
  JobRecord Put(const JobStore::Change& change) {
    const auto outcomes = store().Commit({change});
    EXPECT_OK(outcomes);
    EXPECT_EQ(outcomes->size(), 1u);
    EXPECT_OK(outcomes->front().status);
    EXPECT_FALSE(outcomes->front().earlier.has_value());
    return change.record;
  }
  JobRecord PutNew(JobRecord record) { return Put(New(std::move(record))); }

  static std::vector<std::string> RequestsOf(const std::vector<v1::Job>& jobs) {
    std::vector<std::string> requests;
    for (const v1::Job& job : jobs) requests.push_back(job.request_id());
    return requests;
  }

  static constexpr int64_t kAnyBytes = int64_t{1} << 40;
  static PageLimits Limits(int items, int64_t bytes = kAnyBytes, int64_t rows = 1'000) {
    return {.items = items, .bytes = bytes, .rows = rows};
  }
  std::vector<v1::Job> ListAll(const JobFilter& filter) {
    JobPage page = *store().List(filter, Limits(9));
    EXPECT_EQ(page.next, "");
    return std::move(page.items);
  }

  const absl::Time now_ = absl::FromUnixSeconds(1'767'225'600);
  const std::unique_ptr<JobStoreFixture> fixture_;
  Stores stores_;
  int64_t next_revision_ = 0;

 private:
  void Reserve() { next_revision_ = *store().ReserveRevisions(1'000); }
};

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(JobStoreTest, KeepsWhatWasCreated) {
  const JobRecord created = PutNew(NewRun(1));
  Reopen();
  const absl::StatusOr<JobRecord> read = store().Get(created.job().id());
  ASSERT_OK(read);
  EXPECT_EQ(read->SerializeAsString(), created.SerializeAsString());
}

TEST_P(JobStoreTest, KeepsAJobThatIsNewAndHasEnded) {
  JobRecord record = NewRun(1);
  record.mutable_job()->set_state(v1::Job::SUCCEEDED);
  record.mutable_job()->mutable_run_result()->set_device("d");
  record = PutNew(record);
  Reopen();
  EXPECT_EQ(store().Get(record.job().id())->SerializeAsString(), record.SerializeAsString());
  EXPECT_THAT(*store().ListLive(), IsEmpty());
}

TEST_P(JobStoreTest, GetOfAnUnknownJob) {
  EXPECT_THAT(store().Get("01JAAAAAAAAAAAAAAAAAAAAAAA"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(JobStoreTest, TheSameRequestMakesOneJob) {
  const JobRecord first = PutNew(NewRun(1));
  JobRecord again = NewRun(2);
  again.mutable_job()->set_request_id("request 1");
  again.set_work_digest("work 1");
  auto outcomes = store().Commit({New(again)});
  ASSERT_OK(outcomes);
  ASSERT_OK(outcomes->front().status);
  EXPECT_EQ(outcomes->front().earlier->SerializeAsString(), first.SerializeAsString());
  again.set_work_digest("other work");
  outcomes = store().Commit({New(again)});
  ASSERT_OK(outcomes);
  EXPECT_THAT(outcomes->front().status, StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(store().Get(again.job().id()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ((*store().FindRequest("local", "request 1"))->job().id(), first.job().id());
  EXPECT_FALSE(store().FindRequest("local", "request 2")->has_value());
}

TEST_P(JobStoreTest, RequestsAreTheirOwners) {
  const JobRecord mine = PutNew(NewRun(1, "ann"));
  JobRecord other = NewRun(2, "bob");
  other.mutable_job()->set_request_id("request 1");
  other = PutNew(other);
  EXPECT_EQ((*store().FindRequest("ann", "request 1"))->job().id(), mine.job().id());
  EXPECT_EQ((*store().FindRequest("bob", "request 1"))->job().id(), other.job().id());
  EXPECT_FALSE(store().FindRequest("eve", "request 1")->has_value());
  EXPECT_THAT(RequestsOf(ListAll({.owner = "ann"})), ElementsAre("request 1"));
  EXPECT_THAT(RequestsOf(ListAll({.owner = "eve"})), IsEmpty());
  EXPECT_EQ(store().ListLive()->size(), 2u);
  EXPECT_EQ(ListAll({.owner = "eve", .of_everybody = true}).size(), 2u);
  EXPECT_THAT(RequestsOf(ListAll({.of_everybody = true, .before_id = other.job().id()})),
              ElementsAre("request 1"));
  EXPECT_THAT(ListAll({.of_everybody = true, .states = {v1::Job::FAILED}}), IsEmpty());
}

TEST_P(JobStoreTest, ChangesLastAndLeaveTheSpecificationAsItIs) {
  JobRecord record = PutNew(NewRun(1));
  record = Put(Next(record, Assigned{.attempt_id = "a1", .assignee = "d"}));
  v1::RunResult result;
  result.set_device("d");
  JobStore::Change end = Next(record, AttemptSucceeded{"a1", result});
  const JobRecord whole = end.record;
  end.record.mutable_job()->clear_run();
  Put(end);
  Reopen();
  const JobRecord read = *store().Get(record.job().id());
  EXPECT_EQ(read.SerializeAsString(), whole.SerializeAsString());
  EXPECT_EQ(read.job().run_result().device(), "d");
  EXPECT_EQ(read.job().run().inputs(0).inline_data().size(), 4u);
}

TEST_P(JobStoreTest, AGroupIsStoredTogether) {
  const JobRecord old = PutNew(NewRun(1));
  const auto outcomes =
      store().Commit({Next(old, CancelRequested{}), New(NewRun(2)), New(NewRun(3))});
  ASSERT_OK(outcomes);
  ASSERT_EQ(outcomes->size(), 3u);
  for (const JobStore::Outcome& outcome : *outcomes) EXPECT_OK(outcome.status);
  Reopen();
  EXPECT_EQ(store().Get(old.job().id())->job().state(), v1::Job::CANCELLED);
  EXPECT_EQ(store().ListLive()->size(), 2u);
}

TEST_P(JobStoreTest, AnEmptyGroupIsNothing) {
  const auto outcomes = store().Commit({});
  ASSERT_OK(outcomes);
  EXPECT_THAT(*outcomes, IsEmpty());
}

TEST_P(JobStoreTest, WhatAGroupLeavesOutKeepsNothingElseFromBeingStored) {
  const JobRecord old = PutNew(NewRun(1));
  Put(Next(old, Assigned{.attempt_id = "a1"}));
  JobRecord twice = NewRun(3);
  twice.mutable_job()->set_request_id("request 2");
  twice.set_work_digest("work 2");
  const auto outcomes = store().Commit(
      {Next(old, Assigned{.attempt_id = "a2"}), New(NewRun(2)), New(twice), New(NewRun(4))});
  ASSERT_OK(outcomes);
  EXPECT_THAT((*outcomes)[0].status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_OK((*outcomes)[1].status);
  ASSERT_OK((*outcomes)[2].status);
  EXPECT_EQ((*outcomes)[2].earlier->job().id(), NewRun(2).job().id());
  EXPECT_OK((*outcomes)[3].status);
  EXPECT_EQ(store().Get(old.job().id())->lease().id(), "a1");
  EXPECT_EQ(store().ListLive()->size(), 3u);
}

TEST_P(JobStoreTest, AChangeOfWhatIsNotThereIsLeftOut) {
  JobRecord unknown = NewRun(1);
  unknown.mutable_job()->set_revision(next_revision_++);
  const auto outcomes = store().Commit({Next(unknown, CancelRequested{})});
  ASSERT_OK(outcomes);
  EXPECT_THAT(outcomes->front().status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(store().Get(unknown.job().id()), StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(JobStoreTest, RevisionsAreGivenOutOnce) {
  const int64_t first = *store().ReserveRevisions(10);
  const int64_t second = *store().ReserveRevisions(1);
  EXPECT_GT(first, 0);
  EXPECT_GE(second, first + 10);
  Reopen();
  EXPECT_GT(*store().ReserveRevisions(1), second);
}

TEST_P(JobStoreTest, RevisionsRiseAboveThoseOfAllJobs) {
  // As a server did that knew no reservations.
  JobRecord record = NewRun(1);
  record.mutable_job()->set_revision(next_revision_ + 999);
  record = Put({.record = record, .replaces = 0});
  Reopen();
  EXPECT_GT(next_revision_, record.job().revision());
}

TEST_P(JobStoreTest, ListsNewestFirstInPagesWithoutContents) {
  for (int i = 1; i <= 5; ++i) PutNew(NewRun(i));
  const std::vector<v1::Job> page = store().List({.owner = "local"}, Limits(2))->items;
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[0].request_id(), "request 5");
  EXPECT_EQ(page[0].run().inputs(0).name(), "x");
  EXPECT_FALSE(page[0].run().inputs(0).has_inline_data());
  const std::vector<v1::Job> next = ListAll({.owner = "local", .before_id = page[1].id()});
  EXPECT_THAT(RequestsOf(next), ElementsAre("request 3", "request 2", "request 1"));
}

TEST_P(JobStoreTest, PagesEndWhereTheyAreFull) {
  for (int i = 1; i <= 4; ++i) {
    JobRecord record = NewRun(i);
    if (i == 2) record.mutable_job()->mutable_run()->set_device(std::string(10'000, 'd'));
    PutNew(record);
  }
  const auto page = [this](const PageLimits& limits, const std::string& before) {
    return *store().List({.owner = "local", .before_id = before}, limits);
  };
  const JobPage first = page(Limits(9, 1'000), "");
  EXPECT_THAT(RequestsOf(first.items), ElementsAre("request 4", "request 3"));
  EXPECT_EQ(first.next, first.items[1].id());
  // One is on it, however large.
  const JobPage second = page(Limits(9, 1'000), first.next);
  EXPECT_THAT(RequestsOf(second.items), ElementsAre("request 2"));
  EXPECT_EQ(second.next, second.items[0].id());
  const JobPage third = page(Limits(9, 1'000), second.next);
  EXPECT_THAT(RequestsOf(third.items), ElementsAre("request 1"));
  EXPECT_EQ(third.next, "");
  EXPECT_EQ(page(Limits(4), "").next, "");
  EXPECT_NE(page(Limits(3), "").next, "");
}

TEST_P(JobStoreTest, ListsWhatPassesAFilter) {
  for (int i = 1; i <= 3; ++i) {
    JobRecord record = NewRun(i);
    v1::Job& job = *record.mutable_job();
    job.set_subject(i == 2 ? "Digits" : "resnet50");
    v1::Tag& tag = *job.add_tags();
    tag.set_key("commit");
    tag.set_value(i == 3 ? "new" : "old");
    job.mutable_run()->set_device(i == 1 ? "board-1" : "board-2");
    PutNew(record);
  }
  JobRecord benchmark = NewRun(4);
  benchmark.mutable_job()->mutable_benchmark();
  PutNew(benchmark);
  const auto list = [this](JobFilter filter) {
    filter.owner = "local";
    return RequestsOf(ListAll(filter));
  };
  EXPECT_THAT(list({.subject = "NET"}), ElementsAre("request 3", "request 1"));
  EXPECT_THAT(list({.tags = {{"commit", "old"}}}), ElementsAre("request 2", "request 1"));
  EXPECT_THAT(list({.device = "board-2"}), ElementsAre("request 3", "request 2"));
  EXPECT_THAT(list({.kinds = {v1::Job::BENCHMARK}}), ElementsAre("request 4"));
  EXPECT_THAT(list({.since = absl::FromUnixNanos(1'003)}), ElementsAre("request 4", "request 3"));
  EXPECT_THAT(list({.tags = {{"commit", "old"}}, .subject = "net"}), ElementsAre("request 1"));
  EXPECT_THAT(list({.subject = "nothing"}), IsEmpty());
}

TEST_P(JobStoreTest, APageEndsWhereEnoughWasLookedAt) {
  for (int i = 1; i <= 5; ++i) {
    JobRecord record = NewRun(i);
    record.mutable_job()->set_subject(i == 1 ? "wanted" : "other");
    PutNew(record);
  }
  JobFilter filter = {.owner = "local", .subject = "wanted"};
  JobPage page = *store().List(filter, Limits(9, kAnyBytes, /*rows=*/2));
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_EQ(page.next, NewRun(4).job().id());
  filter.before_id = page.next;
  page = *store().List(filter, Limits(9, kAnyBytes, /*rows=*/3));
  EXPECT_THAT(RequestsOf(page.items), ElementsAre("request 1"));
  EXPECT_EQ(page.next, "");
}

TEST_P(JobStoreTest, AJobThatHasEndedGivesUpLargeInputs) {
  JobRecord large = NewRun(1);
  large.mutable_job()->mutable_run()->mutable_inputs(0)->set_inline_data(
      std::string(kMaxKeptSpecBytes, 'x'));
  large = PutNew(large);
  const JobRecord small = PutNew(NewRun(2));
  EXPECT_TRUE(store().Get(large.job().id())->job().run().inputs(0).has_inline_data());
  for (const JobRecord& record : {large, small}) {
    JobStore::Change change = Next(record, CancelRequested{});
    change.record.mutable_job()->clear_spec();
    Put(change);
  }
  Reopen();
  const v1::Tensor input = store().Get(large.job().id())->job().run().inputs(0);
  EXPECT_EQ(input.name(), "x");
  EXPECT_FALSE(input.has_inline_data());
  EXPECT_TRUE(store().Get(small.job().id())->job().run().inputs(0).has_inline_data());
}

TEST_P(JobStoreTest, ForgetsWhatAnOwnerHasTooMuchOf) {
  // Each takes 100,000 bytes; that of number i ends i hours after now.
  const auto put = [this](int number, const std::string& owner, bool ends) {
    JobRecord record = NewRun(number, owner);
    record.mutable_job()->mutable_run()->set_device(std::string(100'000, 'd'));
    record = PutNew(record);
    if (ends) Put(Next(record, CancelRequested{}, now_ + absl::Hours(number)));
  };
  for (int i = 1; i <= 4; ++i) put(i, "ann", true);
  put(5, "ann", false);
  put(6, "eve", true);
  EXPECT_EQ(*store().DeleteEndedBeyond(500'000), 0);
  EXPECT_EQ(*store().DeleteEndedBeyond(250'000), 2);
  EXPECT_THAT(RequestsOf(ListAll({.owner = "ann"})),
              ElementsAre("request 5", "request 4", "request 3"));
  EXPECT_THAT(RequestsOf(ListAll({.owner = "eve"})), ElementsAre("request 6"));
  EXPECT_EQ(*store().DeleteEndedBeyond(0), 3);
  EXPECT_THAT(RequestsOf(ListAll({.owner = "ann"})), ElementsAre("request 5"));
}

TEST_P(JobStoreTest, ListsByState) {
  const JobRecord record = PutNew(NewRun(1));
  PutNew(NewRun(2));
  Put(Next(record, CancelRequested{}));
  const std::vector<v1::Job> cancelled =
      ListAll({.owner = "local", .states = {v1::Job::CANCELLED, v1::Job::FAILED}});
  EXPECT_THAT(RequestsOf(cancelled), ElementsAre("request 1"));
}

TEST_P(JobStoreTest, ListsLiveJobsOldestFirst) {
  for (int i = 1; i <= 3; ++i) PutNew(NewRun(i));
  const JobRecord second = (*store().ListLive())[1];
  Put(Next(second, CancelRequested{}));
  Reopen();
  const std::vector<JobRecord> live = *store().ListLive();
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0].job().request_id(), "request 1");
  EXPECT_EQ(live[1].job().request_id(), "request 3");
  EXPECT_EQ(live[1].job().run().inputs(0).inline_data().size(), 4u);
}

TEST_P(JobStoreTest, TellsOfWhatHasEndedSince) {
  Lease lease;
  lease.set_id("a");
  lease.set_begin_time_ns(absl::ToUnixNanos(now_ - absl::Seconds(5)));
  for (int number = 1; number <= 3; ++number) {
    JobRecord run = NewRun(number, number == 3 ? "bob" : "ada");
    run.mutable_job()->set_state(v1::Job::RUNNING);
    *run.mutable_lease() = lease;
    run = PutNew(std::move(run));
    if (number < 3) Put(Next(run, CancelRequested{}, now_ + absl::Seconds(number)));
  }
  Reopen();
  std::vector<EndedJob> told;
  ASSERT_OK(store().ForEachEndedSince(now_ + absl::Seconds(2),
                                      [&](const EndedJob& job) { told.push_back(job); }));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told.front().owner, "ada");
  EXPECT_EQ(told.front().held_kind, HeldKind::kDevice);
  EXPECT_EQ(told.front().held, absl::Seconds(7));
  EXPECT_EQ(told.front().end, now_ + absl::Seconds(2));
  told.clear();
  ASSERT_OK(store().ForEachEndedSince(now_, [&](const EndedJob& job) { told.push_back(job); }));
  EXPECT_EQ(told.size(), 2u);
}

TEST_P(JobStoreTest, ForgetsOnlyWhatEndedBefore) {
  const JobRecord live = PutNew(NewRun(1));
  const JobRecord old = Put(Next(PutNew(NewRun(2)), CancelRequested{}));
  const JobRecord fresh = Put(Next(PutNew(NewRun(3)), CancelRequested{}, now_ + absl::Hours(2)));
  EXPECT_EQ(*store().DeleteEndedBefore(now_ + absl::Hours(1)), 1);
  EXPECT_OK(store().Get(live.job().id()));
  EXPECT_THAT(store().Get(old.job().id()), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_OK(store().Get(fresh.job().id()));
  // The request is forgotten with its job.
  EXPECT_FALSE(store().FindRequest("local", "request 2")->has_value());
}

TEST_P(JobStoreTest, OfTwoServersTheFirstChangesAJob) {
  if (!fixture_->IsShared()) return;
  const Stores other = fixture_->Open();
  const JobRecord record = PutNew(NewRun(1));
  EXPECT_GE(*other.jobs->ReserveRevisions(1), next_revision_);
  const auto first = other.jobs->Commit({Next(record, Assigned{.attempt_id = "theirs"})});
  ASSERT_OK(first);
  EXPECT_OK(first->front().status);
  const auto second = store().Commit({Next(record, Assigned{.attempt_id = "ours"})});
  ASSERT_OK(second);
  EXPECT_THAT(second->front().status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(store().Get(record.job().id())->lease().id(), "theirs");
}

TEST_P(JobStoreTest, AStandingReplacesTheOneThatWasSeen) {
  DeviceStore& devices = *stores_.devices;
  DeviceStanding standing;
  standing.set_device("board");
  standing.set_revision(1);
  standing.set_state(DeviceStanding::DRAINED);
  standing.set_reason("a new fan");
  ASSERT_OK(devices.PutStanding(standing, 0));
  EXPECT_THAT(devices.PutStanding(standing, 0), StatusIs(absl::StatusCode::kAborted));
  standing.set_revision(2);
  standing.set_state(DeviceStanding::OPEN);
  EXPECT_THAT(devices.PutStanding(standing, 7), StatusIs(absl::StatusCode::kAborted));
  standing.set_device("another");
  EXPECT_THAT(devices.PutStanding(standing, 1), StatusIs(absl::StatusCode::kAborted));
  standing.set_device("board");
  ASSERT_OK(devices.PutStanding(standing, 1));
  Reopen();
  const std::vector<DeviceStanding> kept = *stores_.devices->LoadStandings();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].SerializeAsString(), standing.SerializeAsString());
  ASSERT_OK(stores_.devices->DeleteStanding("board"));
  EXPECT_THAT(*stores_.devices->LoadStandings(), IsEmpty());
}

TEST_P(JobStoreTest, KeepsReservations) {
  ReservationRecord record;
  v1::Reservation& reservation = *record.mutable_reservation();
  reservation.set_id("01JAAAAAAAAAAAAAAAAAAAA001");
  reservation.set_device("board");
  reservation.set_from_ns(1);
  reservation.set_until_ns(2);
  ASSERT_OK(stores_.devices->PutReservation(record));
  record.set_cancel_time_ns(3);
  ASSERT_OK(stores_.devices->PutReservation(record));
  Reopen();
  const std::vector<ReservationRecord> kept = *stores_.devices->LoadReservations();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].SerializeAsString(), record.SerializeAsString());
  ASSERT_OK(stores_.devices->DeleteReservation(reservation.id()));
  EXPECT_THAT(*stores_.devices->LoadReservations(), IsEmpty());
}

TEST_P(JobStoreTest, KeepsDevices) {
  v1::Device device;
  device.mutable_description()->set_id("board");
  device.mutable_description()->set_target("x86-64-v3-linux");
  device.set_agent_id("board");
  device.set_last_seen_ns(7);
  device.set_state(v1::Device::BUSY);
  ASSERT_OK(stores_.devices->SaveDevice(device));
  device.mutable_description()->set_cores(4);
  device.set_min_abi(2);
  device.set_max_abi(3);
  device.set_min_format(4);
  device.set_max_format(5);
  ASSERT_OK(stores_.devices->SaveDevice(device));
  Reopen();
  const std::vector<v1::Device> devices = *stores_.devices->LoadDevices();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].description().cores(), 4);
  EXPECT_EQ(devices[0].last_seen_ns(), 7);
  EXPECT_EQ(devices[0].min_abi(), 2);
  EXPECT_EQ(devices[0].max_abi(), 3);
  EXPECT_EQ(devices[0].min_format(), 4);
  EXPECT_EQ(devices[0].max_format(), 5);
  EXPECT_EQ(devices[0].state(), v1::Device::STATE_UNSPECIFIED);
  ASSERT_OK(stores_.devices->DeleteDevice("board"));
  EXPECT_THAT(*stores_.devices->LoadDevices(), IsEmpty());
  EXPECT_OK(stores_.devices->DeleteDevice("board"));
}

// A benchmark that has just succeeded, and what the history is to keep of it.
struct Succeeded {
  JobRecord running;
  JobStore::Change end;
};

class HistoryStoreTest : public JobStoreTest {
 protected:
  HistoryStore& history() { return *stores_.history; }

  // Runs, and is to end with samples of that many nanoseconds.
  Succeeded MakeBenchmark(int number, std::vector<int64_t> samples,
                          const std::string& owner = "local") {
    JobRecord record = NewRun(number, owner);
    record.mutable_job()->set_subject("net.onnx");
    v1::RunSpec& run = *record.mutable_job()->mutable_benchmark()->mutable_run();
    v1::Tensor& input = *run.add_inputs();
    input.set_name("x");
    input.set_inline_data("data");
    run.mutable_manifest()->set_sha256("digest");
    record = PutNew(record);
    record = Put(Next(record, Assigned{.attempt_id = "attempt", .assignee = "board"}));
    v1::BenchmarkResult result;
    for (const int64_t sample : samples) result.add_samples_ns(sample);
    result.set_iterations_per_sample(2);
    result.set_threads(1);
    result.add_steps()->set_name("step");
    JobStore::Change end =
        Next(record, AttemptSucceeded{.attempt_id = "attempt", .result = std::move(result)});
    v1::DeviceDescription device;
    device.set_id("board");
    end.entry = BeginEntry(end.record, device, "1.2");
    return {.running = std::move(record), .end = std::move(end)};
  }
  std::string Remember(int number, std::vector<int64_t> samples,
                       const std::string& owner = "local") {
    return Put(MakeBenchmark(number, std::move(samples), owner).end).job().id();
  }
  std::vector<std::string> List(const HistoryFilter& filter) {
    const auto page = *history().ListHistory(filter, Limits(9), /*with_samples=*/false);
    std::vector<std::string> ids;
    for (const v1::HistoryEntry& entry : page.items) ids.push_back(entry.id());
    return ids;
  }
};

TEST_P(HistoryStoreTest, RemembersABenchmarkForLongerThanItsJob) {
  const std::string id = Remember(1, {6, 2, 4});
  Reopen();
  EXPECT_EQ(*store().DeleteEndedBefore(absl::InfiniteFuture()), 1);
  const absl::StatusOr<v1::HistoryEntry> entry = history().GetHistoryEntry(id);
  ASSERT_OK(entry);
  EXPECT_EQ(entry->id(), id);
  EXPECT_EQ(entry->owner(), "local");
  EXPECT_EQ(entry->model(), "net.onnx");
  EXPECT_EQ(entry->device().id(), "board");
  EXPECT_EQ(entry->agent_version(), "1.2");
  EXPECT_EQ(entry->manifest().sha256(), "digest");
  EXPECT_THAT(entry->result().samples_ns(), ElementsAre(6, 2, 4));
  EXPECT_THAT(entry->result().steps(), IsEmpty());
  EXPECT_EQ(entry->summary().count(), 3);
  EXPECT_EQ(entry->summary().p50_ns(), 2);
  EXPECT_EQ(entry->summary().min_ns(), 1);
  EXPECT_FALSE(entry->spec().run().inputs(0).has_inline_data());

  // Once, by whichever name.
  const auto page = *history().ListHistory({.owner = "local"}, Limits(9), /*with_samples=*/false);
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_THAT(page.items[0].result().samples_ns(), IsEmpty());
  EXPECT_EQ(page.items[0].summary().count(), 3);
  const auto full = *history().ListHistory({.owner = "local"}, Limits(9), /*with_samples=*/true);
  ASSERT_EQ(full.items.size(), 1u);
  EXPECT_EQ(full.items[0].SerializeAsString(), entry->SerializeAsString());
  EXPECT_THAT(history().GetHistoryEntry("01JAAAAAAAAAAAAAAAAAAAAAAA"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(HistoryStoreTest, WhatEndsAJobThatEndedOtherwiseIsNotRemembered) {
  Succeeded benchmark = MakeBenchmark(1, {1});
  Put(Next(benchmark.running, CancelRequested{}));
  const auto outcomes = store().Commit({benchmark.end});
  ASSERT_OK(outcomes);
  EXPECT_THAT(outcomes->front().status, StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(List({.owner = "local"}), IsEmpty());
}

TEST_P(HistoryStoreTest, ListsNewestFirstWhatPasses) {
  const std::string first = Remember(1, {1});
  const std::string second = Remember(2, {1});
  const std::string others = Remember(3, {1}, "ann");
  Reopen();
  EXPECT_THAT(List({.owner = "local"}), ElementsAre(second, first));
  EXPECT_THAT(List({.of_everybody = true}), ElementsAre(others, second, first));
  EXPECT_THAT(List({.owner = "ann", .model = "net.onnx"}), ElementsAre(others));
  EXPECT_THAT(List({.of_everybody = true, .model = "net.onnx"}),
              ElementsAre(others, second, first));
  EXPECT_THAT(List({.owner = "local", .model = "net"}), IsEmpty());
  EXPECT_THAT(List({.owner = "local", .device = "board"}), ElementsAre(second, first));
  EXPECT_THAT(List({.owner = "local", .device = "other"}), IsEmpty());
  EXPECT_THAT(List({.owner = "local", .since = absl::FromUnixNanos(1'002)}), ElementsAre(second));

  const auto page = *history().ListHistory({.owner = "local"}, Limits(1), /*with_samples=*/false);
  EXPECT_EQ(page.next, second);
  EXPECT_THAT(List({.owner = "local", .before_id = page.next}), ElementsAre(first));
  const auto looked = *history().ListHistory({.owner = "local", .device = "other"},
                                             Limits(9, kAnyBytes, /*rows=*/1), false);
  EXPECT_THAT(looked.items, IsEmpty());
  EXPECT_EQ(looked.next, second);
}

TEST_P(HistoryStoreTest, DropsTheOldestOfWhoHasTooMany) {
  std::vector<std::string> ids;
  for (int i = 1; i <= 4; ++i) ids.push_back(Remember(i, {1}));
  const std::string others = Remember(5, {1}, "ann");
  EXPECT_EQ(*history().DropHistoryBeyond(4, kAnyBytes), 0);
  EXPECT_EQ(*history().DropHistoryBeyond(3, kAnyBytes), 1);
  EXPECT_THAT(List({.of_everybody = true}), ElementsAre(others, ids[3], ids[2], ids[1]));
  Remember(6, std::vector<int64_t>(10'000, int64_t{1} << 60));
  const std::string newest = Remember(7, {1});
  EXPECT_EQ(*history().DropHistoryBeyond(9, 90'000), 4);
  EXPECT_THAT(List({.of_everybody = true}), ElementsAre(newest, others));
}

TEST_P(JobStoreTest, KeepsIdentities) {
  v1::IdentityRecord record;
  record.set_id("0123456789abcdef");
  record.set_name("ada");
  record.add_roles(v1::ROLE_USER);
  record.set_kind(v1::IdentityRecord::INVITED);
  record.set_expires_ns(7);
  record.set_secret_sha256(std::string("\0\xff", 2) + std::string(30, 'x'));
  ASSERT_OK(stores_.identities->SaveIdentity(record));
  Reopen();
  std::vector<v1::IdentityRecord> records = *stores_.identities->LoadIdentities();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].SerializeAsString(), record.SerializeAsString());

  // In place of the one before.
  record.set_kind(v1::IdentityRecord::JOINED);
  record.set_joined_ns(8);
  record.clear_secret_sha256();
  ASSERT_OK(stores_.identities->SaveIdentity(record));
  v1::IdentityRecord other = record;
  other.set_id("0000000000000001");
  ASSERT_OK(stores_.identities->SaveIdentity(other));
  Reopen();
  records = *stores_.identities->LoadIdentities();
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].id(), other.id());
  EXPECT_EQ(records[1].SerializeAsString(), record.SerializeAsString());

  ASSERT_OK(stores_.identities->DeleteIdentity(other.id()));
  EXPECT_OK(stores_.identities->DeleteIdentity(other.id()));
  Reopen();
  EXPECT_EQ(stores_.identities->LoadIdentities()->size(), 1u);
}

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_JOBS_JOB_STORE_TEST_SUITE_H_
