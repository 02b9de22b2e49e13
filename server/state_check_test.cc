#include "server/state_check.h"

#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/store/file_blob_store.h"
#include "core/store/file_names.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/data_folder.h"
#include "server/devices/agent_offers.h"
#include "server/jobs/job_store.h"
#include "server/storage/sqlite_database.h"
#include "server/storage/sqlite_store.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class StateCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(MakeFolders(options_.data_dir));
    const auto store = *SqliteStore::Open(JoinPath(options_.data_dir, kDatabaseName));
    blobs_ = *FileBlobStore::Create({.folder = options_.blob_dir});
    model_ = *PutBytes(*blobs_, "model");
    for (const char* id : {kFirst, kSecond}) {
      JobRecord record;
      v1::Job& job = *record.mutable_job();
      job.set_id(id);
      job.set_owner("local");
      job.set_request_id(id);
      job.set_state(v1::Job::QUEUED);
      job.set_revision(1);
      job.mutable_compilation();
      if (id == kSecond) *record.add_blobs() = ToProto(model_);
      ASSERT_OK(store->Commit({{.record = record}}));
    }
  }
  absl::StatusOr<StateCheckResult> Check(bool repair) {
    lines_.clear();
    options_.repair = repair;
    return CheckState(options_, [this](absl::string_view line) { lines_.emplace_back(line); });
  }
  void Expect(bool repair, int64_t found, int64_t mended) {
    const absl::StatusOr<StateCheckResult> result = Check(repair);
    ASSERT_OK(result);
    EXPECT_EQ(result->found, found);
    EXPECT_EQ(result->mended, mended);
  }
  void Damage(const char* sql) {
    auto database = *SqliteDatabase::Open(JoinPath(options_.data_dir, kDatabaseName));
    ASSERT_OK(database->Execute(sql));
  }
  std::string FileOf(const Digest& digest) const {
    return HexPath(BlobsFolder(options_.blob_dir), digest.hex());
  }

  static constexpr char kFirst[] = "01JAAAAAAAAAAAAAAAAAAAA001";
  static constexpr char kSecond[] = "01JAAAAAAAAAAAAAAAAAAAA002";
  const TemporaryFolder folder_ = *TemporaryFolder::Create("state_check");
  StateCheckOptions options_{.data_dir = JoinPath(folder_.path(), "data"),
                             .blob_dir = JoinPath(folder_.path(), "store"),
                             .repair = false};
  std::unique_ptr<FileBlobStore> blobs_;
  Digest model_;
  std::vector<std::string> lines_;
};

TEST_F(StateCheckTest, SaysThatAllIsSound) {
  Expect(/*repair=*/false, 0, 0);
  EXPECT_THAT(lines_, Contains(HasSubstr("database: 2 jobs")));
  EXPECT_THAT(lines_, Contains(HasSubstr("blobs: 1 with")));
}

TEST_F(StateCheckTest, TakesADamagedRowOutAndKeepsIt) {
  Damage("UPDATE jobs SET record = x'ff' WHERE id LIKE '%001'");
  for (int i = 0; i < 2; ++i) {
    Expect(/*repair=*/false, 1, 0);
    EXPECT_THAT(lines_, Contains(AllOf(HasSubstr(kFirst), HasSubstr("record cannot be read"),
                                       HasSubstr("--repair"))));
  }
  Expect(/*repair=*/true, 1, 1);
  EXPECT_THAT(lines_, Contains(HasSubstr("lost+found")));
  EXPECT_EQ(
      ReadFile(JoinPath(options_.data_dir, std::string("lost+found/job-") + kFirst + ".record"),
               100)
          .value(),
      "\xff");
  Expect(/*repair=*/false, 0, 0);
  const auto store = *SqliteStore::Open(JoinPath(options_.data_dir, kDatabaseName));
  EXPECT_EQ(store->ListLive()->size(), 1u);
}

TEST_F(StateCheckTest, ARowWhoseNameIsDamagedIsKeptUnderAnother) {
  Damage("UPDATE devices SET id = 'x'; INSERT INTO devices VALUES ('../../x', x'ff')");
  Expect(/*repair=*/true, 1, 1);
  Expect(/*repair=*/false, 0, 0);
  EXPECT_NE(access(JoinPath(folder_.path(), "x.device").c_str(), F_OK), 0);
}

