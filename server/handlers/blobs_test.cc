#include "server/handlers/blobs.h"

#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/store/file_blob_store.h"
#include "core/store/file_names.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/limits.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;

v1::WriteRequest First(const v1::Digest& digest, const std::string& data, int64_t offset = 0) {
  v1::WriteRequest request;
  *request.mutable_digest() = digest;
  request.set_offset(offset);
  request.set_data(data);
  return request;
}

v1::WriteRequest Next(int64_t offset, const std::string& data) {
  v1::WriteRequest request;
  request.set_offset(offset);
  request.set_data(data);
  return request;
}

class BlobsTest : public ::testing::Test {
 protected:
  // Takes each message and finishes: the call of Write that a client makes.
  absl::Status Upload(const std::vector<v1::WriteRequest>& requests) {
    BlobUpload upload(server_.env, "ann");
    for (const v1::WriteRequest& request : requests) {
      const absl::Status status = upload.Take(request);
      if (!status.ok()) return status;
    }
    v1::WriteResponse response;
    return upload.Finish(&response);
  }

  absl::StatusOr<std::vector<std::string>> Download(const v1::Digest& digest, int64_t offset = 0) {
    v1::ReadRequest request;
    *request.mutable_digest() = digest;
    request.set_offset(offset);
    absl::StatusOr<std::unique_ptr<BlobDownload>> download =
        BlobDownload::Open(server_.env, "local", request);
    if (!download.ok()) return download.status();
    std::vector<std::string> pieces;
    v1::ReadResponse response;
    while (true) {
      const absl::StatusOr<bool> has_piece = (*download)->Next(&response);
      if (!has_piece.ok()) return has_piece.status();
      if (!*has_piece) return pieces;
      pieces.push_back(response.data());
    }
  }

  int64_t Held(const v1::Digest& digest) {
    v1::QueryWriteRequest request;
    *request.mutable_digest() = digest;
    v1::QueryWriteResponse response;
    EXPECT_OK(QueryWrite(server_.env, request, &response));
    return response.committed_bytes();
  }

  testing::HandlerEnvironment server_;
  const std::string bytes_ = "0123456789";
  const v1::Digest digest_ = ToProto(Digest::Of(bytes_));
};

TEST_F(BlobsTest, FindMissingNamesWhatIsNotHere) {
  v1::FindMissingRequest request;
  *request.add_digests() = server_.Put("here");
  *request.add_digests() = digest_;
  v1::FindMissingResponse response;
  ASSERT_OK(FindMissing(server_.env, request, &response));
  ASSERT_EQ(response.missing_size(), 1);
  EXPECT_EQ(response.missing(0).sha256(), digest_.sha256());
}

TEST_F(BlobsTest, FindMissingTakesSoManyAndNoMore) {
  v1::FindMissingRequest request;
  for (int i = 0; i < kMaxDigestsInFindMissing; ++i) *request.add_digests() = digest_;
  v1::FindMissingResponse response;
  EXPECT_OK(FindMissing(server_.env, request, &response));
  EXPECT_EQ(response.missing_size(), 1);
  *request.add_digests() = digest_;
  EXPECT_THAT(FindMissing(server_.env, request, &response),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("10001 digests")));
}

