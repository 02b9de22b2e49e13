#include "server/jobs/job_writer.h"

#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/storage/memory_store.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using v1::Job;

// Holds commits up, and counts what they hold.
class SlowStore final : public JobStore {
 public:
  explicit SlowStore(JobStore* store) : store_(*store) {}
  absl::StatusOr<std::vector<Outcome>> Commit(absl::Span<const Change> group) override {
    {
      absl::MutexLock lock(&mu_);
      groups_.push_back(group.size());
    }
    if (!began.HasBeenNotified()) began.Notify();
    may_end.WaitForNotification();
    return store_.Commit(group);
  }
  absl::StatusOr<int64_t> ReserveRevisions(int64_t count) override {
    return store_.ReserveRevisions(count);
  }
  absl::StatusOr<JobRecord> Get(absl::string_view id) const override { return store_.Get(id); }
  absl::StatusOr<absl::optional<JobRecord>> FindRequest(absl::string_view owner,
                                                        absl::string_view request) const override {
    return store_.FindRequest(owner, request);
  }
  absl::StatusOr<JobPage> List(const JobFilter& filter, const PageLimits& limits) const override {
    return store_.List(filter, limits);
  }
  absl::StatusOr<std::vector<JobRecord>> ListLive() const override { return store_.ListLive(); }
  absl::Status ForEachEndedSince(absl::Time time,
                                 absl::FunctionRef<void(const EndedJob&)> tell) const override {
    return store_.ForEachEndedSince(time, tell);
  }
  absl::StatusOr<int64_t> DeleteEndedBefore(absl::Time time) override {
    return store_.DeleteEndedBefore(time);
  }
  absl::StatusOr<int64_t> DeleteEndedBeyond(int64_t max_bytes) override {
    return store_.DeleteEndedBeyond(max_bytes);
  }
  std::vector<size_t> groups() {
    absl::MutexLock lock(&mu_);
    return groups_;
  }

  absl::Notification began;
  absl::Notification may_end;

 private:
  JobStore& store_;
  absl::Mutex mu_;
  std::vector<size_t> groups_ ABSL_GUARDED_BY(mu_);
};

class JobWriterTest : public ::testing::Test {
 protected:
  static JobRecord Record(const std::string& id, int64_t revision, Job::State state) {
    JobRecord record;
    record.mutable_job()->set_id(id);
    record.mutable_job()->set_owner("local");
    record.mutable_job()->set_request_id(id);
    record.mutable_job()->set_revision(revision);
    record.mutable_job()->set_state(state);
    record.set_work_digest("work");
    return record;
  }
  JobWriter MakeWriter() {
    return JobWriter(
        &store_, &store_,
        [this](absl::string_view id, auto stored) {
          overtaken_.push_back(
              absl::StrCat(id, " ", stored.has_value() ? stored->job().revision() : -1));
        },
        &clock_);
  }
  int64_t RevisionOf(const std::string& id) { return store_.Get(id)->job().revision(); }

  FakeClock clock_;
  MemoryDatabase database_;
  MemoryStore store_{&database_};
  std::vector<std::string> overtaken_;
};

TEST_F(JobWriterTest, ChangesWaitForAFlush) {
  JobWriter writer = MakeWriter();
  ASSERT_OK(writer.Create(Record("j", 1, Job::QUEUED)));
  writer.Put({Record("j", 2, Job::ASSIGNED), 1});
  EXPECT_EQ(RevisionOf("j"), 1);
  // The later one takes its place.
  writer.Put({Record("j", 3, Job::RUNNING), 2});
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_EQ(RevisionOf("j"), 3);
  EXPECT_THAT(overtaken_, IsEmpty());
}

