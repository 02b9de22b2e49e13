#include "device_agent/blob_transfer.h"

#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "device_agent/testing/fake_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class BlobTransferTest : public ::testing::Test {
 protected:
  absl::Status Fetch(const Digest& digest) {
    return FetchBlob(transport_, digest, cache_, absl::Now() + absl::Seconds(30),
                     stop_.get_token());
  }
  FakeTransport transport_;
  MemoryBlobStore cache_;
  std::stop_source stop_;
};

TEST_F(BlobTransferTest, ResumesUntilItIsThere) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(transport_.blobs(), std::string(100, 'x')));
  transport_.BreakReads(3, 30);
  EXPECT_OK(Fetch(digest));
  EXPECT_TRUE(cache_.Has(digest));
  EXPECT_EQ(transport_.pauses().size(), 3u);
  EXPECT_OK(Fetch(digest));
}

TEST_F(BlobTransferTest, FailsAtOnceWhereTryingAgainIsNoUse) {
  EXPECT_THAT(Fetch(Digest::Of("unknown")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot fetch blob")));
  EXPECT_TRUE(transport_.pauses().empty());
}

TEST_F(BlobTransferTest, EndsAtItsDeadlineAndWhenStopped) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(transport_.blobs(), "bytes"));
  transport_.BreakReads(1000, 0);
  EXPECT_THAT(FetchBlob(transport_, digest, cache_, absl::Now(), stop_.get_token()),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("broken on purpose")));
  stop_.request_stop();
  EXPECT_THAT(Fetch(digest), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(BlobTransferTest, SendsWhatTheCacheHolds) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(cache_, "output"));
  EXPECT_OK(
      SendBlob(transport_, digest, cache_, absl::Now() + absl::Seconds(30), stop_.get_token()));
  EXPECT_TRUE(transport_.blobs().Has(digest));
}

}  // namespace
}  // namespace slipway
