#include "core/rpc/grpc_blob_client.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/testing/grpc_fake_blobs.h"
#include "core/store/memory_blob_store.h"
#include "core/store/quota_blob_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::BlobFaults;
using ::slipway::testing::FakeBlobService;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kMiB = 1 << 20;

// Client, agent and compile worker move blobs by BlobClient alone, so that what is shown here holds for each.
class BlobClientTest : public ::testing::Test {
 protected:
  BlobClientTest() { Start(); }

  void Start() {
    grpc::ServerBuilder builder;
    ApplyServerSettings(builder);
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    calls_ = std::make_unique<Calls>(absl::StrCat("127.0.0.1:", port),
                                     CallerProof{.token = "the-token-of-tests"},
                                     [this](const absl::Status& why) { told_.push_back(why); });
    client_ = std::make_unique<BlobClient>(*calls_);
  }

  absl::Status Fetch(const Digest& digest) { return client_->Fetch(digest, store_, policy_); }
  absl::Status Send(const std::vector<Digest>& digests) {
    const auto source = [this](const Digest& digest) {
      ++asked_for_;
      return store_.Get(digest);
    };
    return client_->Send(digests, source, policy_);
  }
  // A blob of `size` bytes that only `store` holds.
  Digest Put(BlobStore& store, int64_t size) {
    std::string bytes;
    while (static_cast<int64_t>(bytes.size()) < size) absl::StrAppend(&bytes, bytes.size(), " ");
    bytes.resize(size);
    return *PutBytes(store, bytes);
  }
  MemoryBlobStore& served() { return service_.blobs(); }

  absl::Mutex mutex_;
  std::string token_ ABSL_GUARDED_BY(mutex_);
  FakeBlobService service_{[this](const grpc::ServerContext& context) {
    const auto found = context.client_metadata().find("authorization");
    absl::MutexLock lock(&mutex_);
    if (found != context.client_metadata().end()) {
      token_ = std::string(found->second.data(), found->second.size());
    }
    return grpc::Status::OK;
  }};
  std::unique_ptr<grpc::Server> server_;
  std::vector<absl::Status> told_;
  std::unique_ptr<Calls> calls_;
  std::unique_ptr<BlobClient> client_;
  MemoryBlobStore store_;
  int asked_for_ = 0;
  RetryPolicy policy_ = {.retry_for = absl::Seconds(30)};
};

TEST_F(BlobClientTest, SendsWhatTheServerLacks) {
  const std::vector<Digest> digests = {Put(store_, 3 * kMiB + 1), Put(store_, 0), Put(store_, 7)};
  ASSERT_OK(Send(digests));
  for (const Digest& digest : digests) {
    ASSERT_OK_AND_ASSIGN(const Blob blob, served().Get(digest));
    EXPECT_EQ(Digest::Of(blob.bytes()), digest);
  }
  EXPECT_EQ(service_.bytes_written(), 3 * kMiB + 8);
  ASSERT_OK(Send(digests));
  ASSERT_OK(Send({digests[0]}));
  ASSERT_OK(Send({}));
  EXPECT_EQ(asked_for_, 3);
  EXPECT_EQ(service_.bytes_written(), 3 * kMiB + 8);
  absl::MutexLock lock(&mutex_);
  EXPECT_EQ(token_, "Bearer the-token-of-tests");
}

