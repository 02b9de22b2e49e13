#include "core/base/files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kMax = 1 << 20;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("files_test")); }
  std::string Path(absl::string_view name) const { return JoinPath(folder_.path(), name); }
  bool Exists(const std::string& path) const {
    struct stat info;
    return lstat(path.c_str(), &info) == 0;
  }
  int CountLeftovers() const {
    struct stat info;
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
      count += lstat(Path(".tmp-" + std::to_string(getpid()) + "-" + std::to_string(i)).c_str(),
                     &info) == 0;
    }
    return count;
  }
  TemporaryFolder folder_;
};

TEST_F(FilesTest, WritesAndReadsBack) {
  std::string bytes("a\0b", 3);
  bytes.append(3 << 16, 'x');
  ASSERT_OK(WriteFileAtomically(Path("f"), bytes, /*durable=*/true));
  EXPECT_THAT(ReadFile(Path("f"), kMax), IsOkAndHolds(bytes));
  ASSERT_OK(WriteFileAtomically(Path("f"), "new", /*durable=*/false));
  EXPECT_THAT(ReadFile(Path("f"), kMax), IsOkAndHolds("new"));
  EXPECT_EQ(CountLeftovers(), 0);
}

TEST_F(FilesTest, ANewFileHasTheModeThatIsWanted) {
  const std::string path = Path("secret");
  const mode_t before = umask(0);
  EXPECT_OK(WriteFileAtomically(path, "secret", false, 0600));
  umask(before);
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);
}

