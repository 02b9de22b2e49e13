#include "server/compile_worker/grpc_worker_transport.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/testing/grpc_fake_blobs.h"
#include "core/store/memory_blob_store.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/worker.grpc.pb.h"
#include "tests/common/socket_folder.h"
#include "tests/common/status_matchers.h"

namespace slipway::worker {
namespace {

using ::slipway::testing::FakeBlobService;
using ::slipway::testing::StatusIs;

// Answers no Sync before its caller has gone, but for workers named "served".
class ParkingService final : public v1::WorkerService::Service {
 public:
  grpc::Status Sync(grpc::ServerContext* context, const v1::WorkerState* state,
                    v1::DesiredWorkerState* desired) override {
    desired->set_version("v");
    if (state->worker_id() == "served") return grpc::Status::OK;
    if (!parked.HasBeenNotified()) parked.Notify();
    while (!context->IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  }
  absl::Notification parked;
};

class GrpcWorkerTransportTest : public ::testing::Test {
 protected:
  GrpcWorkerTransportTest() {
    grpc::ServerBuilder builder;
    ApplyServerSettings(builder);
    builder.AddListeningPort(socket_.address(), grpc::InsecureServerCredentials());
    builder.RegisterService(&workers_);
    builder.RegisterService(&blobs_);
    server_ = builder.BuildAndStart();
    transport_ = std::make_unique<GrpcWorkerTransport>(socket_.address(), CallerProof());
  }

  const testing::SocketFolder socket_;
  ParkingService workers_;
  FakeBlobService blobs_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<GrpcWorkerTransport> transport_;
};

TEST_F(GrpcWorkerTransportTest, InterruptEndsTheSyncUnderWayOrTheNext) {
  v1::WorkerState state;
  state.set_park_ns(absl::ToInt64Nanoseconds(absl::Seconds(60)));
  std::thread interrupter([this] {
    workers_.parked.WaitForNotification();
    transport_->Interrupt();
  });
  EXPECT_THAT(transport_->Sync(state), StatusIs(absl::StatusCode::kCancelled));
  interrupter.join();
  transport_->Interrupt();
  EXPECT_THAT(transport_->Sync(state), StatusIs(absl::StatusCode::kCancelled));
  state.set_worker_id("served");
  ASSERT_OK_AND_ASSIGN(const v1::DesiredWorkerState desired, transport_->Sync(state));
  EXPECT_EQ(desired.version(), "v");
}

TEST_F(GrpcWorkerTransportTest, BlobsSurviveBreaksAndForgottenOffsets) {
  const RetryPolicy policy = {.retry_for = absl::Seconds(30)};
  MemoryBlobStore store;
  ASSERT_OK_AND_ASSIGN(const Digest sent, PutBytes(store, std::string(3 << 20, 's')));
  blobs_.SetFaults({.writes = 1, .write_bytes = 1 << 20});
  ASSERT_OK(transport_->Send({sent}, store, policy));
  ASSERT_OK_AND_ASSIGN(const Digest anew, PutBytes(store, std::string(3 << 20, 'a')));
  blobs_.SetFaults({.forgotten_bytes = 1 << 20});
  ASSERT_OK(transport_->Send({anew}, store, policy));
  EXPECT_TRUE(blobs_.blobs().Has(sent));
  EXPECT_TRUE(blobs_.blobs().Has(anew));

  blobs_.SetFaults({.reads = 2, .read_bytes = 1 << 20});
  MemoryBlobStore fetched;
  ASSERT_OK(transport_->Fetch(sent, fetched, policy));
  EXPECT_TRUE(fetched.Has(sent));
}

}  // namespace
}  // namespace slipway::worker