TEST_F(BlobsTest, DigestsAreChecked) {
  v1::Digest bad = digest_;
  bad.set_sha256("abc");
  v1::FindMissingRequest missing;
  *missing.add_digests() = bad;
  v1::FindMissingResponse missing_response;
  EXPECT_THAT(FindMissing(server_.env, missing, &missing_response),
              StatusIs(absl::StatusCode::kInvalidArgument));
  v1::QueryWriteRequest query;
  *query.mutable_digest() = bad;
  v1::QueryWriteResponse query_response;
  EXPECT_THAT(QueryWrite(server_.env, query, &query_response),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Upload({First(bad, bytes_)}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Download(bad), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(BlobsTest, ABlobComesInPieces) {
  EXPECT_OK(Upload({First(digest_, "0123"), Next(4, "45678"), Next(9, ""), Next(9, "9")}));
  EXPECT_EQ(server_.blobs.Get(Digest::Of(bytes_))->bytes(), bytes_);
  EXPECT_EQ(Held(digest_), 10);
}

TEST_F(BlobsTest, AKnownBlobNeedsNoBytes) {
  server_.Put(bytes_);
  BlobUpload upload(server_.env, "ann");
  EXPECT_FALSE(upload.is_known());
  ASSERT_OK(upload.Take(First(digest_, "")));
  EXPECT_TRUE(upload.is_known());
  EXPECT_OK(upload.Take(Next(0, "whatever was on its way")));
  v1::WriteResponse response;
  EXPECT_OK(upload.Finish(&response));
  EXPECT_EQ(response.committed_bytes(), 10);
}

TEST_F(BlobsTest, ATransferResumesWhereItStopped) {
  EXPECT_THAT(Upload({First(digest_, "0123")}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("4 of 10 bytes")));
  EXPECT_EQ(Held(digest_), 4);
  EXPECT_THAT(Upload({First(digest_, "56789", 5)}),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("4 bytes are held")));
  EXPECT_EQ(Held(digest_), 4);
  EXPECT_OK(Upload({First(digest_, "456789", 4)}));
}

TEST_F(BlobsTest, ATransferMayBeginAnewAndRepeatWhatIsHeld) {
  ASSERT_FALSE(Upload({First(digest_, "0123")}).ok());
  EXPECT_OK(Upload({First(digest_, "01"), Next(2, "2345"), Next(6, "6789")}));
  EXPECT_EQ(server_.blobs.Get(Digest::Of(bytes_))->bytes(), bytes_);
}

TEST_F(BlobsTest, BytesThatAreNotTheBlobAreDropped) {
  EXPECT_THAT(Upload({First(digest_, "0123456780")}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Held(digest_), 0);
  EXPECT_THAT(Upload({First(digest_, "01234567890")}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_OK(Upload({First(digest_, bytes_)}));
}

TEST_F(BlobsTest, MessagesOutOfOrderAreRefusedAndTheTransferIsFree) {
  const std::vector<std::vector<v1::WriteRequest>> refused = {
      {Next(0, "0123")},                                      // names no blob
      {First(digest_, "0123"), First(digest_, "4567")},       // names one twice
      {First(digest_, "0123"), Next(5, "5678")},              // leaves a gap
      {First(digest_, "0123"), Next(3, "3456")},              // overlaps
      {First(digest_, std::string(kMaxPieceBytes + 1, 'x'))}  // too large
  };
  for (size_t i = 0; i < refused.size(); ++i) {
    EXPECT_THAT(Upload(refused[i]), StatusIs(absl::StatusCode::kInvalidArgument)) << i;
  }
  EXPECT_THAT(Upload({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no message")));
  EXPECT_OK(Upload({First(digest_, bytes_)}));
}

// While the call that failed is still there.
TEST_F(BlobsTest, AFailedCallHoldsNothing) {
  BlobUpload failed(server_.env, "ann");
  ASSERT_OK(failed.Take(First(digest_, "0123")));
  ASSERT_FALSE(failed.Take(Next(9, "9")).ok());
  EXPECT_EQ(Held(digest_), 4);
  EXPECT_OK(Upload({First(digest_, "456789", 4)}));
}

// A transfer that stands still holds no file, and goes on all the same.
TEST_F(BlobsTest, ATransferThatStandsStillHoldsNothing) {
  const TemporaryFolder folder = *TemporaryFolder::Create("blobs_test");
  const std::unique_ptr<FileBlobStore> files = *FileBlobStore::Create({.folder = folder.path()});
  server_.env.blobs = files.get();
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  std::vector<std::unique_ptr<BlobUpload>> uploads;
  std::vector<v1::Digest> digests;
  for (int i = 0; i < 30; ++i) {
    uploads.push_back(std::make_unique<BlobUpload>(server_.env, "owner " + std::to_string(i)));
    digests.push_back(ToProto(Digest::Of("01234567" + std::to_string(i))));
    ASSERT_OK(uploads[i]->Take(First(digests[i], "0123")));
    EXPECT_LE(open_files(), before + 4);
  }
  server_.clock.Advance(kUploadIdle + absl::Seconds(1));
  server_.uploads.CloseIdle();
  EXPECT_EQ(open_files(), before);
  for (int i = 0; i < 30; ++i) {
    ASSERT_OK(uploads[i]->Take(Next(4, "4567" + std::to_string(i))));
    server_.clock.Advance(kUploadIdle + absl::Seconds(1));
    server_.uploads.CloseIdle();
    v1::WriteResponse response;
    EXPECT_OK(uploads[i]->Finish(&response));
  }
  EXPECT_EQ(files->List()->size(), 30u);
  EXPECT_EQ(files->CountUnfinished()->count, 0);
}

TEST_F(BlobsTest, ATransferWhoseBeginningWasDroppedSaysSo) {
  BlobUpload upload(server_.env, "ann");
  ASSERT_OK(upload.Take(First(digest_, "0123")));
  server_.clock.Advance(kUploadIdle + absl::Seconds(1));
  server_.uploads.CloseIdle();
  EXPECT_EQ(server_.blobs.CountUnfinished()->bytes, 4);
  server_.clock.Advance(kUnfinishedRetention + absl::Seconds(1));
  server_.blobs.DropUnfinished(kUnfinishedRetention);
  EXPECT_EQ(server_.blobs.CountUnfinished()->bytes, 0);
  EXPECT_THAT(upload.Take(Next(4, "456789")),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("resume")));
  EXPECT_OK(Upload({First(digest_, bytes_)}));
}

TEST_F(BlobsTest, ABlobOverTheLimitIsRefusedAtOnce) {
  server_.env.limits.max_blob_bytes = 10;
  EXPECT_OK(Upload({First(digest_, bytes_)}));
  server_.env.limits.max_blob_bytes = 9;
  EXPECT_THAT(Upload({First(ToProto(Digest::Of("abcdefghij")), "")}),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("allows 9")));
}

TEST_F(BlobsTest, DownloadsComeInPieces) {
  std::string large(kMaxPieceBytes, 'a');
  large += "bc";
  const v1::Digest digest = server_.Put(large);
  const auto whole = Download(digest);
  ASSERT_OK(whole);
  ASSERT_EQ(whole->size(), 2);
  EXPECT_EQ((*whole)[0], large.substr(0, kMaxPieceBytes));
  EXPECT_EQ((*whole)[1], "bc");
  EXPECT_THAT(Download(digest, kMaxPieceBytes + 1).value(), ::testing::ElementsAre("c"));
  EXPECT_THAT(Download(digest, kMaxPieceBytes + 2).value(), ::testing::IsEmpty());
  EXPECT_THAT(Download(digest, kMaxPieceBytes + 3), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(Download(digest, -1), StatusIs(absl::StatusCode::kOutOfRange));
}

// A mapped file would end the process here.
TEST_F(BlobsTest, ADownloadOutlivesAFileThatIsCutShort) {
  const TemporaryFolder folder = *TemporaryFolder::Create("blobs_test");
  const std::unique_ptr<FileBlobStore> files = *FileBlobStore::Create({.folder = folder.path()});
  server_.env.blobs = files.get();
  const Digest digest = *PutBytes(*files, std::string(3 * kMaxPieceBytes, 'x'));
  v1::ReadRequest request;
  *request.mutable_digest() = ToProto(digest);
  absl::StatusOr<std::unique_ptr<BlobDownload>> download =
      BlobDownload::Open(server_.env, "local", request);
  ASSERT_OK(download);
  v1::ReadResponse response;
  ASSERT_TRUE((*download)->Next(&response).value());
  const std::string path = HexPath(BlobsFolder(folder.path()), digest.hex());
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_THAT((*download)->Next(&response), StatusIs(absl::StatusCode::kDataLoss));
  // Whoever asks next hears that it is rotten, and then that it is not here.
  EXPECT_THAT(BlobDownload::Open(server_.env, "local", request),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(BlobDownload::Open(server_.env, "local", request),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(BlobsTest, PiecesAreSmallerWhileManyRead) {
  const std::string bytes(2 << 20, 'x');
  v1::ReadRequest request;
  *request.mutable_digest() = server_.Put(bytes);
  v1::ReadResponse response;
  {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BlobDownload> slow,
                         BlobDownload::Open(server_.env, "slow", request));
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BlobDownload> other,
                         BlobDownload::Open(server_.env, "other", request));
    ASSERT_TRUE(other->Next(&response).value());
    EXPECT_EQ(response.data().size(), 512 << 10);
  }
  EXPECT_THAT(Download(request.digest()).value(), ::testing::SizeIs(2));
}

TEST_F(BlobsTest, AnEmptyBlobIsOneEmptyPiece) {
  EXPECT_THAT(Download(server_.Put("")).value(), ::testing::ElementsAre(""));
}

TEST_F(BlobsTest, DownloadOfWhatIsNotHereSaysWhatToDo) {
  EXPECT_THAT(Download(digest_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("write it, or compile again")));
}

TEST_F(BlobsTest, WhereMemoryIsShortOnlyWhoWorksBringsAnything) {
  const auto as = [](Role role) { return Caller{.owner = "ann", .roles = {role}}; };
  EXPECT_OK(MayWrite(as(Role::kUser), server_.env));
  server_.TakeMemory();
  EXPECT_THAT(MayWrite(as(Role::kUser), server_.env),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("memory")));
  EXPECT_OK(MayWrite(as(Role::kAgent), server_.env));
  EXPECT_OK(MayWrite(as(Role::kWorker), server_.env));
}

}  // namespace
}  // namespace slipway::server
