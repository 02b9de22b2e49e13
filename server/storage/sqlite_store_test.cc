#include "server/storage/sqlite_store.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/jobs/job_store_test_suite.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

class SqliteFixture final : public JobStoreFixture {
 public:
  Stores Open() override {
    const std::shared_ptr<SqliteStore> store = *SqliteStore::Open(JoinPath(folder_.path(), "db"));
    return {store, store, store, store};
  }
  bool IsShared() const override { return false; }

 private:
  TemporaryFolder folder_ = *TemporaryFolder::Create("sqlite_store_test");
};

INSTANTIATE_TEST_SUITE_P(SqliteStore, JobStoreTest, ::testing::Values(MakeJobStoreFixture([] {
                           return std::make_unique<SqliteFixture>();
                         })));
INSTANTIATE_TEST_SUITE_P(SqliteStore, HistoryStoreTest, ::testing::Values(MakeJobStoreFixture([] {
                           return std::make_unique<SqliteFixture>();
                         })));

using ::testing::HasSubstr;

class SqliteStoreTest : public ::testing::Test {
 protected:
  JobRecord SomeRecord(const std::string& request) {
    JobRecord record;
    record.mutable_job()->set_id("01JAAAAAAAAAAAAAAAAAAAA" + request);
    record.mutable_job()->set_owner("local");
    record.mutable_job()->set_request_id(request);
    record.mutable_job()->set_state(v1::Job::QUEUED);
    record.mutable_job()->set_revision(1);
    record.mutable_job()->mutable_compilation();
    return record;
  }

  static v1::Device SomeDevice(const std::string& id) {
    v1::Device device;
    device.mutable_description()->set_id(id);
    return device;
  }

  static ReservationRecord SomeReservation(const std::string& id) {
    ReservationRecord record;
    record.mutable_reservation()->set_id(id);
    record.mutable_reservation()->set_device("board");
    record.mutable_reservation()->set_from_ns(1);
    record.mutable_reservation()->set_until_ns(2);
    return record;
  }

