#include "client/testing/grpc_fake_device.h"

#include <grpcpp/server_builder.h>

#include <chrono>
#include <deque>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/testing/fake_runner.h"
#include "core/base/check.h"
#include "core/rpc/grpc_cord.h"
#include "core/rpc/grpc_settings.h"
#include "core/wire/session_messages.h"

namespace slipway::testing {
namespace {

const char kSession[] = "s1";
const char kTicket[] = "t1";

int64_t DataBytes(const v1::SessionRequest& request, const absl::Cord& data) {
  return static_cast<int64_t>(data.size()) + request.read().size();
}

}  // namespace

// A request that was taken and not carried out yet.
struct FakeDevice::Held {
  v1::SessionRequest request;
  absl::Cord data;
};

struct FakeDevice::State {
  absl::Mutex mutex;
  FakeDeviceBehaviour behaviour ABSL_GUARDED_BY(mutex);
  std::set<Connection*> connections ABSL_GUARDED_BY(mutex);
  int connections_begun ABSL_GUARDED_BY(mutex) = 0;
  int messages ABSL_GUARDED_BY(mutex) = 0;

  // The session; a new `open` begins another one.
  FakeRunner runner ABSL_GUARDED_BY(mutex);
  Connection* connection ABSL_GUARDED_BY(mutex) = nullptr;
  bool is_opened ABSL_GUARDED_BY(mutex) = false;
  bool is_released ABSL_GUARDED_BY(mutex) = false;
  bool is_closing ABSL_GUARDED_BY(mutex) = false;
  bool is_closed ABSL_GUARDED_BY(mutex) = false;
  uint64_t taken ABSL_GUARDED_BY(mutex) = 0;
  std::deque<Held> held ABSL_GUARDED_BY(mutex);
  std::set<uint64_t> cancelled ABSL_GUARDED_BY(mutex);
  std::deque<std::pair<uint64_t, absl::Cord>> responses ABSL_GUARDED_BY(mutex);  // Not acked.
  std::deque<std::pair<uint64_t, int64_t>> under_way ABSL_GUARDED_BY(mutex);  // Bytes of each id.
  std::vector<v1::SessionRequest> carried_out ABSL_GUARDED_BY(mutex);

  void Take(Connection& from, const absl::Cord& bytes) ABSL_LOCKS_EXCLUDED(mutex);
  void TakeFirst(Connection& from, const v1::SessionRequests& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void TakeRequests(Connection& from, SessionRequestParts& parts)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void TellOpened() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void GoOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void Tell(v1::SessionResponse response, absl::Cord data = {})
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  bool IsAuthorized(const grpc::GenericCallbackServerContext& context)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (behaviour.token.empty()) return true;
    const auto found = context.client_metadata().find("authorization");
    return found != context.client_metadata().end() &&
           std::string(found->second.data(), found->second.size()) == "Bearer " + behaviour.token;
  }
};

// Methods but the reactions are called under the state's mutex.
class FakeDevice::Connection final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Connection(State& state) : state_(state) {
    state_.connections.insert(this);
    ++state_.connections_begun;
    StartRead(&incoming_);
  }

  bool is_first() { return std::exchange(is_first_, false); }
  void Send(absl::Cord message) {
    outbox_.push_back(std::move(message));
    Write();
  }
  // Once what is being written is; what waits to be is lost.
  void End(const grpc::Status& status) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (is_ending_) return;
    is_ending_ = true;
    status_ = status;
    if (state_.connection == this) state_.connection = nullptr;
    if (!is_writing_) Finish(status_);
  }
  // After what waits to be written.
  void EndAfterAll() {
    ends_after_all_ = true;
    Write();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      absl::MutexLock lock(&state_.mutex);
      End(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the client went away"));
      return;
    }
    state_.Take(*this, ToCord(incoming_));
    absl::MutexLock lock(&state_.mutex);
    if (!is_ending_) StartRead(&incoming_);
  }
  void OnWriteDone(bool) override {
    absl::MutexLock lock(&state_.mutex);
    is_writing_ = false;
    if (is_ending_) {
      Finish(status_);
    } else {
      Write();
    }
  }
  void OnDone() override {
    {
      absl::MutexLock lock(&state_.mutex);
      state_.connections.erase(this);
      if (state_.connection == this) state_.connection = nullptr;
    }
    delete this;
  }

 private:
  void Write() {
    if (is_writing_ || is_ending_) return;
    if (outbox_.empty()) {
      if (ends_after_all_) End(grpc::Status::OK);
      return;
    }
    outgoing_ = ToByteBuffer(outbox_.front());
    outbox_.pop_front();
    is_writing_ = true;
    StartWrite(&outgoing_);
  }

  State& state_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  std::deque<absl::Cord> outbox_;
  grpc::Status status_;
  bool is_first_ = true;
  bool is_writing_ = false;
  bool is_ending_ = false;
  bool ends_after_all_ = false;
};