TEST_F(FilesTest, ReadIsBounded) {
  ASSERT_OK(WriteFileAtomically(Path("f"), "12345", false));
  EXPECT_THAT(ReadFile(Path("f"), 5), IsOkAndHolds("12345"));
  EXPECT_THAT(ReadFile(Path("f"), 4), StatusIs(absl::StatusCode::kResourceExhausted,
                                               AllOf(HasSubstr("/f'"), HasSubstr("4 bytes"))));
  EXPECT_THAT(MappedFile::Open(Path("f"), 4), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(FilesTest, ReadsFilesThatClaimNoSize) {
  ASSERT_OK_AND_ASSIGN(const std::string status, ReadFile("/proc/self/status", kMax));
  EXPECT_THAT(status, HasSubstr("Pid:"));
  EXPECT_THAT(ReadFile("/proc/self/status", 10), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(FilesTest, RefusesWhatIsNotAFile) {
  EXPECT_THAT(ReadFile(Path("none"), kMax), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadFile(folder_.path(), kMax),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is a folder")));
  EXPECT_THAT(ReadFile("/dev/zero", kMax),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a file")));
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadFile(Path("pipe"), kMax), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(FilesTest, MapsAFile) {
  ASSERT_OK(WriteFileAtomically(Path("f"), "mapped", false));
  ASSERT_OK_AND_ASSIGN(MappedFile file, MappedFile::Open(Path("f"), kMax));
  ASSERT_OK(RemoveTree(Path("f")));
  MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes(), "mapped");
  ASSERT_OK(WriteFileAtomically(Path("empty"), "", false));
  ASSERT_OK_AND_ASSIGN(file, MappedFile::Open(Path("empty"), kMax));
  EXPECT_EQ(file.bytes(), "");
}

TEST_F(FilesTest, MappedBytesTakeNoMemoryOnceTheyAreLetGo) {
  const auto mapped_memory = [] {
    const auto status = ReadFile("/proc/self/status", kMax);
    EXPECT_OK(status.status());
    return std::atoll(status->c_str() + status->find("RssFile:") + 8) << 10;
  };
  constexpr int64_t kBytes = 8 << 20;
  ASSERT_OK(WriteFileAtomically(Path("f"), std::string(kBytes, 'x'), false));
  ASSERT_OK_AND_ASSIGN(const MappedFile file, MappedFile::Open(Path("f"), kBytes));
  ASSERT_EQ(file.bytes().find_first_not_of('x'), absl::string_view::npos);
  const int64_t before = mapped_memory();
  // The pages at both ends go too.
  MappedFile::LetGo(file.bytes().substr(1, kBytes - 2));
  EXPECT_LE(mapped_memory(), before - kBytes * 9 / 10);
  EXPECT_EQ(file.bytes().find_first_not_of('x'), absl::string_view::npos);
  MappedFile::LetGo({});
}

TEST_F(FilesTest, FailedWriteLeavesNothingBehind) {
  EXPECT_THAT(WriteFileAtomically(Path("no/f"), "x", false), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK(MakeFolders(Path("taken/inner")));
  EXPECT_FALSE(WriteFileAtomically(Path("taken"), "x", false).ok());
  EXPECT_EQ(CountLeftovers(), 0);
}

TEST_F(FilesTest, FullDiskKeepsTheOldFile) {
  ASSERT_OK(WriteFileAtomically(Path("f"), "old", false));
  // A limit on file sizes stands in for a full disk: both fail in the middle of writing.
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status status = WriteFileAtomically(Path("f"), std::string(5000, 'x'), true);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(ReadFile(Path("f"), kMax), IsOkAndHolds("old"));
  EXPECT_EQ(CountLeftovers(), 0);
}

TEST_F(FilesTest, ErrnoBecomesAFittingCode) {
  EXPECT_THAT(ErrnoStatus(ENOENT, "x"),
              StatusIs(absl::StatusCode::kNotFound, "x: No such file or directory"));
  EXPECT_THAT(ErrnoStatus(EEXIST, "x"), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(ErrnoStatus(EACCES, "x"), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(ErrnoStatus(ENOSPC, "x"), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(ErrnoStatus(EIO, "x"), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(FilesTest, MakesFoldersAndTheirParents) {
  ASSERT_OK(MakeFolders(Path("a/b//c/")));
  ASSERT_OK(MakeFolders(Path("a/b/c")));
  EXPECT_TRUE(Exists(Path("a/b/c")));
  ASSERT_OK(WriteFileAtomically(Path("file"), "", false));
  EXPECT_THAT(MakeFolders(Path("file/x")), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(MakeFolders(""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(FilesTest, RemovesTreesWithoutFollowingLinks) {
  ASSERT_OK(MakeFolders(Path("tree/a/b")));
  ASSERT_OK(MakeFolders(Path("kept")));
  ASSERT_OK(WriteFileAtomically(Path("kept/file"), "x", false));
  ASSERT_OK(WriteFileAtomically(Path("tree/a/file"), "x", false));
  ASSERT_EQ(symlink(Path("kept").c_str(), Path("tree/a/link").c_str()), 0);
  ASSERT_EQ(symlink(Path("tree").c_str(), Path("to_tree").c_str()), 0);
  EXPECT_OK(RemoveTree(Path("to_tree")));
  EXPECT_TRUE(Exists(Path("tree/a/b")));
  EXPECT_OK(RemoveTree(Path("tree")));
  EXPECT_FALSE(Exists(Path("tree")));
  EXPECT_TRUE(Exists(Path("kept/file")));
  EXPECT_OK(RemoveTree(Path("tree")));
}

TEST_F(FilesTest, TemporaryFolderGoesAwayUnlessReleased) {
  std::string path;
  {
    ASSERT_OK_AND_ASSIGN(TemporaryFolder folder, TemporaryFolder::Create("x"));
    path = folder.path();
    ASSERT_OK(WriteFileAtomically(JoinPath(path, "f"), "x", false));
  }
  EXPECT_FALSE(Exists(path));
  {
    ASSERT_OK_AND_ASSIGN(TemporaryFolder folder, TemporaryFolder::Create("x"));
    path = folder.Release();
  }
  EXPECT_TRUE(Exists(path));
  EXPECT_OK(RemoveTree(path));
}

TEST_F(FilesTest, LockIsExclusiveAndNamesItsHolder) {
  {
    ASSERT_OK_AND_ASSIGN(const FileLock lock, FileLock::TryAcquire(Path("lock"), "slipwayd 17"));
    EXPECT_THAT(FileLock::TryAcquire(Path("lock"), "other"),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("/lock'"), HasSubstr("slipwayd 17"))));
  }
  EXPECT_OK(FileLock::TryAcquire(Path("lock"), "other"));
}

// As between a fork and the exec of a child, whose parent was killed meanwhile.
TEST_F(FilesTest, PatienceOutlivesAChildThatHoldsTheLock) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = -1;
  {
    ASSERT_OK_AND_ASSIGN(const FileLock lock, FileLock::TryAcquire(Path("lock"), "one"));
    child = fork();
    if (child == 0) {
      char byte = 0;
      close(ends[1]);
      _exit(static_cast<int>(read(ends[0], &byte, 1)));
    }
  }
  ASSERT_GT(child, 0);
  EXPECT_THAT(FileLock::TryAcquire(Path("lock"), "two"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(FileLock::TryAcquire(Path("lock"), "two", absl::Milliseconds(20)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  std::thread end_it([&ends] { close(ends[1]); });
  EXPECT_OK(FileLock::TryAcquire(Path("lock"), "two", absl::Minutes(1)));
  end_it.join();
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[0]);
}

TEST_F(FilesTest, JoinsPaths) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "/b"), "a/b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
}

TEST_F(FilesTest, FindsTheUserCacheFolder) {
  setenv("XDG_CACHE_HOME", "/x/cache", 1);
  EXPECT_THAT(UserCacheFolder(), IsOkAndHolds("/x/cache/slipway"));
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/u", 1);
  EXPECT_THAT(UserCacheFolder(), IsOkAndHolds("/home/u/.cache/slipway"));
  unsetenv("HOME");
  EXPECT_THAT(UserCacheFolder(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(FilesTest, WritesIntoWhatIsNoFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd from(ends[0]), to(ends[1]);
  const std::string path = "/dev/fd/" + std::to_string(to.get());
  ASSERT_OK(WriteFileAtomically(path, "1234567", /*durable=*/true));
  char buffer[16];
  EXPECT_EQ(read(from.get(), buffer, sizeof(buffer)), 7);
}

}  // namespace
}  // namespace slipway
