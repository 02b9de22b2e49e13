#include "server/handlers/blobs.h"

#include <string>
#include <utility>
#include <vector>

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
    BlobUpload upload(server_.env);
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
    absl::StatusOr<BlobDownload> download = BlobDownload::Open(server_.env, request);
    if (!download.ok()) return download.status();
    std::vector<std::string> pieces;
    for (v1::ReadResponse response; download->Next(&response);) pieces.push_back(response.data());
    return pieces;
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
  BlobUpload upload(server_.env);
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
  BlobUpload failed(server_.env);
  ASSERT_OK(failed.Take(First(digest_, "0123")));
  ASSERT_FALSE(failed.Take(Next(9, "9")).ok());
  EXPECT_EQ(Held(digest_), 4);
  EXPECT_OK(Upload({First(digest_, "456789", 4)}));
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

TEST_F(BlobsTest, AnEmptyBlobIsOneEmptyPiece) {
  EXPECT_THAT(Download(server_.Put("")).value(), ::testing::ElementsAre(""));
}

TEST_F(BlobsTest, DownloadOfWhatIsNotHereSaysWhatToDo) {
  EXPECT_THAT(Download(digest_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("write it, or compile again")));
}

}  // namespace
}  // namespace slipway::server
