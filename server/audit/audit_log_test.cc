#include "server/audit/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/audit/audit_reader.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AuditLogTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("audit-test")); }

  std::string Folder() const { return JoinPath(folder_.path(), "audit"); }
  std::string Path(int age) const { return JoinPath(Folder(), AuditFileName(age)); }
  std::unique_ptr<AuditLog> Open(AuditLogOptions options = {}) {
    absl::StatusOr<std::unique_ptr<AuditLog>> log = AuditLog::Open(Folder(), options, &clock_);
    EXPECT_OK(log);
    return log.ok() ? *std::move(log) : nullptr;
  }
  void Write(AuditLog& log, int from, int to) {
    for (int i = from; i < to; ++i) log.Append({.call = "call", .subject = absl::StrCat(i)});
  }
  void Refuse(AuditLog& log, int count) {
    for (int i = 0; i < count; ++i) log.AppendRefusal({.address = "ipv4:192.0.2.7:1", .call = "x"});
  }

  struct Found {
    std::vector<AuditEntry> entries;
    std::vector<std::string> damaged;  // "FILE:LINE".
    std::vector<std::string> Subjects() const {
      std::vector<std::string> subjects;
      for (const AuditEntry& entry : entries) subjects.push_back(entry.subject);
      return subjects;
    }
  };
  Found Read() const {
    Found found;
    EXPECT_OK(ReadAuditLog(Folder(),
                           {[&](AuditEntry entry) { found.entries.push_back(std::move(entry)); },
                            [&](absl::string_view file, int64_t line) {
                              found.damaged.push_back(absl::StrCat(file, ":", line));
                            }}));
    return found;
  }

  TemporaryFolder folder_;
  FakeClock clock_;
};

