#include "server/storage/sqlite_store.h"

#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "core/base/files.h"
#include "gtest/gtest.h"
#include "server/jobs/job_store_test_suite.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

class SqliteFixture final : public JobStoreFixture {
 public:
  Stores Open() override {
    const std::shared_ptr<SqliteStore> store = *SqliteStore::Open(JoinPath(folder_.path(), "db"));
    return {store, store};
  }
  bool IsShared() const override { return false; }

 private:
  TemporaryFolder folder_ = *TemporaryFolder::Create("sqlite_store_test");
};

INSTANTIATE_TEST_SUITE_P(SqliteStore, JobStoreTest, ::testing::Values(MakeJobStoreFixture([] {
                           return std::make_unique<SqliteFixture>();
                         })));

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

TEST_F(SqliteStoreTest, ADamagedRecordIsDataLoss) {
  {
    auto store = *SqliteStore::Open(path_);
    ASSERT_OK(store->Commit({{.record = SomeRecord("001")}}));
  }
  {
    auto database = *SqliteDatabase::Open(path_);
    ASSERT_OK(database->Execute("UPDATE jobs SET record = x'ff'"));
  }
  auto store = *SqliteStore::Open(path_);
  EXPECT_THAT(store->Get("01JAAAAAAAAAAAAAAAAAAAA001"), StatusIs(absl::StatusCode::kDataLoss));
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
