#include "core/store/file_blob_store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/store/file_names.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Code = absl::StatusCode;

class FileBlobStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("store");
    store_ = Open();
  }
  std::unique_ptr<FileBlobStore> Open(bool notes_uses = true) {
    FileBlobStore::Options options;
    options.folder = folder_.path();
    options.notes_uses = notes_uses;
    return *FileBlobStore::Create(options);
  }
  std::string PathOf(const Digest& digest) const {
    return HexPath(BlobsFolder(folder_.path()), digest.hex());
  }
  // Writes over a blob's file, as somebody does who wants it not to be seen: its time of writing is as it was.
  void Alter(const Digest& digest, const std::string& bytes) const {
    struct stat before {};
    ASSERT_EQ(stat(PathOf(digest).c_str(), &before), 0);
    std::ofstream(PathOf(digest), std::ios::in | std::ios::out | std::ios::binary) << bytes;
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, PathOf(digest).c_str(), times, 0), 0);
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
  ASSERT_OK(WriteFileAtomically(PathOf(digest), "by", false));
  EXPECT_FALSE(store_->Has(digest));
  EXPECT_THAT(store_->Get(digest), StatusIs(Code::kDataLoss));
  ASSERT_OK(store_->Put(digest, "bytes"));
  EXPECT_TRUE(store_->Has(digest));
}

TEST_F(FileBlobStoreTest, NoticesABlobThatWasAlteredAtEqualSize) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(*store_, "bytes"));
  // Before this process has looked at it, and after.
  store_ = Open();
  for (int i = 0; i < 2; ++i) {
    Alter(digest, "bites");
    EXPECT_TRUE(store_->Has(digest));
    EXPECT_THAT(store_->Verify(digest),
                StatusIs(Code::kDataLoss, AllOf(HasSubstr(digest.hex()), HasSubstr("removed"))));
    EXPECT_FALSE(store_->Has(digest));
    EXPECT_THAT(store_->Verify(digest), StatusIs(Code::kNotFound));
    ASSERT_OK(store_->Put(digest, "bytes"));
    EXPECT_OK(store_->Verify(digest));
  }
  Alter(digest, "bites");
  EXPECT_THAT(store_->Open(digest), StatusIs(Code::kDataLoss));
}

TEST_F(FileBlobStoreTest, ARottenBlobIsReplaced) {
  const Digest digest = *PutBytes(*store_, "bytes");
  const std::string file = JoinPath(folder_.path(), "file");
  ASSERT_OK(WriteFileAtomically(file, "bytes", false));
  const std::function<absl::Status()> bring[] = {
      [&] { return store_->Put(digest, "bytes"); },
      [&] { return store_->PutFile(file).status(); },
      [&]() -> absl::Status {
        SLIPWAY_ASSIGN_OR_RETURN(auto writer, store_->Write(digest));
        SLIPWAY_RETURN_IF_ERROR(writer->Append("bytes"));
        return writer->Commit();
      },
  };
  for (const auto& way : bring) {
    Alter(digest, "bites");
    store_ = Open();
    ASSERT_OK(way());
    EXPECT_THAT(ReadBlob(*store_, digest), IsOkAndHolds("bytes"));
  }
  Alter(digest, "bites");
  EXPECT_THAT(store_->FindUnsound({digest, digest, *PutBytes(*store_, "sound")}),
              IsOkAndHolds(ElementsAre(digest)));
}