TEST_F(AuditLogTest, KeepsWhatIsAppendedAndGoesOnAfterAStart) {
  Write(*Open(), 0, 2);
  clock_.Advance(absl::Seconds(5));
  Write(*Open(), 2, 3);
  const Found found = Read();
  EXPECT_THAT(found.Subjects(), ElementsAre("0", "1", "2"));
  EXPECT_EQ(found.entries[2].time, clock_.Now());
  EXPECT_EQ(found.entries[1].time, clock_.Now() - absl::Seconds(5));
  struct stat info;
  ASSERT_EQ(stat(Path(0).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_EQ(stat(Folder().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
}

TEST_F(AuditLogTest, BeginsANewFileWhenOneIsFullAndDropsTheOldest) {
  constexpr int64_t kBytes = 1000;
  auto log = Open({.max_file_bytes = kBytes, .max_files = 3});
  Write(*log, 0, 100);
  for (int age = 0; age < 3; ++age) {
    struct stat info;
    ASSERT_EQ(stat(Path(age).c_str(), &info), 0) << age;
    EXPECT_LE(info.st_size, kBytes);
    EXPECT_GT(info.st_size, 0);
  }
  EXPECT_NE(access(Path(3).c_str(), F_OK), 0);
  const std::vector<std::string> subjects = Read().Subjects();
  // The latest ones, in order.
  ASSERT_GT(subjects.size(), 20u);
  for (size_t i = 0; i < subjects.size(); ++i) {
    EXPECT_EQ(subjects[i], absl::StrCat(100 - subjects.size() + i));
  }
  EXPECT_EQ(log->lost(), 0);
  // What a file holds counts after a start, too.
  log.reset();
  log = Open({.max_file_bytes = kBytes, .max_files = 1});
  Write(*log, 100, 200);
  struct stat info;
  ASSERT_EQ(stat(Path(0).c_str(), &info), 0);
  EXPECT_LE(info.st_size, kBytes);
}

TEST_F(AuditLogTest, KeepsWritingWhereItCannotBeginANewFile) {
  auto log = Open({.max_file_bytes = 300, .max_files = 2});
  ASSERT_EQ(mkdir(Path(1).c_str(), 0700), 0);  // No file takes the place of a folder.
  Write(*log, 0, 10);
  EXPECT_EQ(log->lost(), 0);
  ASSERT_EQ(rmdir(Path(1).c_str()), 0);
  EXPECT_EQ(Read().entries.size(), 10u);
  Write(*log, 10, 11);
  EXPECT_EQ(Read().Subjects().back(), "10");
  EXPECT_EQ(access(Path(1).c_str(), F_OK), 0);
}

TEST_F(AuditLogTest, AFullDiskCostsTheLinesThatHaveNoRoom) {
  auto log = Open();
  Write(*log, 0, 3);
  struct stat info;
  ASSERT_EQ(stat(Path(0).c_str(), &info), 0);
  // A limit on the size of files stands for a full disk: both end a write early.
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = static_cast<rlim_t>(info.st_size) + 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Write(*log, 3, 6);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(log->lost(), 3);
  Write(*log, 6, 8);
  EXPECT_EQ(log->lost(), 3);
  const Found found = Read();
  EXPECT_THAT(found.Subjects(), ElementsAre("0", "1", "2", "6", "7"));
  EXPECT_THAT(found.damaged, ElementsAre("audit.jsonl:4"));
}

TEST_F(AuditLogTest, ALineThatWasCutHarmsNoOther) {
  Write(*Open(), 0, 1);
  std::ofstream(Path(0), std::ios::app) << R"({ "time": "2026-)";
  EXPECT_THAT(Read().damaged, ElementsAre("audit.jsonl:2"));
  Write(*Open(), 1, 2);
  std::ofstream(Path(0), std::ios::app) << "\n"
                                        << std::string(1 << 20, 'x') << "\n"
                                        << '\0' << "\n";
  Write(*Open(), 2, 3);
  const Found found = Read();
  EXPECT_THAT(found.Subjects(), ElementsAre("0", "1", "2"));
  EXPECT_THAT(found.damaged,
              ElementsAre("audit.jsonl:2", "audit.jsonl:4", "audit.jsonl:5", "audit.jsonl:6"));
}

TEST_F(AuditLogTest, RefusalsHaveALimitAndAreCounted) {
  auto log = Open();
  Refuse(*log, 1000);
  EXPECT_EQ(Read().entries.size(), static_cast<size_t>(RefusalLimit::kMostOfAddress));
  log->TellLeftOut();
  EXPECT_EQ(Read().entries.size(), static_cast<size_t>(RefusalLimit::kMostOfAddress));
  // Nobody else is kept from being written.
  Write(*log, 0, 1);
  EXPECT_EQ(Read().Subjects().back(), "0");
  clock_.Advance(absl::Minutes(1));
  log->TellLeftOut();
  EXPECT_THAT(Read().entries.back().message,
              HasSubstr(absl::StrCat(1000 - RefusalLimit::kMostOfAddress, " refused")));
  // At the end without waiting.
  Refuse(*log, RefusalLimit::kMostOfAddress + 1);
  log.reset();
  EXPECT_THAT(Read().entries.back().message, HasSubstr("1 refused"));
}

TEST_F(AuditLogTest, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  auto log = Open({.max_file_bytes = 20'000, .max_files = 100});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&log, t] {
      for (int i = 0; i < kLines; ++i) {
        log->Append({.call = "call", .subject = absl::StrCat(t, "/", i)});
        log->AppendRefusal({.address = "unix:", .call = "refused"});
        log->TellLeftOut();
      }
    });
  }
  // Nothing is missed or met twice by who reads meanwhile, but for what was not written yet.
  const std::vector<std::string> early = Read().Subjects();
  for (std::thread& thread : threads) thread.join();
  const Found found = Read();
  EXPECT_THAT(found.damaged, IsEmpty());
  std::set<std::string> subjects;
  for (const std::string& subject : found.Subjects()) {
    if (!subject.empty()) EXPECT_TRUE(subjects.insert(subject).second) << subject;
  }
  EXPECT_EQ(subjects.size(), static_cast<size_t>(kThreads * kLines));
  std::set<std::string> seen;
  for (const std::string& subject : early) {
    if (!subject.empty()) EXPECT_TRUE(seen.insert(subject).second) << subject;
  }
  EXPECT_EQ(log->lost(), 0);
}

TEST_F(AuditLogTest, TrustsNoFileOrFolderOfOthers) {
  Open();
  ASSERT_EQ(chmod(Path(0).c_str(), 0644), 0);
  EXPECT_THAT(AuditLog::Open(Folder(), {}, &clock_),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("chmod 600")));
  ASSERT_EQ(chmod(Path(0).c_str(), 0600), 0);
  ASSERT_EQ(chmod(Folder().c_str(), 0770), 0);
  EXPECT_THAT(AuditLog::Open(Folder(), {}, &clock_), StatusIs(absl::StatusCode::kPermissionDenied));
  ASSERT_EQ(chmod(Folder().c_str(), 0700), 0);
  // A link leads nowhere.
  ASSERT_EQ(unlink(Path(0).c_str()), 0);
  ASSERT_EQ(symlink("/dev/null", Path(0).c_str()), 0);
  EXPECT_FALSE(AuditLog::Open(Folder(), {}, &clock_).ok());
}

}  // namespace
}  // namespace slipway::server
