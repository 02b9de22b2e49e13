#include "device_agent/testing/grpc_fake_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/base/check.h"
#include "core/rpc/grpc_settings.h"
#include "proto/slipway/v1/agent.grpc.pb.h"

namespace slipway {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);
constexpr absl::Duration kLook = absl::Milliseconds(1);

}  // namespace

class FakeServer::Services final : public v1::AgentService::Service {
 public:
  explicit Services(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    ApplyServerSettings(builder);
    builder.RegisterService(this);
    builder.RegisterService(&blobs_);
    server_ = builder.BuildAndStart();
    SLIPWAY_CHECK(server_ != nullptr, "the fake server does not start");
    SetVersion();
  }
  void Shutdown() {
    {
      absl::MutexLock lock(&mutex_);
      is_ending_ = true;
    }
    server_->Shutdown(std::chrono::system_clock::now());
  }

  // Versions of two servers on one address differ too.
  void SetVersion() {
    absl::MutexLock lock(&mutex_);
    desired_.set_version(absl::StrCat(absl::ToUnixNanos(absl::Now())));
    changed_.SignalAll();
  }

  grpc::Status Sync(grpc::ServerContext* context, const v1::AgentState* state,
                    v1::DesiredAgentState* desired) override {
    absl::MutexLock lock(&mutex_);
    reports_ = *state;
    if (!sync_status_.ok()) return sync_status_;
    const absl::Time until = absl::Now() + absl::Nanoseconds(state->park_ns());
    while (!is_ending_ && desired_.version() == state->applied_version() && absl::Now() < until &&
           !context->IsCancelled()) {
      changed_.WaitWithTimeout(&mutex_, kLook);
    }
    *desired = desired_;
    return grpc::Status::OK;
  }

  testing::FakeBlobService blobs_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  v1::DesiredAgentState desired_ ABSL_GUARDED_BY(mutex_);
  grpc::Status sync_status_ ABSL_GUARDED_BY(mutex_);
  std::optional<v1::AgentState> reports_ ABSL_GUARDED_BY(mutex_);

 private:
  std::unique_ptr<grpc::Server> server_;
};

FakeServer::FakeServer(const std::string& address)
    : services_(std::make_unique<Services>(address)) {}

FakeServer::~FakeServer() { services_->Shutdown(); }

testing::FakeBlobService& FakeServer::blobs() { return services_->blobs_; }

void FakeServer::Want(const std::vector<v1::RunAssignment>& attempts) {
  {
    absl::MutexLock lock(&services_->mutex_);
    v1::DesiredAgentState& desired = services_->desired_;
    desired.clear_attempts();
    for (const v1::RunAssignment& attempt : attempts) *desired.add_attempts() = attempt;
  }
  services_->SetVersion();
}

void FakeServer::FailSync(int code, const std::string& message) {
  absl::MutexLock lock(&services_->mutex_);
  services_->sync_status_ = grpc::Status(static_cast<grpc::StatusCode>(code), message);
}

std::optional<v1::AgentState> FakeServer::WaitFor(
    const std::function<bool(const v1::AgentState&)>& fits) {
  const absl::Time until = absl::Now() + kPatience;
  while (absl::Now() < until) {
    {
      absl::MutexLock lock(&services_->mutex_);
      if (services_->reports_.has_value() && fits(*services_->reports_)) {
        return services_->reports_;
      }
    }
    absl::SleepFor(kLook);
  }
  return std::nullopt;
}

std::optional<v1::RunAttemptState> FakeServer::WaitForEnd(const std::string& attempt_id) {
  std::optional<v1::RunAttemptState> result;
  WaitFor([&](const v1::AgentState& state) {
    for (const v1::RunAttemptState& attempt : state.attempts()) {
      if (attempt.attempt_id() == attempt_id && attempt.state() >= v1::RunAttemptState::SUCCEEDED) {
        result = attempt;
      }
    }
    return result.has_value();
  });
  return result;
}

}  // namespace slipway
