#include "core/store/file_blob_store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/files.h"
#include "core/store/file_names.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Code = absl::StatusCode;

class FileBlobStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("store");
    store_ = Open();
  }
  std::unique_ptr<FileBlobStore> Open() {
    FileBlobStore::Options options;
    options.folder = folder_.path();
    return *FileBlobStore::Create(options);
  }

  TemporaryFolder folder_;
  std::unique_ptr<FileBlobStore> store_;
};

TEST_F(FileBlobStoreTest, KeepsBlobsAndTransfersOverRestarts) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(*store_, "bytes"));
  const Digest other = Digest::Of("other bytes");
  {
    ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(other));
    ASSERT_OK(writer->Append("other"));
  }
  store_ = Open();
  EXPECT_TRUE(store_->Has(digest));
  EXPECT_EQ(store_->PartialBytes(other), 5);
}

TEST_F(FileBlobStoreTest, TwoStoresShareAFolder) {
  const std::unique_ptr<FileBlobStore> second = Open();
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(*store_, "bytes"));
  EXPECT_TRUE(second->Has(digest));
  ASSERT_OK(second->Remove(digest));
  EXPECT_FALSE(store_->Has(digest));
}

TEST_F(FileBlobStoreTest, WhatItMakesIsTheUsersAlone) {
  const mode_t before = umask(0);
  store_ = Open();
  EXPECT_OK(PutBytes(*store_, "bytes"));
  {
    ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(Digest::Of("other bytes")));
    ASSERT_OK(writer->Append("other"));
  }
  umask(before);
  int entries = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    struct stat status = {};
    ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0077, 0) << entry.path();
    ++entries;
  }
  EXPECT_GE(entries, 3);
}

TEST_F(FileBlobStoreTest, NoticesBlobsThatWereCutShort) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(*store_, "bytes"));
  ASSERT_OK_AND_ASSIGN(const std::string path, store_->PathOf(digest));
  EXPECT_EQ(path, HexPath(BlobsFolder(folder_.path()), digest.hex()));
  ASSERT_OK(WriteFileAtomically(path, "by", false));
  EXPECT_FALSE(store_->Has(digest));
  EXPECT_THAT(store_->Get(digest), StatusIs(Code::kDataLoss));
  EXPECT_THAT(store_->PathOf(digest), StatusIs(Code::kNotFound));
  ASSERT_OK(store_->Put(digest, "bytes"));
  EXPECT_TRUE(store_->Has(digest));
}

TEST_F(FileBlobStoreTest, DropsAPartialFileThatIsTooLong) {
  const Digest digest = Digest::Of("bytes");
  ASSERT_OK(WriteFileAtomically(PartialPath(folder_.path(), digest), "more than five", false));
  EXPECT_EQ(store_->PartialBytes(digest), 0);
  ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(digest));
  EXPECT_EQ(writer->committed_bytes(), 0);
  ASSERT_OK(writer->Append("bytes"));
  EXPECT_OK(writer->Commit());
}

TEST_F(FileBlobStoreTest, DropsAbandonedTransfersWhenOpened) {
  const Digest digest = Digest::Of("bytes");
  const std::string path = PartialPath(folder_.path(), digest);
  ASSERT_OK(WriteFileAtomically(path, "by", false));
  store_ = Open();
  EXPECT_EQ(store_->PartialBytes(digest), 2);
  const timespec old = absl::ToTimespec(absl::Now() - absl::Hours(25));
  const timespec times[2] = {old, old};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  store_ = Open();
  EXPECT_EQ(store_->PartialBytes(digest), 0);
}

TEST_F(FileBlobStoreTest, IgnoresForeignFiles) {
  ASSERT_OK(WriteFileAtomically(JoinPath(BlobsFolder(folder_.path()), "README"), "x", false));
  const std::string parent = JoinPath(BlobsFolder(folder_.path()), "ab");
  ASSERT_OK(MakeFolders(parent));
  ASSERT_OK(WriteFileAtomically(JoinPath(parent, "notes"), "x", false));
  EXPECT_THAT(store_->List(), IsOkAndHolds(IsEmpty()));
}

// A limit on the size of files stands for a full disk: both end a write early.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(FileBlobStoreTest, AFullDiskLosesNothing) {
  const std::string bytes(100000, 'x');
  const Digest digest = Digest::Of(bytes);
  ASSERT_OK_AND_ASSIGN(const Digest small, PutBytes(*store_, "small"));
  {
    const FileSizeLimit limit(50000);
    EXPECT_THAT(store_->Put(digest, bytes), StatusIs(Code::kResourceExhausted));
    EXPECT_FALSE(store_->Has(digest));
    ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(digest));
    ASSERT_OK(writer->Append(bytes.substr(0, 40000)));
    EXPECT_THAT(writer->Append(bytes.substr(40000)), StatusIs(Code::kResourceExhausted));
    EXPECT_EQ(writer->committed_bytes(), 40000);
  }
  EXPECT_TRUE(store_->Has(small));
  ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(digest));
  EXPECT_EQ(writer->committed_bytes(), 40000);
  ASSERT_OK(writer->Append(bytes.substr(40000)));
  ASSERT_OK(writer->Commit());
  EXPECT_TRUE(store_->Has(digest));
}

TEST(FileBlobStore, NeedsAFolderItCanMake) {
  EXPECT_THAT(FileBlobStore::Create({}), StatusIs(Code::kInvalidArgument, HasSubstr("folder")));
  FileBlobStore::Options options;
  options.folder = "/dev/null/x";
  EXPECT_FALSE(FileBlobStore::Create(options).ok());
}

TEST(FileNames, RoundTrip) {
  const Digest digest = Digest::Of("x");
  const std::string path = HexPath("/s", digest.hex());
  EXPECT_EQ(path, "/s/" + digest.hex().substr(0, 2) + "/" + digest.hex().substr(2));
  EXPECT_EQ(ParseHexPath(digest.hex().substr(0, 2), digest.hex().substr(2)), digest.hex());
  EXPECT_EQ(ParseHexPath("abc", digest.hex().substr(3)), "");
  EXPECT_EQ(ParseHexPath("zz", digest.hex().substr(2)), "");
}

}  // namespace
}  // namespace slipway