TEST_F(BlobClientTest, AsksOfManyInPieces) {
  std::vector<Digest> digests;
  for (int i = 0; i < 10'001; ++i) digests.push_back(*PutBytes(served(), absl::StrCat(i)));
  digests.push_back(Put(store_, 9));
  digests.push_back(digests.back());
  ASSERT_OK(Send(digests));
  EXPECT_TRUE(served().Has(digests.back()));
  EXPECT_EQ(service_.bytes_written(), 9);
}

TEST_F(BlobClientTest, AnUploadGoesOnWhereItBroke) {
  const Digest digest = Put(store_, 3 * kMiB);
  service_.SetFaults({.writes = 2, .write_bytes = kMiB + 100});
  ASSERT_OK(Send({digest}));
  EXPECT_TRUE(served().Has(digest));
  // Of each try the piece that broke came a second time, and nothing before it.
  EXPECT_EQ(service_.bytes_written(), 3 * kMiB + (kMiB - 100) + (kMiB - 200));
}

TEST_F(BlobClientTest, AnUploadBeginsAnewWhereTheServerForgotItsOffset) {
  const Digest digest = Put(store_, 3 * kMiB);
  service_.SetFaults({.forgotten_bytes = kMiB});
  ASSERT_OK(Send({digest}));
  EXPECT_TRUE(served().Has(digest));
  EXPECT_EQ(service_.bytes_written(), 3 * kMiB);
}

TEST_F(BlobClientTest, AnUploadSurvivesBreakingAndForgetting) {
  const Digest digest = Put(store_, 3 * kMiB);
  // The second write leaves bytes there, so that neither what QueryWrite says nor 0 is then right.
  service_.SetFaults({.writes = 2, .write_bytes = kMiB, .forgotten_bytes = 5});
  const auto forget = std::jthread([this, digest](std::stop_token stop) {
    while (!stop.stop_requested() && served().PartialBytes(digest) == 0) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    absl::SleepFor(absl::Milliseconds(100));
    service_.SetFaults({});
  });
  ASSERT_OK(Send({digest}));
  EXPECT_EQ(service_.bytes_written(), 3 * kMiB);
  EXPECT_TRUE(served().Has(digest));
}

TEST_F(BlobClientTest, AServerThatHoldsMoreThanThereIsIsNotFollowed) {
  const Digest digest = Put(store_, 10);
  service_.SetFaults({.forgotten_bytes = 11});
  EXPECT_THAT(Send({digest}), StatusIs(absl::StatusCode::kInternal, HasSubstr("11 of 10 bytes")));
  service_.SetFaults({.forgotten_bytes = -1});
  EXPECT_THAT(Send({digest}), StatusIs(absl::StatusCode::kInternal, HasSubstr("-1 of 10 bytes")));
}

TEST_F(BlobClientTest, WhatCannotBeReadIsNotSent) {
  EXPECT_THAT(Send({Digest::Of("never stored")}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot send blob")));
}

TEST_F(BlobClientTest, ADownloadGoesOnWhereItBroke) {
  const Digest digest = Put(served(), 3 * kMiB);
  service_.SetFaults({.reads = 3, .read_bytes = 900'000});
  ASSERT_OK(Fetch(digest));
  EXPECT_TRUE(store_.Has(digest));
  EXPECT_EQ(service_.bytes_read(), 3 * kMiB);
  ASSERT_OK(Fetch(digest));
  EXPECT_EQ(service_.bytes_read(), 3 * kMiB);
}

TEST_F(BlobClientTest, ADownloadGoesOnWhereAnotherLeftIt) {
  const Digest digest = Put(served(), 100);
  {
    ASSERT_OK_AND_ASSIGN(const auto writer, store_.Write(digest));
    ASSERT_OK_AND_ASSIGN(const Blob blob, served().Get(digest));
    ASSERT_OK(writer->Append(blob.bytes().substr(0, 60)));
  }
  ASSERT_OK(Fetch(digest));
  EXPECT_EQ(service_.bytes_read(), 40);
}

TEST_F(BlobClientTest, ADownloadOfNothing) {
  const Digest digest = Put(served(), 0);
  ASSERT_OK(Fetch(digest));
  EXPECT_TRUE(store_.Has(digest));
}

TEST_F(BlobClientTest, AShortDownloadIsTriedAgain) {
  const Digest digest = Put(served(), 100);
  service_.SetFaults({.read_ends_after = 40});
  ASSERT_OK(Fetch(digest));
  service_.SetFaults({.read_ends_after = 0});
  policy_.retry_for = absl::ZeroDuration();
  EXPECT_THAT(Fetch(Put(served(), 50)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("sent 0 bytes")));
}

TEST_F(BlobClientTest, OtherBytesAreRefused) {
  const Digest digest = Put(served(), 100);
  service_.SetFaults({.corrupt = true});
  EXPECT_THAT(Fetch(digest), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("something else")));
  service_.SetFaults({.tail = "more"});
  EXPECT_THAT(Fetch(digest), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("more than the 100")));
  EXPECT_FALSE(store_.Has(digest));
  service_.SetFaults({});
  EXPECT_OK(Fetch(digest));
}

TEST_F(BlobClientTest, WhatTryingAgainCannotHelpIsFinal) {
  EXPECT_THAT(Fetch(Digest::Of("unknown")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot fetch blob")));
  QuotaBlobStore full(std::make_unique<MemoryBlobStore>(), {.quota_bytes = 10});
  EXPECT_THAT(client_->Fetch(Put(served(), 100), full, policy_),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(told_, SizeIs(0));
}

TEST_F(BlobClientTest, EndsWhenTheTimeIsUp) {
  const Digest digest = Put(served(), 100);
  service_.SetFaults({.reads = 1'000'000});
  policy_ = {.retry_for = absl::Milliseconds(100)};
  EXPECT_THAT(Fetch(digest),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("server \"127.0.0.1:"), HasSubstr("broken on purpose"))));
  policy_ = {.retry_for = absl::InfiniteDuration(), .until = absl::Now() + absl::Milliseconds(100)};
  EXPECT_THAT(Fetch(digest),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("broken on purpose")));
  EXPECT_THAT(Fetch(digest), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(BlobClientTest, ProgressBeginsTheWaitAnew) {
  const Digest digest = Put(served(), 100);
  service_.SetFaults({.reads = 10, .read_bytes = 10});
  // Less than the second pause.
  policy_ = {.retry_for = absl::Milliseconds(70)};
  EXPECT_OK(Fetch(digest));
  EXPECT_THAT(told_, SizeIs(0));
}

TEST_F(BlobClientTest, EndsWhenItIsStopped) {
  const Digest digest = Put(served(), 100);
  service_.SetFaults({.reads = 1'000'000});
  std::stop_source stop;
  policy_ = {.retry_for = absl::InfiniteDuration(), .stop = stop.get_token()};
  const auto stopper = std::jthread([&stop] {
    absl::SleepFor(absl::Milliseconds(120));
    stop.request_stop();
  });
  EXPECT_THAT(Fetch(digest), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(Fetch(digest), StatusIs(absl::StatusCode::kCancelled));
  store_.Remove(digest).IgnoreError();
  EXPECT_THAT(Send({Put(store_, 5)}), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(BlobClientTest, AServerThatIsAwayIsWaitedForAndThatIsTold) {
  const Digest digest = Put(served(), 100);
  service_.SetFaults({.reads = 4});
  EXPECT_OK(Fetch(digest));
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_THAT(told_[0], StatusIs(absl::StatusCode::kUnavailable, HasSubstr("broken on purpose")));
  server_->Shutdown();
  server_ = nullptr;
  policy_.retry_for = absl::ZeroDuration();
  EXPECT_THAT(Fetch(Digest::Of("x")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot be reached")));
}

TEST_F(BlobClientTest, ACallThatSucceededIsNotTakenBack) {
  std::stop_source stop;
  const auto stop_and_answer = [&stop](grpc::StatusCode code) {
    return [&stop, code](grpc::ClientContext&) {
      stop.request_stop();
      return grpc::Status(code, "");
    };
  };
  const RetryPolicy policy = {.stop = stop.get_token()};
  EXPECT_OK(calls_->Once(kCallDeadline, policy, stop_and_answer(grpc::StatusCode::OK)));
  EXPECT_THAT(calls_->Once(kCallDeadline, policy, stop_and_answer(grpc::StatusCode::UNKNOWN)),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(BlobClientTest, ACallHasADeadline) {
  EXPECT_THAT(calls_->Once(absl::Milliseconds(50), {},
                           [](grpc::ClientContext& context) {
                             while (std::chrono::system_clock::now() < context.deadline()) {
                               absl::SleepFor(absl::Milliseconds(1));
                             }
                             return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED,
                                                 "gRPC's words");
                           }),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no answer within 50ms")));
}

}  // namespace
}  // namespace slipway