  v1::IdentityRecord SomeIdentity(const std::string& id) {
    v1::IdentityRecord record;
    record.set_id(id);
    record.set_name("ada");
    record.add_roles(v1::ROLE_USER);
    record.set_kind(v1::IdentityRecord::JOINED);
    record.set_joined_ns(1);
    return record;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("sqlite_store_test");
  const std::string path_ = JoinPath(folder_.path(), "db");
};

TEST_F(SqliteStoreTest, RefusesAFileThatIsNoDatabase) {
  std::ofstream(path_) << std::string(4'096, 'x');
  EXPECT_THAT(SqliteStore::Open(path_), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(SqliteStoreTest, RefusesALaterSchema) {
  {
    auto database = *SqliteDatabase::Open(path_);
    ASSERT_OK(database->Execute("PRAGMA user_version=999"));
  }
  const absl::Status status = SqliteStore::Open(path_).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("schema version 999"));
}

// Each way in which a row can be damaged, and what is found to be wrong.
TEST_F(SqliteStoreTest, ADamagedRowHarmsOnlyItself) {
  const std::pair<const char*, const char*> ways[] = {
      {"UPDATE jobs SET record = x'ff' WHERE request_id = '002'", "record cannot be read"},
      {"UPDATE jobs SET record = 7 WHERE request_id = '002'", "cannot be read"},
      {"UPDATE jobs SET record = (SELECT record FROM jobs WHERE request_id = '001') "
       "WHERE request_id = '002'",
       "another job"},
      {"UPDATE jobs SET state = 3 WHERE request_id = '002'", "another job or state"},
      {"UPDATE specs SET spec = x'ff' WHERE job_id LIKE '%002'", "specification cannot be read"},
      {"DELETE FROM specs WHERE job_id LIKE '%002'", "no specification"},
      {"INSERT INTO results VALUES ('01JAAAAAAAAAAAAAAAAAAAA002', x'ff')", "result cannot be read"},
  };
  for (const auto& [sql, why] : ways) {
    SCOPED_TRACE(sql);
    for (const char* file : {"", "-wal"}) unlink((path_ + file).c_str());
    {
      auto store = *SqliteStore::Open(path_);
      for (const char* request : {"001", "002", "003"}) {
        ASSERT_OK(store->Commit({{.record = SomeRecord(request)}}));
      }
      ASSERT_OK(store->SaveDevice(SomeDevice("board")));
      ASSERT_OK(store->SaveDevice(SomeDevice("other")));
    }
    {
      auto database = *SqliteDatabase::Open(path_);
      ASSERT_OK(database->Execute(sql));
      ASSERT_OK(database->Execute("UPDATE devices SET device = x'ff' WHERE id = 'board'"));
    }
    const std::string id = "01JAAAAAAAAAAAAAAAAAAAA002";
    auto store = *SqliteStore::Open(path_);
    EXPECT_THAT(store->Get(id), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(why)));
    EXPECT_THAT(store->FindRequest("local", "002"), StatusIs(absl::StatusCode::kDataLoss));
    const JobPage page =
        *store->List({.owner = "local"}, {.items = 2, .bytes = 1 << 20, .rows = 10});
    EXPECT_EQ(page.items.size(), 2u);
    EXPECT_EQ(page.next, "");
    EXPECT_EQ(store->ListLive().value().size(), 2u);
    EXPECT_EQ(store->LoadDevices().value().size(), 1u);

    const SqliteStore::Damage damage = *store->FindDamage();
    EXPECT_EQ(damage.rows_read, 5);
    EXPECT_THAT(damage.file, ::testing::IsEmpty());
    ASSERT_EQ(damage.rows.size(), 2u);
    EXPECT_EQ(damage.rows[0].id, id);
    EXPECT_THAT(damage.rows[0].why, HasSubstr(why));
    EXPECT_EQ(damage.rows[1].id, "board");
    for (const DamagedRow& row : damage.rows) ASSERT_OK(store->Delete(row));
    EXPECT_THAT(store->FindDamage()->rows, ::testing::IsEmpty());
    EXPECT_THAT(store->Get(id), StatusIs(absl::StatusCode::kNotFound));
    EXPECT_OK(store->Get("01JAAAAAAAAAAAAAAAAAAAA001"));
    EXPECT_OK(store->Commit({{.record = SomeRecord("002")}}));
  }
}

// What a row of an identity may be, and what is found to be wrong.
TEST_F(SqliteStoreTest, ADamagedIdentityIsLeftOut) {
  v1::IdentityRecord nobody = SomeIdentity("0000000000000002");
  nobody.set_name("../ada");
  v1::IdentityRecord idle = SomeIdentity("0000000000000002");
  idle.clear_roles();
  v1::IdentityRecord open = SomeIdentity("0000000000000002");
  open.set_kind(v1::IdentityRecord::INVITED);
  open.set_expires_ns(7);
  const std::pair<v1::IdentityRecord, const char*> ways[] = {
      {SomeIdentity("0000000000000001"), "another one"},
      {nobody, "name"},
      {idle, "roles"},
      {open, "no digest"},
      {v1::IdentityRecord(), "another one"},
  };
  for (const auto& [record, why] : ways) {
    SCOPED_TRACE(why);
    for (const char* file : {"", "-wal"}) unlink((path_ + file).c_str());
    {
      auto store = *SqliteStore::Open(path_);
      ASSERT_OK(store->SaveIdentity(SomeIdentity("0000000000000001")));
      ASSERT_OK(store->SaveIdentity(SomeIdentity("0000000000000002")));
    }
    {
      auto database = *SqliteDatabase::Open(path_);
      auto update = *database->Prepare("UPDATE identities SET record = ? WHERE id LIKE '%2'");
      const std::string bytes = record.SerializeAsString();
      ASSERT_OK(update.BindBlob(bytes).Run());
    }
    auto store = *SqliteStore::Open(path_);
    EXPECT_EQ(store->LoadIdentities()->size(), 1u);
    const SqliteStore::Damage damage = *store->FindDamage();
    EXPECT_EQ(damage.rows_read, 2);
    ASSERT_EQ(damage.rows.size(), 1u);
    EXPECT_EQ(damage.rows[0].kind, DamagedRow::Kind::kIdentity);
    EXPECT_EQ(damage.rows[0].id, "0000000000000002");
    EXPECT_THAT(damage.rows[0].why, HasSubstr(why));
    ASSERT_OK(store->Delete(damage.rows[0]));
    EXPECT_THAT(store->FindDamage()->rows, ::testing::IsEmpty());
    EXPECT_EQ(store->LoadIdentities()->size(), 1u);
  }
}

TEST_F(SqliteStoreTest, BringsAnEarlierSchemaUpToDate) {
  {
    auto store = *SqliteStore::Open(path_);
    ASSERT_OK(store->Commit({{.record = SomeRecord("001")}}));
  }
  // As versions 1 and 2 were.
  for (const char* sql :
       {"DROP TABLE identities; DROP TABLE history; DROP TABLE standings; DROP TABLE reservations; "
        "PRAGMA user_version=1",
        "DROP TABLE history; DROP TABLE standings; DROP TABLE reservations; PRAGMA user_version=2",
        "DROP TABLE standings; DROP TABLE reservations; PRAGMA user_version=3"}) {
    ASSERT_OK((*SqliteDatabase::Open(path_))->Execute(sql));
    for (int i = 0; i < 2; ++i) {
      auto store = *SqliteStore::Open(path_);
      EXPECT_OK(store->Get("01JAAAAAAAAAAAAAAAAAAAA001"));
      ASSERT_OK(store->SaveIdentity(SomeIdentity("0000000000000001")));
      EXPECT_EQ(store->LoadIdentities()->size(), 1u);
      EXPECT_THAT(store->GetHistoryEntry("01JAAAAAAAAAAAAAAAAAAAA001"),
                  StatusIs(absl::StatusCode::kNotFound));
      ASSERT_OK(store->PutReservation(SomeReservation("01JAAAAAAAAAAAAAAAAAAAA001")));
      EXPECT_EQ(store->LoadReservations()->size(), 1u);
      EXPECT_THAT(*store->LoadStandings(), ::testing::IsEmpty());
    }
  }
}

// What a row of the history may be, and what is found to be wrong.
TEST_F(SqliteStoreTest, ADamagedEntryOfTheHistoryHarmsOnlyItself) {
  const std::pair<const char*, const char*> ways[] = {
      {"UPDATE history SET entry = x'ff' WHERE id LIKE '%002'", "entry cannot be read"},
      {"UPDATE history SET entry = 7 WHERE id LIKE '%002'", "cannot be read"},
      {"UPDATE history SET entry = (SELECT entry FROM history WHERE id LIKE '%001') "
       "WHERE id LIKE '%002'",
       "another one"},
      {"UPDATE history SET owner = 'ann' WHERE id LIKE '%002'", "another one"},
      {"UPDATE history SET samples = x'ff' WHERE id LIKE '%002'", "samples cannot be read"},
      {"UPDATE history SET samples = x'' WHERE id LIKE '%002'", "no samples"},
      {"UPDATE history SET samples = (SELECT samples FROM history WHERE id LIKE '%001') "
       "WHERE id LIKE '%002'",
       "not those that it tells of"},
  };
  for (const auto& [sql, why] : ways) {
    SCOPED_TRACE(sql);
    for (const char* file : {"", "-wal"}) unlink((path_ + file).c_str());
    {
      auto store = *SqliteStore::Open(path_);
      for (const char* number : {"001", "002"}) {
        JobRecord record = SomeRecord(number);
        record.mutable_job()->mutable_benchmark();
        ASSERT_OK(store->Commit({{.record = record}}));
        record.mutable_job()->set_revision(2);
        record.mutable_job()->set_state(v1::Job::SUCCEEDED);
        v1::BenchmarkResult& result = *record.mutable_job()->mutable_benchmark_result();
        result.set_iterations_per_sample(1);
        result.mutable_samples_ns()->Resize(number == std::string("001") ? 3 : 4, 7);
        ASSERT_OK(store->Commit(
            {{.record = record, .replaces = 1, .entry = BeginEntry(record, {}, "")}}));
      }
    }
    ASSERT_OK((*SqliteDatabase::Open(path_))->Execute(sql));
    const std::string id = "01JAAAAAAAAAAAAAAAAAAAA002";
    auto store = *SqliteStore::Open(path_);
    EXPECT_THAT(store->GetHistoryEntry(id), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(why)));
    const auto page =
        *store->ListHistory({.of_everybody = true}, {.items = 9, .bytes = 1 << 20, .rows = 10},
                            /*with_samples=*/true);
    ASSERT_EQ(page.items.size(), 1u);
    EXPECT_OK(store->GetHistoryEntry("01JAAAAAAAAAAAAAAAAAAAA001"));

    const SqliteStore::Damage damage = *store->FindDamage();
    EXPECT_EQ(damage.rows_read, 4);
    ASSERT_EQ(damage.rows.size(), 1u);
    EXPECT_EQ(damage.rows[0].kind, DamagedRow::Kind::kHistory);
    EXPECT_EQ(damage.rows[0].id, id);
    EXPECT_THAT(damage.rows[0].why, HasSubstr(why));
    ASSERT_OK(store->Delete(damage.rows[0]));
    EXPECT_THAT(store->FindDamage()->rows, ::testing::IsEmpty());
    EXPECT_THAT(store->GetHistoryEntry(id), StatusIs(absl::StatusCode::kNotFound));
  }
}

// What a row of a standing or reservation may be, and what is found to be wrong.
TEST_F(SqliteStoreTest, DamagedStandingsAndReservationsAreLeftOut) {
  {
    auto store = *SqliteStore::Open(path_);
    DeviceStanding standing;
    standing.set_revision(1);
    for (const char* device : {"board-1", "board-2", "board-3"}) {
      standing.set_device(device);
      ASSERT_OK(store->PutStanding(standing, 0));
    }
    for (const char* id : {"01JAAAAAAAAAAAAAAAAAAAA001", "01JAAAAAAAAAAAAAAAAAAAA002"}) {
      ASSERT_OK(store->PutReservation(SomeReservation(id)));
    }
    ReservationRecord endless = SomeReservation("01JAAAAAAAAAAAAAAAAAAAA003");
    endless.mutable_reservation()->set_until_ns(endless.reservation().from_ns());
    ASSERT_OK(store->PutReservation(endless));
  }
  {
    auto database = *SqliteDatabase::Open(path_);
    ASSERT_OK(
        database->Execute("UPDATE standings SET record = x'ff' WHERE device = 'board-1'; "
                          "UPDATE standings SET revision = 2 WHERE device = 'board-2'; "
                          "UPDATE reservations SET record = x'ff' WHERE id LIKE '%1'"));
  }
  auto store = *SqliteStore::Open(path_);
  EXPECT_EQ(store->LoadStandings()->size(), 1u);
  EXPECT_EQ(store->LoadReservations()->size(), 1u);
  const SqliteStore::Damage damage = *store->FindDamage();
  EXPECT_EQ(damage.rows_read, 6);
  std::vector<std::string> damaged;
  for (const DamagedRow& row : damage.rows) {
    damaged.push_back(row.id);
    ASSERT_OK(store->Delete(row));
  }
  EXPECT_THAT(damaged, ::testing::ElementsAre("board-1", "board-2", "01JAAAAAAAAAAAAAAAAAAAA001",
                                              "01JAAAAAAAAAAAAAAAAAAAA003"));
  EXPECT_THAT(store->FindDamage()->rows, ::testing::IsEmpty());
  EXPECT_EQ(store->LoadStandings()->size(), 1u);
  EXPECT_EQ(store->LoadReservations()->size(), 1u);
}

TEST_F(SqliteStoreTest, ALostCounterIsMadeAnew) {
  for (const char* sql : {"DELETE FROM counters", "UPDATE counters SET value = 'nine'",
                          "UPDATE counters SET value = -5"}) {
    SCOPED_TRACE(sql);
    for (const char* file : {"", "-wal"}) unlink((path_ + file).c_str());
    int64_t given = 0;
    {
      auto store = *SqliteStore::Open(path_);
      JobRecord record = SomeRecord("001");
      given = *store->ReserveRevisions(10);
      record.mutable_job()->set_revision(given + 9);
      ASSERT_OK(store->Commit({{.record = record}}));
    }
    ASSERT_OK((*SqliteDatabase::Open(path_))->Execute(sql));
    auto store = *SqliteStore::Open(path_);
    const int64_t next = store->ReserveRevisions(10).value();
    EXPECT_GT(next, given + 9);
    EXPECT_GT(store->ReserveRevisions(10).value(), next + 9);
  }
}

TEST_F(SqliteStoreTest, FindsWhatIsWrongWithTheFile) {
  {
    auto store = *SqliteStore::Open(path_);
    for (int i = 100; i < 400; ++i) {
      ASSERT_OK(store->Commit({{.record = SomeRecord(std::to_string(i))}}));
    }
    EXPECT_THAT(store->FindDamage()->file, ::testing::IsEmpty());
  }
  // The index of live jobs no longer tells what there is.
  {
    auto database = *SqliteDatabase::Open(path_);
    ASSERT_OK(database->Execute(
        "PRAGMA writable_schema=ON; "
        "UPDATE sqlite_schema SET sql = replace(sql, '< 4', '< 1') WHERE name = 'live_jobs'"));
  }
  auto store = *SqliteStore::Open(path_);
  EXPECT_THAT(store->FindDamage()->file, ::testing::Not(::testing::IsEmpty()));
}

TEST_F(SqliteStoreTest, AFullDiskRefusesTheJobAndLosesNothing) {
  auto store = *SqliteStore::Open(path_);
  ASSERT_OK(store->Commit({{.record = SomeRecord("001")}}));
  // The write-ahead log may not grow any more.
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, SIG_IGN);
  rlimit small = old;
  small.rlim_cur = 64 << 10;
  setrlimit(RLIMIT_FSIZE, &small);
  JobRecord large = SomeRecord("002");
  large.mutable_job()->mutable_compilation()->mutable_model()->set_display_name(
      std::string(200 << 10, 'x'));
  const absl::Status refused = store->Commit({{.record = large}}).status();
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(store->Get(large.job().id()), StatusIs(absl::StatusCode::kNotFound));
  // With room again, it is as if nothing had been.
  EXPECT_OK(store->Commit({{.record = large}}));
  EXPECT_OK(store->Get("01JAAAAAAAAAAAAAAAAAAAA001"));
}

}  // namespace
}  // namespace slipway::server
