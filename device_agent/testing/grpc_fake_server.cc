#include "device_agent/testing/grpc_fake_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/base/check.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "core/wire/digest_proto.h"
#include "proto/slipway/v1/agent.grpc.pb.h"
#include "proto/slipway/v1/blob.grpc.pb.h"

namespace slipway {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);
constexpr absl::Duration kLook = absl::Milliseconds(1);

}  // namespace

class FakeServer::Services final : public v1::AgentService::Service,
                                   public v1::BlobService::Service {
 public:
  explicit Services(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    ApplyServerSettings(builder);
    builder.RegisterService(static_cast<v1::AgentService::Service*>(this));
    builder.RegisterService(static_cast<v1::BlobService::Service*>(this));
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

  grpc::Status Read(grpc::ServerContext*, const v1::ReadRequest* request,
                    grpc::ServerWriter<v1::ReadResponse>* writer) override {
    const absl::StatusOr<Digest> digest = FromProto(request->digest());
    if (!digest.ok()) return ToGrpc(digest.status());
    const absl::StatusOr<Blob> blob = blobs_.Get(*digest);
    if (!blob.ok()) return ToGrpc(blob.status());
    int64_t end = blob->size_bytes();
    bool is_broken = false;
    {
      absl::MutexLock lock(&mutex_);
      if (breaks_left_ > 0) {
        --breaks_left_;
        is_broken = true;
        end = std::min(end, request->offset() + break_after_);
      }
      bytes_sent_ += end - request->offset();
    }
    for (int64_t at = request->offset(); at < end; at += kMaxPieceBytes) {
      v1::ReadResponse response;
      response.set_data(
          std::string(blob->Part(at, std::min<int64_t>(kMaxPieceBytes, end - at)).bytes()));
      writer->Write(response);
    }
    return is_broken ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "broken on purpose")
                     : grpc::Status::OK;
  }

  grpc::Status QueryWrite(grpc::ServerContext*, const v1::QueryWriteRequest* request,
                          v1::QueryWriteResponse* response) override {
    const absl::StatusOr<Digest> digest = FromProto(request->digest());
    if (!digest.ok()) return ToGrpc(digest.status());
    response->set_complete(blobs_.Has(*digest));
    response->set_committed_bytes(blobs_.PartialBytes(*digest));
    return grpc::Status::OK;
  }

  grpc::Status Write(grpc::ServerContext*, grpc::ServerReader<v1::WriteRequest>* reader,
                     v1::WriteResponse* response) override {
    v1::WriteRequest request;
    if (!reader->Read(&request)) return {grpc::StatusCode::INVALID_ARGUMENT, "nothing sent"};
    const absl::StatusOr<Digest> digest = FromProto(request.digest());
    if (!digest.ok()) return ToGrpc(digest.status());
    absl::StatusOr<std::unique_ptr<BlobWriter>> writer = blobs_.Write(*digest);
    if (!writer.ok()) return ToGrpc(writer.status());
    do {
      if (request.offset() != (*writer)->committed_bytes()) {
        return {grpc::StatusCode::OUT_OF_RANGE, "wrong offset"};
      }
      const absl::Status status = (*writer)->Append(request.data());
      if (!status.ok()) return ToGrpc(status);
    } while (reader->Read(&request));
    response->set_committed_bytes((*writer)->committed_bytes());
    return ToGrpc((*writer)->Commit());
  }

  MemoryBlobStore blobs_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  v1::DesiredAgentState desired_ ABSL_GUARDED_BY(mutex_);
  grpc::Status sync_status_ ABSL_GUARDED_BY(mutex_);
  std::optional<v1::AgentState> reports_ ABSL_GUARDED_BY(mutex_);
  int breaks_left_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t break_after_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t bytes_sent_ ABSL_GUARDED_BY(mutex_) = 0;

 private:
  std::unique_ptr<grpc::Server> server_;
};

FakeServer::FakeServer(const std::string& address)
    : services_(std::make_unique<Services>(address)) {}

FakeServer::~FakeServer() { services_->Shutdown(); }

MemoryBlobStore& FakeServer::blobs() { return services_->blobs_; }

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

void FakeServer::BreakReads(int count, int64_t after_bytes) {
  absl::MutexLock lock(&services_->mutex_);
  services_->breaks_left_ = count;
  services_->break_after_ = after_bytes;
}

int64_t FakeServer::bytes_sent() const {
  absl::MutexLock lock(&services_->mutex_);
  return services_->bytes_sent_;
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