// Who knows a blob's hash may name any size with it.
TEST_F(FileBlobStoreTest, AWrongSizeHarmsNoBlob) {
  const Digest digest = *PutBytes(*store_, "bytes");
  for (const int64_t size : {int64_t{0}, int64_t{4}, int64_t{6}, INT64_MAX}) {
    const Digest wrong = *Digest::FromHex(digest.hex(), size);
    const std::function<absl::Status()> ways[] = {
        [&] { return store_->Verify(wrong); },
        [&] { return store_->Open(wrong).status(); },
        [&] { return store_->FindUnsound({wrong}).status(); },
        [&] { return store_->Write(wrong).status(); },
    };
    for (const auto& way : ways) {
      EXPECT_FALSE(absl::IsDataLoss(way()));
      EXPECT_THAT(ReadBlob(*store_, digest), IsOkAndHolds("bytes"));
    }
    EXPECT_THAT(store_->Verify(wrong), StatusIs(absl::StatusCode::kNotFound));
  }
  // One that is rotten goes all the same.
  Alter(digest, "bites");
  EXPECT_THAT(store_->Verify(*Digest::FromHex(digest.hex(), 4)),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(store_->Verify(digest), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(FileBlobStoreTest, ReadsABlobOnceUntilItChanges) {
  const std::string bytes(100'000, 'x');
  const Digest digest = *PutBytes(*store_, bytes);
  EXPECT_OK(store_->Verify(digest));
  EXPECT_EQ(store_->bytes_verified(), 0);  // It wrote them.
  store_ = Open();
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(store_->Verify(digest));
    EXPECT_OK(store_->Open(digest));
    EXPECT_OK(store_->Get(digest));
    EXPECT_OK(store_->Put(digest, bytes));
  }
  EXPECT_EQ(store_->bytes_verified(), 100'000);
  // One whom this store hands blobs to leaves no trace; whoever sets its times does.
  const std::unique_ptr<FileBlobStore> child = Open(/*notes_uses=*/false);
  EXPECT_OK(child->Get(digest));
  EXPECT_OK(store_->Verify(digest));
  EXPECT_EQ(store_->bytes_verified(), 100'000);
  const timespec old = absl::ToTimespec(absl::Now() - absl::Hours(1));
  const timespec times[2] = {old, old};
  ASSERT_EQ(utimensat(AT_FDCWD, PathOf(digest).c_str(), times, 0), 0);
  EXPECT_OK(store_->Verify(digest));
  EXPECT_EQ(store_->bytes_verified(), 200'000);
  EXPECT_OK(store_->Verify(digest));
  EXPECT_EQ(store_->bytes_verified(), 200'000);
}

TEST_F(FileBlobStoreTest, LaterProcessesBelieveMarksUntilTheFileChanges) {
  const std::string bytes(100'000, 'x');
  const Digest digest = *PutBytes(*store_, bytes);
  FileBlobStore::Options options;
  options.folder = folder_.path();
  options.marks_sound = true;
  const auto verified = [&] {
    const std::unique_ptr<FileBlobStore> store = *FileBlobStore::Create(options);
    const absl::Status status = store->Verify(digest);
    return status.ok() ? store->bytes_verified() : -1;
  };
  EXPECT_EQ(verified(), 100'000);
  EXPECT_EQ(verified(), 0);
  // A use of long ago is noted, and believed.
  const timespec old = absl::ToTimespec(absl::Now() - absl::Hours(1));
  const timespec times[2] = {old, old};
  ASSERT_EQ(utimensat(AT_FDCWD, PathOf(digest).c_str(), times, 0), 0);
  EXPECT_EQ(verified(), 100'000);
  EXPECT_EQ(verified(), 0);
  // Marks of long ago are not.
  const std::string mark = HexPath(SoundFolder(folder_.path()), digest.hex());
  const timespec days = absl::ToTimespec(absl::Now() - absl::Hours(25));
  const timespec mark_times[2] = {days, days};
  ASSERT_EQ(utimensat(AT_FDCWD, mark.c_str(), mark_times, 0), 0);
  EXPECT_EQ(verified(), 100'000);
  EXPECT_EQ(verified(), 0);
  ASSERT_OK(WriteFileAtomically(mark, "sound", false));
  EXPECT_EQ(verified(), 100'000);
  std::string altered = bytes;
  altered[50'000] = 'y';
  Alter(digest, altered);
  EXPECT_EQ(verified(), -1);
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
}

TEST_F(FileBlobStoreTest, AReaderOutlivesAFileThatIsCutShort) {
  const std::string bytes(100'000, 'x');
  const Digest digest = *PutBytes(*store_, bytes);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BlobReader> reader, store_->Open(digest));
  EXPECT_THAT(reader->Read(99'998, 2), IsOkAndHolds("xx"));
  ASSERT_EQ(truncate(PathOf(digest).c_str(), 10), 0);
  EXPECT_THAT(reader->Read(0, 10), IsOkAndHolds(std::string(10, 'x')));
  EXPECT_THAT(reader->Read(50'000, 10), StatusIs(Code::kDataLoss, HasSubstr(digest.hex())));
  EXPECT_THAT(store_->Verify(digest), StatusIs(Code::kDataLoss));
}

TEST_F(FileBlobStoreTest, ALinkIsNoBlob) {
  const Digest digest = *PutBytes(*store_, "bytes");
  const std::string elsewhere = JoinPath(folder_.path(), "elsewhere");
  ASSERT_EQ(rename(PathOf(digest).c_str(), elsewhere.c_str()), 0);
  ASSERT_EQ(symlink(elsewhere.c_str(), PathOf(digest).c_str()), 0);
  EXPECT_FALSE(store_->Verify(digest).ok());
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
