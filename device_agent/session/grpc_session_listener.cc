#include "device_agent/session/grpc_session_listener.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/rpc/grpc_cord.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "core/rpc/token.h"
#include "core/wire/session_messages.h"
#include "device_agent/session/session_host.h"
#include "proto/slipway/v1/session.grpc.pb.h"

namespace slipway {
namespace {

constexpr auto kDrainTime = std::chrono::milliseconds(500);
// Small messages that gather while one is written go out together up to this.
constexpr size_t kTogetherBytes = 256 << 10;

// One connection. Owns itself until gRPC is done with it.
class Connection final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                         public SessionConnection,
                         public std::enable_shared_from_this<Connection> {
 public:
  // Null: it is refused.
  static Connection* Start(SessionEntrance* entrance, const absl::Status& admitted) {
    std::shared_ptr<Connection> connection(new Connection(entrance));
    connection->self_ = connection;
    if (admitted.ok() && entrance != nullptr) {
      connection->ReadNext();
    } else {
      connection->End(admitted.ok() ? absl::UnavailableError("the agent is not ready: try again")
                                    : admitted);
    }
    return connection.get();
  }

  void Attached(std::shared_ptr<SessionHost> host) override {
    absl::MutexLock lock(&mutex_);
    host_ = std::move(host);
  }

  void Send(absl::Cord message, bool has_data) override {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    outgoing_.push_back({std::move(message), has_data});
    WriteNext();
  }

  void ReadNext() override {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    StartRead(&incoming_);
  }

  void End(const absl::Status& status) override {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    end_ = status;
    WriteNext();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Gone();
    const absl::Cord message = ToCord(incoming_);
    incoming_.Clear();
    std::shared_ptr<SessionHost> host;
    {
      absl::MutexLock lock(&mutex_);
      if (end_.has_value()) return;
      host = host_;
    }
    if (host != nullptr) return host->Take(this, message);
    absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(message);
    if (!parts.ok()) return End(parts.status());
    if (parts->message.requests_size() != 1) {
      return End(absl::InvalidArgumentError(absl::StrCat(
          "a connection begins with one request, not ", parts->message.requests_size())));
    }
    entrance_->Enter(parts->message.requests(0), shared_from_this());
  }

  void OnWriteDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      is_writing_ = false;
      if (ok) return WriteNext();
    }
    Gone();
  }

  void OnCancel() override { Gone(); }

  void OnDone() override { std::shared_ptr<Connection> last = std::move(self_); }

 private:
  struct Outgoing {
    absl::Cord message;
    bool has_data;
  };

  explicit Connection(SessionEntrance* entrance) : entrance_(entrance) {}

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (is_writing_ || is_finished_) return;
    if (outgoing_.empty()) {
      if (!end_.has_value()) return;
      is_finished_ = true;
      return Finish(ToGrpc(*end_));
    }
    absl::Cord message = std::move(outgoing_.front().message);
    bool has_data = outgoing_.front().has_data;
    outgoing_.pop_front();
    while (!has_data && !outgoing_.empty() &&
           (outgoing_.front().has_data || message.size() < kTogetherBytes)) {
      has_data = outgoing_.front().has_data;
      message.Append(std::move(outgoing_.front().message));
      outgoing_.pop_front();
    }
    is_writing_ = true;
    writing_ = ToByteBuffer(message);
    StartWrite(&writing_);
  }

  // The client went away, or has said all it had to say.
  void Gone() {
    std::shared_ptr<SessionHost> host;
    {
      absl::MutexLock lock(&mutex_);
      host = std::move(host_);
      if (!end_.has_value()) {
        end_ = absl::CancelledError("the client went away");
        outgoing_.clear();
      }
      WriteNext();
      if (was_told_) return;
      was_told_ = true;
    }
    if (host != nullptr) {
      host->Detach(this);
    } else {
      entrance_->Left(this);
    }
  }

  SessionEntrance* const entrance_;
  std::shared_ptr<Connection> self_;
  grpc::ByteBuffer incoming_;  // Of the reactions alone.

  absl::Mutex mutex_;
  std::shared_ptr<SessionHost> host_ ABSL_GUARDED_BY(mutex_);
  std::deque<Outgoing> outgoing_ ABSL_GUARDED_BY(mutex_);
  grpc::ByteBuffer writing_ ABSL_GUARDED_BY(mutex_);
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool was_told_ ABSL_GUARDED_BY(mutex_) = false;  // Host or entrance, that the client is gone.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

using RawService = v1::SessionService::WithRawCallbackMethod_Open<v1::SessionService::Service>;

class Listener final : public SessionListener, private RawService {
 public:
  explicit Listener(std::string token) : token_(std::move(token)) {}
  ~Listener() override {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now() + kDrainTime);
    server_->Wait();
  }

  absl::Status Listen(const std::string& address) {
    grpc::ServerBuilder builder;
    ApplyServerSettings(builder);
    int port = 0;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(static_cast<RawService*>(this));
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      return absl::UnavailableError(absl::StrCat(
          "cannot listen on \"", address, "\": it is in use, or not an address of this machine"));
    }
    address_ = absl::StartsWith(address, "unix:")
                   ? address
                   : absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
    return absl::OkStatus();
  }

  void Serve(SessionEntrance* entrance) override {
    absl::MutexLock lock(&mutex_);
    entrance_ = entrance;
  }
  void EndServing() override {
    Serve(nullptr);
    server_->Shutdown(std::chrono::system_clock::now() + kDrainTime);
    server_->Wait();
    server_ = nullptr;
  }
  const std::string& address() const override { return address_; }

 private:
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Open(
      grpc::CallbackServerContext* context) override {
    const auto& metadata = context->client_metadata();
    const auto it = metadata.find("authorization");
    const absl::Status admitted = CheckAuthorization(
        token_, it == metadata.end() ? absl::string_view()
                                     : absl::string_view(it->second.data(), it->second.size()));
    absl::MutexLock lock(&mutex_);
    return Connection::Start(entrance_, admitted);
  }

  const std::string token_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  absl::Mutex mutex_;
  SessionEntrance* entrance_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SessionListener>> SessionListener::Start(const std::string& address,
                                                                        const std::string& token) {
  auto listener = std::make_unique<Listener>(token);
  if (absl::Status status = listener->Listen(address); !status.ok()) return status;
  return std::unique_ptr<SessionListener>(std::move(listener));
}

}  // namespace slipway
