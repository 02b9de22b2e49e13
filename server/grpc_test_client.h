// TestClient: stubs of every service over one channel, and agents and workers made of a few lines, for tests
// of a whole server.
#ifndef SLIPWAY_SERVER_GRPC_TEST_CLIENT_H_
#define SLIPWAY_SERVER_GRPC_TEST_CLIENT_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "core/tensor/tensor.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "proto/slipway/v1/agent.grpc.pb.h"
#include "proto/slipway/v1/blob.grpc.pb.h"
#include "proto/slipway/v1/compile.grpc.pb.h"
#include "proto/slipway/v1/fleet.grpc.pb.h"
#include "proto/slipway/v1/job.grpc.pb.h"
#include "proto/slipway/v1/run.grpc.pb.h"
#include "proto/slipway/v1/server.grpc.pb.h"
#include "proto/slipway/v1/session.grpc.pb.h"
#include "proto/slipway/v1/worker.grpc.pb.h"

namespace slipway::server {

// A run of TestManifest that succeeded.
inline v1::RunAttemptState Succeed(const v1::RunAssignment& assignment) {
  v1::RunAttemptState attempt;
  attempt.set_state(v1::RunAttemptState::SUCCEEDED);
  attempt.mutable_run_result()->set_device(assignment.device());
  *attempt.mutable_run_result()->add_outputs() =
      ToInlineProto("y", Tensor::Zeros(DataType::kFloat32, {2, 8}));
  return attempt;
}

struct TestClient {
  explicit TestClient(const std::string& address)
      : channel(
            grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), Arguments())),
        agents(v1::AgentService::NewStub(channel)),
        blobs(v1::BlobService::NewStub(channel)),
        compilations(v1::CompileService::NewStub(channel)),
        fleet(v1::FleetService::NewStub(channel)),
        jobs(v1::JobService::NewStub(channel)),
        runs(v1::RunService::NewStub(channel)),
        servers(v1::ServerService::NewStub(channel)),
        sessions(v1::SessionService::NewStub(channel)),
        workers(v1::WorkerService::NewStub(channel)) {}

  static grpc::ChannelArguments Arguments() {
    grpc::ChannelArguments arguments = ClientChannelArguments();
    // Every client its own connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return arguments;
  }

  // Calls a unary method with a deadline of 20 s.
  template <typename Stub, typename Request, typename Response>
  static absl::StatusOr<Response> Call(Stub& stub,
                                       grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                    const Request&, Response*),
                                       const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status);
    return response;
  }

  // Writes a blob in pieces of `piece` bytes from `offset` on; sends no more than `stop_after` bytes.
  absl::Status Write(const std::string& bytes, size_t piece = 1 << 20, size_t offset = 0,
                     size_t stop_after = std::string::npos) const {
    grpc::ClientContext context;
    v1::WriteResponse response;
    auto writer = blobs->Write(&context, &response);
    v1::WriteRequest request;
    *request.mutable_digest() = ToProto(Digest::Of(bytes));
    const size_t end = std::min(bytes.size(), stop_after);
    bool going = true;
    do {
      request.set_offset(static_cast<int64_t>(offset));
      request.set_data(bytes.substr(offset, std::min(piece, end - offset)));
      offset += request.data().size();
      going = writer->Write(request);
      request.clear_digest();
    } while (going && offset < end);
    writer->WritesDone();
    return FromGrpc(writer->Finish());
  }

  absl::StatusOr<std::string> Read(const v1::Digest& digest, int64_t offset = 0) const {
    grpc::ClientContext context;
    v1::ReadRequest request;
    *request.mutable_digest() = digest;
    request.set_offset(offset);
    auto reader = blobs->Read(&context, request);
    std::string bytes;
    v1::ReadResponse piece;
    while (reader->Read(&piece)) bytes += piece.data();
    const grpc::Status status = reader->Finish();
    if (!status.ok()) return FromGrpc(status);
    return bytes;
  }

  // Watches a job to its end.
  absl::StatusOr<v1::Job> WaitFor(const std::string& id) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::WatchJobRequest request;
    request.set_id(id);
    auto reader = jobs->WatchJob(&context, request);
    v1::Job job;
    while (reader->Read(&job)) {
    }
    const grpc::Status status = reader->Finish();
    if (!status.ok()) return FromGrpc(status);
    return job;
  }

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::AgentService::Stub> agents;
  std::unique_ptr<v1::BlobService::Stub> blobs;
  std::unique_ptr<v1::CompileService::Stub> compilations;
  std::unique_ptr<v1::FleetService::Stub> fleet;
  std::unique_ptr<v1::JobService::Stub> jobs;
  std::unique_ptr<v1::RunService::Stub> runs;
  std::unique_ptr<v1::ServerService::Stub> servers;
  std::unique_ptr<v1::SessionService::Stub> sessions;
  std::unique_ptr<v1::WorkerService::Stub> workers;
};