TEST_F(JobWriterTest, CreatesAJobOnce) {
  JobWriter writer = MakeWriter();
  EXPECT_FALSE(writer.Create(Record("j", 1, Job::QUEUED))->existed);
  JobRecord again = Record("k", 2, Job::QUEUED);
  again.mutable_job()->set_request_id("j");
  const auto second = writer.Create(again);
  ASSERT_OK(second);
  EXPECT_TRUE(second->existed);
  EXPECT_EQ(second->record.job().id(), "j");
  again.set_work_digest("other");
  EXPECT_THAT(writer.Create(again), StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST_F(JobWriterTest, WhatAStoreRefusesWaits) {
  JobWriter writer = MakeWriter();
  ASSERT_OK(writer.Create(Record("j", 1, Job::QUEUED)));
  v1::Device device;
  device.mutable_description()->set_id("d");
  database_.Refuse(absl::ResourceExhaustedError("the disk is full"));
  writer.Put({Record("j", 2, Job::ASSIGNED), 1});
  writer.PutDevice(device);
  EXPECT_THAT(writer.Flush(writer.entered()), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(writer.Create(Record("k", 3, Job::QUEUED)),
              StatusIs(absl::StatusCode::kResourceExhausted));
  writer.Put({Record("j", 4, Job::RUNNING), 2});
  EXPECT_THAT(writer.Flush(writer.entered()), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(RevisionOf("j"), 1);
  database_.Refuse(absl::OkStatus());
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_EQ(RevisionOf("j"), 4);
  EXPECT_EQ(store_.LoadDevices()->size(), 1u);
  // The new job was refused, and is not made behind its client's back.
  EXPECT_THAT(store_.Get("k"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(overtaken_, IsEmpty());
}

TEST_F(JobWriterTest, TellsWhatTheStoreLastSaid) {
  JobWriter writer = MakeWriter();
  EXPECT_OK(writer.refusal());
  ASSERT_OK(writer.Create(Record("j", 1, Job::QUEUED)));
  database_.Refuse(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_FALSE(writer.Create(Record("k", 2, Job::QUEUED)).ok());
  EXPECT_THAT(writer.refusal(), StatusIs(absl::StatusCode::kResourceExhausted));
  writer.TryStore();
  EXPECT_THAT(writer.refusal(), StatusIs(absl::StatusCode::kResourceExhausted));
  // While something waits, what little is tried says nothing of it.
  writer.Put({Record("j", 3, Job::ASSIGNED), 1});
  database_.Refuse(absl::OkStatus());
  writer.TryStore();
  EXPECT_THAT(writer.refusal(), StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_OK(writer.refusal());
  EXPECT_EQ(writer.tally().refused, 1);
  const std::vector<int64_t> stored = writer.tally().stored.Read().counts;
  EXPECT_EQ(std::accumulate(stored.begin(), stored.end(), int64_t{0}), 2);
}

TEST_F(JobWriterTest, WhoIsOvertakenIsTold) {
  JobWriter writer = MakeWriter();
  ASSERT_OK(writer.Create(Record("j", 1, Job::QUEUED)));
  ASSERT_OK(writer.Create(Record("k", 2, Job::QUEUED)));
  ASSERT_OK(store_.Commit({{Record("j", 100, Job::ASSIGNED), 1}}));
  writer.Put({Record("gone", 4, Job::CANCELLED), 3});
  writer.Put({Record("j", 5, Job::CANCELLED), 1});
  writer.Put({Record("k", 6, Job::CANCELLED), 2});
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_THAT(overtaken_, ElementsAre("gone -1", "j 100"));
  EXPECT_EQ(RevisionOf("j"), 100);
  EXPECT_EQ(RevisionOf("k"), 6);
}

TEST_F(JobWriterTest, DroppedChangesAreNotStored) {
  JobWriter writer = MakeWriter();
  ASSERT_OK(writer.Create(Record("j", 1, Job::QUEUED)));
  writer.Put({Record("j", 2, Job::CANCELLED), 1});
  writer.Drop("j");
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_EQ(RevisionOf("j"), 1);
}

TEST_F(JobWriterTest, DevicesAreKeptAndForgotten) {
  JobWriter writer = MakeWriter();
  v1::Device device;
  device.mutable_description()->set_id("d");
  writer.PutDevice(device);
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_EQ(store_.LoadDevices()->size(), 1u);
  writer.DeleteDevice("d");
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_THAT(*store_.LoadDevices(), IsEmpty());
}

TEST_F(JobWriterTest, WhatComesDuringACommitSharesTheNext) {
  constexpr int kJobs = 8;
  for (int i = 0; i < kJobs; ++i) {
    ASSERT_OK(store_.Commit({{Record(absl::StrCat("job ", i), 1 + i, Job::QUEUED)}}));
  }
  SlowStore slow(&store_);
  JobWriter writer(
      &slow, &store_, [](absl::string_view, auto) {}, &clock_);
  std::thread first([&] { EXPECT_OK(writer.Create(Record("first", 100, Job::QUEUED))); });
  slow.began.WaitForNotification();
  for (int i = 0; i < kJobs; ++i) {
    writer.Put({Record(absl::StrCat("job ", i), 200 + i, Job::CANCELLED), 1 + i});
  }
  slow.may_end.Notify();
  first.join();
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_THAT(slow.groups(), ElementsAre(1u, kJobs));
  EXPECT_EQ(store_.ListLive()->size(), 1u);
}

TEST_F(JobWriterTest, ManyClientsGetWhatTheyEntered) {
  constexpr int kClients = 8;
  constexpr int kJobsEach = 20;
  JobWriter writer = MakeWriter();
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      for (int j = 0; j < kJobsEach; ++j) {
        const std::string id = absl::StrCat(i, " ", j);
        EXPECT_OK(writer.Create(Record(id, 2, Job::QUEUED)));
        writer.Put({Record(id, 3, Job::CANCELLED), 2});
        EXPECT_OK(writer.Flush(writer.entered()));
        EXPECT_EQ(RevisionOf(id), 3);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_THAT(*store_.ListLive(), IsEmpty());
  EXPECT_THAT(overtaken_, IsEmpty());
}

TEST(JobWriterStandingTest, ChangesOfADeviceReplaceWhatIsStored) {
  MemoryDatabase database;
  MemoryStore store(&database);
  std::vector<DeviceStanding> overtaken;
  const FakeClock clock;
  JobWriter writer(&store, &store, nullptr, &clock,
                   [&](DeviceStanding stored) { overtaken.push_back(std::move(stored)); });
  DeviceStanding standing;
  standing.set_device("board");
  for (int revision = 1; revision <= 2; ++revision) {
    standing.set_revision(revision);
    writer.PutStanding(standing, revision - 1);
  }
  // A store that refuses keeps them waiting; a later one replaces what is stored all the same.
  database.Refuse(absl::UnavailableError("busy"));
  EXPECT_THAT(writer.Flush(writer.entered()), StatusIs(absl::StatusCode::kUnavailable));
  database.Refuse(absl::OkStatus());
  standing.set_revision(3);
  writer.PutStanding(standing, 2);
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_EQ(store.LoadStandings()->front().revision(), 3);
  // Another server was first.
  standing.set_revision(4);
  standing.set_reason("theirs");
  ASSERT_OK(store.PutStanding(standing, 3));
  standing.set_reason("ours");
  writer.PutStanding(standing, 3);
  ASSERT_OK(writer.Flush(writer.entered()));
  ASSERT_EQ(overtaken.size(), 1u);
  EXPECT_EQ(overtaken[0].reason(), "theirs");
  EXPECT_EQ(store.LoadStandings()->front().reason(), "theirs");
}

TEST(JobWriterStandingTest, AReservationWaitsForAStoreThatRefuses) {
  MemoryDatabase database;
  MemoryStore store(&database);
  const FakeClock clock;
  JobWriter writer(&store, &store, nullptr, &clock);
  ReservationRecord record;
  record.mutable_reservation()->set_id("r");
  database.Refuse(absl::UnavailableError("busy"));
  writer.PutReservation(record);
  EXPECT_THAT(writer.Flush(writer.entered()), StatusIs(absl::StatusCode::kUnavailable));
  database.Refuse(absl::OkStatus());
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_EQ(store.LoadReservations()->size(), 1u);
  writer.DeleteReservation("r");
  ASSERT_OK(writer.Flush(writer.entered()));
  EXPECT_THAT(*store.LoadReservations(), IsEmpty());
}

}  // namespace
}  // namespace slipway::server