// GetServerInfo.
class FakeDevice::Inquiry final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Inquiry(bool is_answered) : is_answered_(is_answered) { StartRead(&incoming_); }
  void OnReadDone(bool) override {
    if (is_answered_) StartWriteAndFinish(&answer_, grpc::WriteOptions(), grpc::Status::OK);
  }
  void OnCancel() override {
    if (!is_answered_) Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  const bool is_answered_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer answer_{nullptr, 0};
};

class FakeDevice::Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(State& state) : state_(state) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    absl::MutexLock lock(&state_.mutex);
    if (context->method() == "/slipway.v1.ServerService/GetServerInfo") {
      return new Inquiry(state_.behaviour.server_lives);
    }
    auto* const connection = new Connection(state_);
    if (!state_.IsAuthorized(*context)) {
      connection->End(
          grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "the token is missing or wrong"));
    }
    return connection;
  }

 private:
  State& state_;
};

void FakeDevice::State::Take(Connection& from, const absl::Cord& bytes) {
  absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(bytes);
  absl::MutexLock lock(&mutex);
  if (!parts.ok()) {
    from.End(
        grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, std::string(parts.status().message())));
    return;
  }
  const bool drops = messages++ == behaviour.drop_at;
  const grpc::Status dropped(grpc::StatusCode::UNAVAILABLE, "the fake dropped the connection");
  if (drops && behaviour.drop_before) {
    from.End(dropped);
    return;
  }
  // What it answers is kept for the next connection.
  if (drops) from.End(dropped);
  if (from.is_first()) {
    TakeFirst(from, parts->message);
    if (drops) connection = nullptr;
  } else if (drops || connection == &from) {
    TakeRequests(from, *parts);
  }
}

void FakeDevice::State::TakeFirst(Connection& from, const v1::SessionRequests& message) {
  if (!behaviour.refusal.ok()) {
    from.End(behaviour.refusal);
    return;
  }
  const v1::SessionRequest& first = message.requests(0);
  if (first.has_resume()) {
    if (first.resume().session() != kSession || first.resume().ticket() != kTicket || is_closed) {
      from.End(grpc::Status(grpc::StatusCode::NOT_FOUND, "there is no such session"));
      return;
    }
    if (connection != nullptr) {
      connection->End(grpc::Status(grpc::StatusCode::ABORTED, "another connection took it up"));
    }
    while (!responses.empty() && responses.front().first <= first.resume().received()) {
      responses.pop_front();
    }
    while (!under_way.empty() && under_way.front().first <= first.resume().received()) {
      under_way.pop_front();
    }
  } else {
    SLIPWAY_CHECK(first.has_open(), "the first message opens or resumes");
    runner = FakeRunner(std::move(runner.blobs()));
    is_opened = !behaviour.let_wait;
    is_closing = is_closed = is_released = false;
    taken = 0;
    held.clear();
    responses.clear();
    under_way.clear();
    carried_out.clear();
  }
  connection = &from;
  if (!is_opened) {
    v1::SessionResponse news;
    news.mutable_waiting()->set_session(kSession);
    news.mutable_waiting()->set_ticket(kTicket);
    news.mutable_waiting()->set_ahead(1);
    news.mutable_waiting()->set_holder("somebody, for something");
    Tell(news);
    return;
  }
  TellOpened();
  for (const auto& [id, response] : responses) {
    if (!behaviour.is_mute) from.Send(response);
  }
}

void FakeDevice::State::TellOpened() {
  v1::SessionResponse news;
  v1::SessionResponse::Opened& opened = *news.mutable_opened();
  opened.set_session(kSession);
  opened.set_ticket(kTicket);
  opened.set_device("board-1");
  opened.set_target("x86-64-linux");
  opened.set_taken(taken);
  opened.set_max_data_bytes(behaviour.max_data_bytes);
  opened.set_max_requests(behaviour.max_requests);
  opened.set_max_data_under_way_bytes(behaviour.max_data_under_way_bytes);
  opened.set_idle_ns(10'000'000'000);
  if (behaviour.tells_handles) opened.set_next_handle(runner.next_handle());
  Tell(news);
}

void FakeDevice::State::TakeRequests(Connection& from, SessionRequestParts& parts) {
  const auto refuse = [&](const std::string& why) {
    from.End(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, why));
  };
  while (!responses.empty() && responses.front().first <= parts.message.acked()) {
    responses.pop_front();
  }
  while (!under_way.empty() && under_way.front().first <= parts.message.acked()) {
    under_way.pop_front();
  }
  const int count = parts.message.requests_size();
  for (int i = 0; i < count; ++i) {
    v1::SessionRequest& request = *parts.message.mutable_requests(i);
    absl::Cord data = i + 1 == count ? parts.data : absl::Cord();
    if (request.id() == 0) {
      if (request.has_heartbeat()) {
        v1::SessionResponse news;
        news.mutable_heartbeat();
        Tell(news);
      } else if (request.has_cancel()) {
        cancelled.insert(request.cancel().request());
      } else if (request.has_close()) {
        is_closing = true;
      } else {
        return refuse("a request has no id");
      }
      continue;
    }
    if (request.id() != taken + 1) {
      return refuse(absl::StrCat("request ", request.id(), " comes after ", taken));
    }
    if (is_closing) return refuse("a request follows the end");
    ++taken;
    under_way.emplace_back(request.id(), DataBytes(request, data));
    int64_t bytes = 0;
    for (const auto& [id, size] : under_way) bytes += size;
    if (static_cast<int64_t>(under_way.size()) > behaviour.max_requests ||
        static_cast<int64_t>(data.size()) > behaviour.max_data_bytes ||
        bytes > behaviour.max_data_under_way_bytes) {
      return refuse(absl::StrCat("request ", request.id(), " is over the limits"));
    }
    held.push_back({std::move(request), std::move(data)});
  }
  GoOn();
}