TEST_F(StateCheckTest, TakesADamagedIdentityOut) {
  Damage("INSERT INTO identities VALUES ('0123456789abcdef', x'ff')");
  Expect(/*repair=*/true, 1, 1);
  EXPECT_THAT(lines_, Contains(AllOf(HasSubstr("identity '0123456789abcdef'"),
                                     HasSubstr("lost+found/identity-0123456789abcdef"))));
  Expect(/*repair=*/false, 0, 0);
}

TEST_F(StateCheckTest, RemovesARottenBlobAndSaysWhoNeedsIt) {
  std::ofstream(FileOf(model_), std::ios::in | std::ios::out) << "modem";
  Expect(/*repair=*/false, 2, 0);
  EXPECT_THAT(lines_, Contains(AllOf(HasSubstr(model_.hex()), HasSubstr("has digest"))));
  EXPECT_THAT(lines_, Contains(AllOf(HasSubstr(kSecond), HasSubstr("is not here"))));
  EXPECT_TRUE(blobs_->Has(model_));
  Expect(/*repair=*/true, 2, 1);
  EXPECT_FALSE(blobs_->Has(model_));
  ASSERT_OK(blobs_->Put(model_, "model"));
  Expect(/*repair=*/false, 0, 0);
}

TEST_F(StateCheckTest, ABlobThatWasCutShortIsFound) {
  ASSERT_EQ(truncate(FileOf(model_).c_str(), 2), 0);
  Expect(/*repair=*/true, 2, 1);
  EXPECT_THAT(blobs_->List().value(), ::testing::IsEmpty());
}

TEST_F(StateCheckTest, KeepsOutOfTheWayOfAServer) {
  const FileLock lock = *LockDataFolder(options_.data_dir, "slipwayd --listen here");
  EXPECT_THAT(Check(false), StatusIs(absl::StatusCode::kFailedPrecondition,
                                     HasSubstr("slipwayd --listen here, process")));
}

TEST_F(StateCheckTest, SaysWhatItCannotCheck) {
  std::ofstream(JoinPath(options_.data_dir, kDatabaseName)) << std::string(8'192, 'x');
  EXPECT_THAT(Check(false), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("jobs.sqlite")));
  options_.data_dir = JoinPath(folder_.path(), "none");
  EXPECT_THAT(Check(true), StatusIs(absl::StatusCode::kNotFound, HasSubstr("--data-dir")));
  EXPECT_NE(access(options_.data_dir.c_str(), F_OK), 0);
}

TEST_F(StateCheckTest, OffersThatCannotBeReadAreMovedAway) {
  const std::string path = JoinPath(options_.data_dir, kAgentOffersName);
  ASSERT_OK(WriteFileAtomically(path, "damaged", /*durable=*/false));
  Expect(/*repair=*/false, 1, 0);
  Expect(/*repair=*/true, 1, 1);
  EXPECT_THAT(lines_, Contains(HasSubstr("moved to lost+found/agent-offers")));
  EXPECT_THAT(ReadFile(path, 100), StatusIs(absl::StatusCode::kNotFound));
  Expect(/*repair=*/false, 0, 0);
}

TEST_F(StateCheckTest, AnOfferedBinaryThatIsNotThereIsNamed) {
  ASSERT_OK_AND_ASSIGN(const auto offers,
                       AgentOffers::Open(JoinPath(options_.data_dir, kAgentOffersName)));
  AgentOfferRecord record;
  *record.mutable_offer()->mutable_binary() = ToProto(Digest::Of("binary"));
  record.mutable_offer()->set_platform("x86-64-linux");
  ASSERT_OK(offers->Put(record));
  Expect(/*repair=*/true, 1, 0);
  EXPECT_THAT(lines_,
              Contains(AllOf(HasSubstr(Digest::Of("binary").hex()), HasSubstr("offer it again"))));
  ASSERT_OK(blobs_->Put(Digest::Of("binary"), "binary"));
  Expect(/*repair=*/false, 0, 0);
}

}  // namespace
}  // namespace slipway::server
