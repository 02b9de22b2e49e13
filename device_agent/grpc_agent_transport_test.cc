#include "device_agent/grpc_agent_transport.h"

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/files.h"
#include "core/store/memory_blob_store.h"
#include "device_agent/testing/grpc_fake_server.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;

class GrpcAgentTransportTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_ = *TemporaryFolder::Create("grpc_agent_transport_test");
  const std::string address_ = absl::StrCat("unix:", JoinPath(folder_.path(), "socket"));
  FakeServer server_{address_};
  const std::unique_ptr<AgentTransport> transport_ =
      MakeGrpcAgentTransport(address_, CallerProof());
};

TEST_F(GrpcAgentTransportTest, CancelEndsASyncBeforeAndAfterItBegan) {
  const auto call = transport_->NewSync(/*is_at_stake=*/false);
  v1::AgentState state;
  ASSERT_OK_AND_ASSIGN(const v1::DesiredAgentState desired, call->Run(state, absl::Seconds(30)));
  state.set_applied_version(desired.version());
  state.set_park_ns(absl::ToInt64Nanoseconds(absl::Seconds(60)));
  state.set_sequence(1);
  const auto parked = transport_->NewSync(/*is_at_stake=*/false);
  std::thread canceller([&] {
    EXPECT_TRUE(server_.WaitFor([](const v1::AgentState& told) { return told.sequence() == 1; }));
    parked->Cancel();
  });
  EXPECT_THAT(parked->Run(state, absl::Seconds(90)), StatusIs(absl::StatusCode::kCancelled));
  canceller.join();
  const auto cancelled = transport_->NewSync(/*is_at_stake=*/false);
  cancelled->Cancel();
  EXPECT_THAT(cancelled->Run(state, absl::Seconds(90)), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(GrpcAgentTransportTest, BlobsSurviveBreaksAndForgottenOffsets) {
  const RetryPolicy policy = {.retry_for = absl::InfiniteDuration(),
                              .until = absl::Now() + absl::Seconds(30)};
  MemoryBlobStore store;
  ASSERT_OK_AND_ASSIGN(const Digest sent, PutBytes(store, std::string(3 << 20, 's')));
  server_.blobs().SetFaults({.writes = 1, .write_bytes = 1 << 20});
  ASSERT_OK(transport_->SendBlob(sent, store, policy));
  ASSERT_OK_AND_ASSIGN(const Digest anew, PutBytes(store, std::string(3 << 20, 'a')));
  server_.blobs().SetFaults({.forgotten_bytes = 1 << 20});
  ASSERT_OK(transport_->SendBlob(anew, store, policy));
  EXPECT_TRUE(server_.blobs().blobs().Has(sent));
  EXPECT_TRUE(server_.blobs().blobs().Has(anew));

  server_.blobs().SetFaults({.reads = 2, .read_bytes = 1 << 20});
  MemoryBlobStore fetched;
  ASSERT_OK(transport_->FetchBlob(sent, fetched, policy));
  EXPECT_TRUE(fetched.Has(sent));
}

}  // namespace
}  // namespace slipway