// Runs the Sync loop of an agent or worker on a thread: for every assignment it reports what `work` makes of it.
// `Kind` is v1::AgentService or v1::WorkerService.
template <typename State, typename Attempt, typename Desired, typename Assignment, typename Stub>
class TestPeer {
 public:
  using Work = std::function<Attempt(const Assignment&)>;

  TestPeer(const std::string& address, std::unique_ptr<Stub> TestClient::*stub, State state,
           Work work)
      : client_(address), stub_(stub), state_(std::move(state)), work_(std::move(work)) {
    thread_ = std::thread([this] { Loop(); });
  }
  ~TestPeer() {
    ends_ = true;
    {
      const std::lock_guard<std::mutex> lock(mu_);
      if (context_ != nullptr) context_->TryCancel();
    }
    thread_.join();
  }

 private:
  void Loop() {
    while (!ends_) {
      state_.set_sequence(state_.sequence() + 1);
      state_.set_park_ns(30'000'000'000);
      grpc::ClientContext context;
      {
        const std::lock_guard<std::mutex> lock(mu_);
        context_ = &context;
      }
      Desired desired;
      const grpc::Status status = ((*(client_.*stub_)).Sync)(&context, state_, &desired);
      {
        const std::lock_guard<std::mutex> lock(mu_);
        context_ = nullptr;
      }
      if (!status.ok()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      state_.set_applied_version(desired.version());
      State next = state_;
      next.clear_attempts();
      for (const Assignment& assignment : desired.attempts()) {
        const Attempt* known = nullptr;
        for (const Attempt& held : state_.attempts()) {
          if (held.attempt_id() == assignment.attempt_id()) known = &held;
        }
        Attempt& attempt = *next.add_attempts();
        attempt = known != nullptr ? *known : work_(assignment);
        attempt.set_attempt_id(assignment.attempt_id());
      }
      state_ = next;
    }
  }

  TestClient client_;
  std::unique_ptr<Stub> TestClient::*const stub_;
  State state_;
  const Work work_;
  std::atomic<bool> ends_ = false;
  std::mutex mu_;
  grpc::ClientContext* context_ = nullptr;
  std::thread thread_;
};

using TestAgent = TestPeer<v1::AgentState, v1::RunAttemptState, v1::DesiredAgentState,
                           v1::RunAssignment, v1::AgentService::Stub>;
using TestWorker = TestPeer<v1::WorkerState, v1::CompileAttemptState, v1::DesiredWorkerState,
                            v1::CompileAssignment, v1::WorkerService::Stub>;

inline v1::AgentState TestAgentState(const std::string& id, const std::string& instance) {
  v1::AgentState state;
  state.set_agent_id(id);
  state.set_instance_id(instance);
  state.set_min_protocol(1);
  state.set_max_protocol(1);
  state.set_min_abi(1);
  state.set_max_abi(1);
  state.add_devices()->set_id(id);
  state.mutable_devices(0)->set_target("x86-64-v3-linux");
  return state;
}

inline v1::WorkerState TestWorkerState(const std::string& id, const std::string& instance) {
  v1::WorkerState state;
  state.set_worker_id(id);
  state.set_instance_id(instance);
  state.set_min_protocol(1);
  state.set_max_protocol(1);
  v1::TargetSupport& target = *state.add_targets();
  target.set_family("x86-64-linux");
  target.set_fingerprint(std::string(64, 'f'));
  state.set_capacity(1);
  return state;
}

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_GRPC_TEST_CLIENT_H_
