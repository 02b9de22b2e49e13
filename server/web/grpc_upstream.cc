#include "server/web/grpc_upstream.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/client_callback.h>

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_blob_client.h"
#include "core/rpc/grpc_calls.h"
#include "core/rpc/grpc_status.h"
#include "core/rpc/listen_address.h"
#include "core/store/memory_blob_store.h"
#include "proto/slipway/v1/agent.grpc.pb.h"
#include "proto/slipway/v1/job.grpc.pb.h"

namespace slipway::web {
namespace {

using google::protobuf::Message;
using google::protobuf::MessageLite;

// Who looks at a page does not wait for longer.
constexpr absl::Duration kPageDeadline = absl::Seconds(15);
// Of blobs, while the connection breaks.
constexpr absl::Duration kRetryFor = absl::Seconds(10);

// What others stop a call by; outlives it.
class CallHandle final : public RunningCall {
 public:
  void Stop() override {
    absl::MutexLock lock(&mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }
  void Set(grpc::ClientContext* context) {
    absl::MutexLock lock(&mutex_);
    context_ = context;
  }

 private:
  absl::Mutex mutex_;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// Owns itself until the call has ended.
class RunningWatch final : public grpc::ClientReadReactor<slipway::v1::Job> {
 public:
  RunningWatch(slipway::v1::JobService::Stub& stub, std::unique_ptr<grpc::ClientContext> context,
               const std::string& id, int64_t after_revision,
               std::function<void(const slipway::v1::Job&)> changed,
               std::function<void(const absl::Status&)> ended, std::shared_ptr<CallHandle> handle)
      : context_(std::move(context)),
        changed_(std::move(changed)),
        ended_(std::move(ended)),
        handle_(std::move(handle)) {
    request_.set_id(id);
    request_.set_after_revision(after_revision);
    handle_->Set(context_.get());
    stub.async()->WatchJob(context_.get(), &request_, this);
    StartRead(&job_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    changed_(job_);
    StartRead(&job_);
  }

  void OnDone(const grpc::Status& status) override {
    handle_->Set(nullptr);
    ended_(FromGrpc(status));
    delete this;
  }

 private:
  const std::unique_ptr<grpc::ClientContext> context_;
  const std::function<void(const slipway::v1::Job&)> changed_;
  const std::function<void(const absl::Status&)> ended_;
  const std::shared_ptr<CallHandle> handle_;
  slipway::v1::WatchJobRequest request_;
  slipway::v1::Job job_;
};

// The same.
class RunningSync {
 public:
  using Ended = std::function<void(absl::StatusOr<slipway::v1::DesiredAgentState>)>;

  static void Begin(slipway::v1::AgentService::Stub& stub,
                    std::unique_ptr<grpc::ClientContext> context, slipway::v1::AgentState state,
                    Ended ended, std::shared_ptr<CallHandle> handle) {
    auto* call =
        new RunningSync(std::move(context), std::move(state), std::move(ended), std::move(handle));
    stub.async()->Sync(call->context_.get(), &call->state_, &call->wanted_,
                       [call](const grpc::Status& status) { call->End(status); });
  }

 private:
  RunningSync(std::unique_ptr<grpc::ClientContext> context, slipway::v1::AgentState state,
              Ended ended, std::shared_ptr<CallHandle> handle)
      : context_(std::move(context)),
        state_(std::move(state)),
        ended_(std::move(ended)),
        handle_(std::move(handle)) {
    handle_->Set(context_.get());
  }

  void End(const grpc::Status& status) {
    handle_->Set(nullptr);
    if (status.ok()) {
      ended_(std::move(wanted_));
    } else {
      ended_(FromGrpc(status));
    }
    delete this;
  }

  const std::unique_ptr<grpc::ClientContext> context_;
  const slipway::v1::AgentState state_;
  slipway::v1::DesiredAgentState wanted_;
  const Ended ended_;
  const std::shared_ptr<CallHandle> handle_;
};

class GrpcUpstream final : public Upstream {
 public:
  GrpcUpstream(const std::string& server, CallerProof proof)
      : calls_(server, std::move(proof)),
        blobs_(calls_),
        stub_(calls_.channel()),
        jobs_(slipway::v1::JobService::NewStub(calls_.channel())),
        agents_(slipway::v1::AgentService::NewStub(calls_.channel())) {}

  absl::Status Call(absl::string_view method, const Message& request, Message& response) override {
    const size_t dot = method.rfind('.');
    const std::string path = absl::StrCat("/", method.substr(0, dot), "/", method.substr(dot + 1));
    return calls_.Once(kPageDeadline, {}, [&](grpc::ClientContext& context) {
      grpc::Status status;
      absl::Notification done;
      stub_.UnaryCall(&context, path, {}, &request, &response, [&](grpc::Status ended) {
        status = std::move(ended);
        done.Notify();
      });
      done.WaitForNotification();
      return status;
    });
  }

  absl::StatusOr<Blob> ReadBlob(const Digest& digest, int64_t max_bytes) override {
    if (digest.size_bytes() > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("it has ", digest.size_bytes(), " bytes; ", max_bytes, " may be read here"));
    }
    MemoryBlobStore store;
    SLIPWAY_RETURN_IF_ERROR(blobs_.Fetch(digest, store, {.retry_for = kRetryFor}));
    return store.Get(digest);
  }

  absl::Status SendBlob(const Digest& digest, const Blob& blob) override {
    const auto source = [&blob](const Digest&) -> absl::StatusOr<Blob> { return blob; };
    return blobs_.Send({digest}, source, {.retry_for = kRetryFor});
  }

  std::shared_ptr<RunningCall> WatchJob(const std::string& id, int64_t after_revision,
                                        std::function<void(const slipway::v1::Job&)> changed,
                                        std::function<void(const absl::Status&)> ended) override {
    auto handle = std::make_shared<CallHandle>();
    new RunningWatch(*jobs_, calls_.NewContext(), id, after_revision, std::move(changed),
                     std::move(ended), handle);
    return handle;
  }

  std::shared_ptr<RunningCall> BeginSync(slipway::v1::AgentState state, absl::Duration deadline,
                                         RunningSync::Ended ended) override {
    auto handle = std::make_shared<CallHandle>();
    std::unique_ptr<grpc::ClientContext> context = calls_.NewContext();
    context->set_deadline(absl::ToChronoTime(absl::Now() + deadline));
    RunningSync::Begin(*agents_, std::move(context), std::move(state), std::move(ended), handle);
    return handle;
  }

 private:
  Calls calls_;
  BlobClient blobs_;
  // Of the base of all messages: which ones a method has, its row knows.
  grpc::TemplatedGenericStub<MessageLite, MessageLite> stub_;
  const std::unique_ptr<slipway::v1::JobService::Stub> jobs_;
  const std::unique_ptr<slipway::v1::AgentService::Stub> agents_;
};

// What tokens say behind their last dot: whose they are.
absl::string_view AuthorityOf(absl::string_view token) {
  const size_t dot = token.rfind('.');
  return dot == absl::string_view::npos ? absl::string_view() : token.substr(dot + 1);
}

// Thread-safe.
class Connector {
 public:
  explicit Connector(UpstreamOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::shared_ptr<Upstream>> Connect(const std::string& token) {
    if (!AsksWhoCalls(options_)) {
      return std::make_shared<GrpcUpstream>(options_.server, CallerProof());
    }
    SLIPWAY_ASSIGN_OR_RETURN(CallerProof proof, ProofOf(token));
    return std::make_shared<GrpcUpstream>(options_.server, std::move(proof));
  }

 private:
  absl::StatusOr<CallerProof> ProofOf(const std::string& token) {
    if (options_.authority_file.empty()) {
      absl::MutexLock lock(&mutex_);
      if (!authority_.empty()) {
        if (AuthorityOf(token) != authority_name_) {
          return absl::UnauthenticatedError("the token is none of this server's");
        }
        return CallerProof{.authority = authority_, .token = token};
      }
    }
    absl::StatusOr<CallerProof> proof = FindProof(
        options_.server, Role::kUser,
        {.authority_file = options_.authority_file, .token = token, .insecure = options_.insecure});
    if (!proof.ok()) {
      // Whoever shows what is no token learns nothing else by it.
      if (absl::IsUnavailable(proof.status())) return proof.status();
      return absl::UnauthenticatedError("the token is none of this server's");
    }
    if (!proof->authority.empty()) {
      absl::MutexLock lock(&mutex_);
      authority_ = proof->authority;
      authority_name_ = std::string(AuthorityOf(token));
    }
    return *std::move(proof);
  }

  const UpstreamOptions options_;
  absl::Mutex mutex_;
  // PEM of the server's authority, once a token has named it, and its name there.
  std::string authority_ ABSL_GUARDED_BY(mutex_);
  std::string authority_name_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

bool AsksWhoCalls(const UpstreamOptions& options) {
  return !options.insecure && !absl::StartsWith(options.server, kUnixAddressPrefix);
}

ConnectUpstream GrpcConnector(const UpstreamOptions& options) {
  return [connector = std::make_shared<Connector>(options)](const std::string& token) {
    return connector->Connect(token);
  };
}

}  // namespace slipway::web