void FakeDevice::State::GoOn() {
  while (!held.empty()) {
    auto& [request, data] = held.front();
    v1::SessionResponse response;
    if (cancelled.erase(request.id()) > 0) {
      response.set_id(request.id());
      response.set_code(static_cast<int>(absl::StatusCode::kCancelled));
      response.set_message("cancelled");
      data.Clear();
    } else if (request.call().function() == "wait" && !is_released) {
      break;
    } else {
      if (request.call().function() == "print") {
        v1::SessionResponse news;
        news.mutable_log()->set_text("printed\n");
        Tell(news);
      }
      response = runner.Do(request, data, behaviour.needed_blobs);
      carried_out.push_back(request);
    }
    const uint64_t id = request.id();
    absl::Cord answer = std::move(data);
    held.pop_front();
    if (behaviour.tamper) behaviour.tamper(response, answer);
    responses.emplace_back(id, WriteSessionResponse(response, answer));
    if (connection != nullptr && !behaviour.is_mute) connection->Send(responses.back().second);
  }
  if (is_closing && held.empty() && connection != nullptr) {
    is_closed = true;
    connection->EndAfterAll();
  }
}

void FakeDevice::State::Tell(v1::SessionResponse response, absl::Cord data) {
  if (connection == nullptr || behaviour.is_mute) return;
  if (behaviour.tamper) behaviour.tamper(response, data);
  connection->Send(WriteSessionResponse(response, data));
}

FakeDevice::FakeDevice() : state_(std::make_unique<State>()) { Listen(); }

FakeDevice::~FakeDevice() { StopListening(); }

void FakeDevice::Listen() {
  service_ = std::make_unique<Service>(*state_);
  grpc::ServerBuilder builder;
  ApplyServerSettings(builder);
  builder.AddListeningPort(socket_.address(), grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
  SLIPWAY_CHECK(server_ != nullptr, "the fake cannot listen");
}

void FakeDevice::StopListening() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_ = nullptr;
  service_ = nullptr;
}

void FakeDevice::Configure(const std::function<void(FakeDeviceBehaviour&)>& change) {
  absl::MutexLock lock(&state_->mutex);
  change(state_->behaviour);
}

void FakeDevice::Release() {
  absl::MutexLock lock(&state_->mutex);
  state_->is_released = true;
  if (!std::exchange(state_->is_opened, true)) state_->TellOpened();
  state_->GoOn();
}

void FakeDevice::EndConnections(const grpc::Status& status) {
  absl::MutexLock lock(&state_->mutex);
  for (Connection* connection : state_->connections) connection->End(status);
}

void FakeDevice::Send(const absl::Cord& message) {
  absl::MutexLock lock(&state_->mutex);
  for (Connection* connection : state_->connections) connection->Send(message);
}

std::map<std::string, std::string> FakeDevice::blobs() {
  absl::MutexLock lock(&state_->mutex);
  return state_->runner.blobs();
}

void FakeDevice::PutBlob(const Digest& digest, const std::string& bytes) {
  absl::MutexLock lock(&state_->mutex);
  state_->runner.blobs()[digest.hex()] = bytes;
}

int FakeDevice::messages() {
  absl::MutexLock lock(&state_->mutex);
  return state_->messages;
}

int FakeDevice::connections() {
  absl::MutexLock lock(&state_->mutex);
  return state_->connections_begun;
}

std::vector<v1::SessionRequest> FakeDevice::carried_out() {
  absl::MutexLock lock(&state_->mutex);
  return state_->carried_out;
}

int FakeDevice::held() {
  absl::MutexLock lock(&state_->mutex);
  return static_cast<int>(state_->held.size());
}

int64_t FakeDevice::tensors() {
  absl::MutexLock lock(&state_->mutex);
  return state_->runner.tensors();
}

bool FakeDevice::is_closed() {
  absl::MutexLock lock(&state_->mutex);
  return state_->is_closed;
}

}  // namespace slipway::testing
