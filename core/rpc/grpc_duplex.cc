#include "core/rpc/grpc_duplex.h"

#include <grpcpp/generic/generic_stub.h>

#include <deque>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/rpc/grpc_cord.h"
#include "core/rpc/grpc_status.h"

namespace slipway {
namespace {

// Small messages that gather go out together up to this.
constexpr size_t kTogetherBytes = 256 << 10;
// A sender should wait from here on.
constexpr size_t kRoomBytes = 4 << 20;

struct Outgoing {
  absl::Cord message;
  bool has_data;
};

// What both kinds of calls have in common. Base is the reactor of either. Owns itself until gRPC is done with it.
template <typename Base>
class Reactor : public Base, public Duplex, public std::enable_shared_from_this<Reactor<Base>> {
 public:
  bool Send(absl::Cord message, bool has_data) override {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return true;
    waiting_bytes_ += message.size();
    outgoing_.push_back({std::move(message), has_data});
    WriteNext();
    is_full_ = waiting_bytes_ >= kRoomBytes;
    return !is_full_;
  }

  void ReadNext() override {
    absl::MutexLock lock(&mutex_);
    if (!is_over_) StartReading();
  }

  void End(const absl::Status& status) override {
    absl::MutexLock lock(&mutex_);
    if (end_.has_value()) return;
    end_ = status;
    WriteNext();
  }

  void Break() override { Abandon(absl::CancelledError("the call was broken off")); }

  void OnReadDone(bool ok) override {
    if (!ok) return NoMoreComes();
    absl::Cord message = ToCord(incoming_);
    incoming_.Clear();
    {
      absl::MutexLock lock(&mutex_);
      is_reading_ = false;
      if (is_over_) return Drain();
    }
    user_->OnMessage(std::move(message));
  }

  void OnWriteDone(bool ok) override {
    bool has_room = false;
    {
      absl::MutexLock lock(&mutex_);
      is_writing_ = false;
      if (ok) {
        WriteNext();
        has_room = is_full_ && waiting_bytes_ < kRoomBytes / 2;
        if (has_room) is_full_ = false;
      }
    }
    if (!ok) return NoMoreComes();
    if (has_room) user_->OnRoom();
  }

 protected:
  explicit Reactor(std::shared_ptr<DuplexUser> user) : user_(std::move(user)) {}

  // Ends the call for good.
  virtual void Close(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // It is over, and a message came that nobody asked for.
  virtual void Drain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}
  // Reading or writing has failed.
  virtual void NoMoreComes() = 0;

  void StartReading() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    is_reading_ = true;
    this->StartRead(&incoming_);
  }

  // After everything that was sent; again when a write has ended.
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (is_writing_ || is_over_) return;
    if (outgoing_.empty()) {
      if (!end_.has_value()) return;
      is_over_ = true;
      return Close(*end_);
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
    waiting_bytes_ -= message.size();
    is_writing_ = true;
    writing_ = ToByteBuffer(message);
    this->StartWrite(&writing_);
  }

  // What waits is not sent any more.
  void Abandon(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    outgoing_.clear();
    if (!end_.has_value()) end_ = status;
    WriteNext();
  }

  void Gone(const absl::Status& status) {
    user_->OnGone(status);
    user_ = nullptr;
    std::shared_ptr<Reactor> last = std::move(self_);
  }

  std::shared_ptr<DuplexUser> user_;
  std::shared_ptr<Reactor> self_;
  grpc::ByteBuffer incoming_;  // Of the reactions alone.

  absl::Mutex mutex_;
  std::deque<Outgoing> outgoing_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  grpc::ByteBuffer writing_ ABSL_GUARDED_BY(mutex_);
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_full_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;  // Close was called.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

class Served final : public Reactor<ServedDuplex> {
 public:
  explicit Served(std::shared_ptr<DuplexUser> user) : Reactor(std::move(user)) {}
  void Begin() { self_ = shared_from_this(); }

  void OnCancel() override { NoMoreComes(); }
  void OnDone() override { Gone(absl::OkStatus()); }

 private:
  void Close(const absl::Status& status) override { Finish(ToGrpc(status)); }
  void NoMoreComes() override { Abandon(absl::CancelledError("the caller went away")); }
};

class Made final : public Reactor<grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 public:
  Made(std::shared_ptr<DuplexUser> user, const std::shared_ptr<grpc::Channel>& channel,
       std::unique_ptr<grpc::ClientContext> context)
      : Reactor(std::move(user)), stub_(channel), context_(std::move(context)) {}

  void Begin(const std::string& method) {
    self_ = shared_from_this();
    stub_.PrepareBidiStreamingCall(context_.get(), method, grpc::StubOptions(), this);
    // Until it is closed: operations begin on any thread.
    AddHold();
    StartCall();
  }

  void Break() override {
    Reactor::Break();
    context_->TryCancel();
  }
  void OnDone(const grpc::Status& status) override { Gone(FromGrpc(status)); }

 private:
  void Close(const absl::Status& status) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (status.ok()) {
      StartWritesDone();
      if (!is_reading_) Drain();
    } else {
      context_->TryCancel();
    }
    RemoveHold();
  }
  // gRPC tells the end of a call only to who has read all that came before it.
  void Drain() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { StartReading(); }
  void NoMoreComes() override { Abandon(absl::OkStatus()); }

  grpc::GenericStub stub_;
  const std::unique_ptr<grpc::ClientContext> context_;
};

}  // namespace

std::shared_ptr<Duplex> ServeDuplex(std::shared_ptr<DuplexUser> user, ServedDuplex** reactor) {
  auto served = std::make_shared<Served>(std::move(user));
  served->Begin();
  *reactor = served.get();
  return served;
}

std::shared_ptr<Duplex> CallDuplex(std::shared_ptr<DuplexUser> user,
                                   const std::shared_ptr<grpc::Channel>& channel,
                                   const std::string& method,
                                   std::unique_ptr<grpc::ClientContext> context) {
  auto made = std::make_shared<Made>(std::move(user), channel, std::move(context));
  made->Begin(method);
  return made;
}

}  // namespace slipway
