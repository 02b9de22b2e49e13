#include "client/session/grpc_session_engine.h"

#include <grpc/grpc.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/address.h"
#include "client/session/response_status.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_status.h"
#include "core/wire/session_messages.h"

namespace slipway {
namespace {

constexpr absl::Duration kLongestPause = absl::Seconds(1);
// A server that answers may itself have been away, and what it has to pass on comes a moment later; or it is the
// connection that is lost, and another takes the session up.
constexpr absl::Duration kLastChance = absl::Milliseconds(800);
// Who gives a session up says so to whoever still listens, and waits so long for its end.
constexpr absl::Duration kShutDownDeadline = absl::Seconds(1);
constexpr absl::Duration kLookForStop = absl::Milliseconds(50);
// Events go before time, unless they take so long.
constexpr absl::Duration kMostLate = absl::Milliseconds(50);
constexpr absl::Duration kLongestWait = absl::Hours(1);

gpr_timespec ToGpr(absl::Duration from_now) {
  const absl::Duration wait = std::clamp(from_now, absl::ZeroDuration(), kLongestWait);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(absl::ToInt64Nanoseconds(wait), GPR_TIMESPAN));
}

absl::Status Violation(absl::string_view what) {
  return absl::InternalError(absl::StrCat("the device breaks the protocol: ", what));
}

// The device would end a session that sends more.
absl::Status CheckSizes(absl::Span<const OutgoingRequest> requests) {
  for (const OutgoingRequest& outgoing : requests) {
    const size_t bytes = outgoing.request.ByteSizeLong();
    if (bytes <= static_cast<size_t>(kMaxSessionRequestBytes)) continue;
    return absl::ResourceExhaustedError(
        absl::StrCat("a request of ", bytes, " bytes is over the limit of ",
                     kMaxSessionRequestBytes, ": give shorter names, or fewer tensors"));
  }
  return absl::OkStatus();
}

absl::Status TakesNoMore() {
  return absl::FailedPreconditionError("the session is being closed or left");
}

}  // namespace

absl::StatusOr<std::shared_ptr<SessionEngine>> SessionEngine::Open(EngineOptions options) {
  // Kept for the process: gRPC that nobody uses ends, and to end it waits for a poller of its own that sleeps up to 10 s
  // after a write that did not go out at once. Who puts a large tensor and leaves would wait there.
  grpc_init();
  const auto engine = std::make_shared<GrpcSessionEngine>(std::move(options));
  const auto thread = std::make_shared<std::thread>([engine] { engine->Run(); });
  // The last reference may go in a callback, on the engine's own thread.
  const std::shared_ptr<SessionEngine> handle(engine.get(), [engine, thread](SessionEngine*) {
    engine->ShutDown();
    if (thread->get_id() == std::this_thread::get_id()) {
      thread->detach();
    } else {
      thread->join();
    }
  });
  SLIPWAY_RETURN_IF_ERROR(engine->AwaitOpened());
  return handle;
}

GrpcSessionEngine::GrpcSessionEngine(EngineOptions options)
    : options_(std::move(options)),
      route_(ToServer()),
      may_go_straight_(options_.may_go_straight),
      liveness_(options_.interval, options_.silence, Now()),
      session_(options_.first.resume().session()),
      ticket_(options_.first.resume().ticket()),
      is_from_elsewhere_(options_.first.has_resume()) {
  absl::MutexLock lock(&mutex_);
  if (is_from_elsewhere_) line_.BeginElsewhere();
  Connect(/*wait=*/false);
}

GrpcSessionEngine::~GrpcSessionEngine() {
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

// Waiting.

bool GrpcSessionEngine::WaitFor(absl::FunctionRef<bool()> done, absl::CondVar& woken,
                                absl::Duration until) {
  while (!done()) {
    bool progressed = false;
    if (pumping_) {
      const auto place = waiters_.insert(waiters_.end(), &woken);
      progressed = !woken.WaitWithTimeout(&mutex_, until - Now());
      waiters_.erase(place);
    } else {
      pumping_ = true;
      progressed = Pump(until);
      pumping_ = false;
    }
    if (!progressed && Now() >= until) break;
  }
  HandOn();
  return done();
}

// REQUIRES: the role is the caller's. Takes one event, waiting for it until `until` at most; returns whether one came.
bool GrpcSessionEngine::Pump(absl::Duration until) {
  const absl::Duration wait = std::min(until, Due()) - Now();
  mutex_.Unlock();
  void* tag = nullptr;
  bool ok = false;
  const bool came = queue_.AsyncNext(&tag, &ok, ToGpr(wait)) == grpc::CompletionQueue::GOT_EVENT;
  mutex_.Lock();
  if (came) Handle(static_cast<GrpcSessionEvent>(reinterpret_cast<uintptr_t>(tag)), ok);
  const absl::Duration now = Now();
  if (now >= Due() + (came ? kMostLate : absl::ZeroDuration())) KeepTime(now);
  return came;
}

void GrpcSessionEngine::HandOn() {
  if (pumping_) return;
  if (!waiters_.empty()) {
    waiters_.front()->Signal();
  } else if (IsBusy()) {
    own_thread_.Signal();
  }
}

// Whether somebody must pump though nobody waits.
bool GrpcSessionEngine::IsBusy() const {
  if (!end_.ok()) return stream_ != nullptr || question_ != nullptr || probe_ != nullptr;
  return !is_connected_ || probe_ != nullptr || promised_callbacks_ > 0 || line_.is_waiting();
}

// When KeepTime is to be called.
absl::Duration GrpcSessionEngine::Due() const {
  if (!end_.ok()) return stream_ == nullptr ? absl::InfiniteDuration() : cancel_at_;
  const absl::Duration due = std::min(liveness_.next(), give_up_at_);
  return stream_ == nullptr ? std::min(connect_at_, due) : due;
}

void GrpcSessionEngine::Run() {
  absl::MutexLock lock(&mutex_);
  while (!stopping_ || !callbacks_.empty()) {
    if (!callbacks_.empty()) {
      std::function<void()> callback = std::move(callbacks_.front());
      callbacks_.pop_front();
      mutex_.Unlock();
      callback();
      callback = nullptr;
      mutex_.Lock();
      continue;
    }
    const absl::Duration now = Now();
    if (!pumping_ && waiters_.empty() && (IsBusy() || now >= Due())) {
      pumping_ = true;
      Pump(IsBusy() ? Due() : now);
      pumping_ = false;
      if (!waiters_.empty()) waiters_.front()->Signal();
      continue;
    }
    // Who pumps keeps the time, but may be about to stop.
    own_thread_.WaitWithTimeout(&mutex_, std::max(Due() - now, absl::Milliseconds(10)));
  }
}

absl::Status GrpcSessionEngine::AwaitOpened() {
  absl::MutexLock lock(&mutex_);
  absl::CondVar woken;
  const bool may_stop = options_.stop.stop_possible();
  const auto opened_or_ended = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return is_open_ || !end_.ok();
  };
  while (!WaitFor(opened_or_ended, woken,
                  may_stop ? Now() + kLookForStop : absl::InfiniteDuration())) {
    if (options_.stop.stop_requested()) return absl::CancelledError("interrupted");
  }
  return end_;
}

void GrpcSessionEngine::ShutDown() {
  absl::MutexLock lock(&mutex_);
  absl::CondVar woken;
  const bool has_connection = stream_ != nullptr || connect_at_ <= Now();
  // Before the first message is written, nobody knows of the session.
  const bool is_known = !session_.empty() || (stream_ != nullptr && !stream_->is_writing());
  if (end_.ok() && IsOwn() && is_known && has_connection) {
    takes_no_more_ = is_closing_ = true;
    line_.Close();
    Flush();
    WaitFor([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !end_.ok(); }, woken,
            Now() + kShutDownDeadline);
  }
  End(absl::CancelledError("the session was let go"));
  WaitFor(
      [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return stream_ == nullptr && question_ == nullptr && probe_ == nullptr;
      },
      woken, absl::InfiniteDuration());
  stopping_ = true;
  own_thread_.Signal();
}

// What users ask for.

uint64_t GrpcSessionEngine::NewHandle() {
  absl::MutexLock lock(&mutex_);
  return ++last_handle_;
}

void GrpcSessionEngine::Submit(std::shared_ptr<SessionOperation> operation,
                               std::vector<OutgoingRequest> requests) {
  absl::MutexLock lock(&mutex_);
  // One more than there are requests, which is settled here: so an operation without any ends as well.
  operation->outstanding_ = requests.size() + 1;
  absl::Status status = end_;
  if (status.ok() && takes_no_more_) status = TakesNoMore();
  if (status.ok()) status = CheckSizes(requests);
  if (status.ok()) {
    for (size_t piece = 0; piece < requests.size(); ++piece) {
      line_.Add({operation, piece, std::move(requests[piece])});
    }
  } else {
    operation->outstanding_ = 1;
  }
  Settle(*operation, status);
  // The message before may be written, and nobody have looked.
  if (!pumping_ && stream_ != nullptr && stream_->is_writing()) {
    pumping_ = true;
    Pump(Now());
    pumping_ = false;
  }
  Flush();
  HandOn();
}

void GrpcSessionEngine::Free(uint64_t handle) {
  absl::MutexLock lock(&mutex_);
  if (end_.ok() && !takes_no_more_) line_.Free(handle);
}

bool GrpcSessionEngine::Wait(SessionOperation& operation, absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  absl::CondVar woken;
  operation.waiter_ = &woken;
  const absl::Duration until = deadline == absl::InfiniteFuture()
                                   ? absl::InfiniteDuration()
                                   : Now() + (deadline - absl::Now());
  const bool done = WaitFor([&operation] { return operation.done_; }, woken, until);
  operation.waiter_ = nullptr;
  return done;
}

void GrpcSessionEngine::Then(SessionOperation& operation, std::function<void()> callback) {
  absl::MutexLock lock(&mutex_);
  if (operation.done_) {
    CallBack(std::move(callback));
    return;
  }
  operation.then_ = std::move(callback);
  ++promised_callbacks_;
  HandOn();
}

void GrpcSessionEngine::Cancel(SessionOperation& operation) {
  absl::MutexLock lock(&mutex_);
  line_.Cancel(operation);
  GiveUp(operation, absl::CancelledError("cancelled before it was sent"));
  Flush();
}

absl::Status GrpcSessionEngine::Detach() {
  absl::MutexLock lock(&mutex_);
  absl::CondVar woken;
  takes_no_more_ = true;
  Flush();
  WaitFor([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !end_.ok() || line_.is_empty(); }, woken,
          absl::InfiniteDuration());
  const absl::Status before = end_;
  End(absl::FailedPreconditionError("the session was left to be taken up elsewhere"));
  return before;
}

absl::Status GrpcSessionEngine::Close() {
  absl::MutexLock lock(&mutex_);
  absl::CondVar woken;
  if (end_.ok()) {
    takes_no_more_ = is_closing_ = true;
    line_.Close();
    Flush();
    WaitFor([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !end_.ok(); }, woken,
            absl::InfiniteDuration());
  }
  return is_closed_ ? absl::OkStatus() : end_;
}

// Events.

void GrpcSessionEngine::Handle(GrpcSessionEvent event, bool ok) {
  switch (event) {
    case GrpcSessionEvent::kWritten:
      stream_->Written();
      if (ok) Flush();
      break;
    case GrpcSessionEvent::kRead:
      if (ok) {
        Received(stream_->Read());
        Flush();
      } else {
        stream_->ReadFailed();
      }
      break;
    case GrpcSessionEvent::kFinished:
      stream_->Finished();
      break;
    case GrpcSessionEvent::kAsked:
      Asked();
      break;
    case GrpcSessionEvent::kProbed:
      Probed();
      break;
  }
  if (stream_ != nullptr && stream_->is_gone()) Disconnected();
}

void GrpcSessionEngine::KeepTime(absl::Duration now) {
  if (!end_.ok()) {
    if (stream_ != nullptr && now >= cancel_at_) {
      stream_->Cancel();
      cancel_at_ = absl::InfiniteDuration();
    }
    return;
  }
  switch (liveness_.At(now)) {
    case Liveness::Action::kBeat:
      line_.Beat();
      Flush();
      break;
    case Liveness::Action::kAsk:
      give_up_at_ = absl::InfiniteDuration();
      Ask();
      break;
    case Liveness::Action::kNone:
      break;
  }
  if (now >= give_up_at_) {
    give_up_at_ = absl::InfiniteDuration();
    if (!liveness_.has_heard()) return End(absl::UnavailableError(blame_), kShutDownDeadline);
  }
  // Where there are two ways, one that does not come about is not waited for.
  if (stream_ == nullptr && now >= connect_at_)
    Connect(/*wait=*/!IsStraight() && straight_address_.empty());
}

void GrpcSessionEngine::Connect(bool wait) {
  v1::SessionRequest first;
  if (session_.empty()) {
    first = options_.first;
  } else {
    first.mutable_resume()->set_session(session_);
    first.mutable_resume()->set_ticket(ticket_);
    first.mutable_resume()->set_received(line_.received());
  }
  stream_ = std::make_unique<GrpcSessionStream>(*route_, queue_, wait, WriteSessionRequest(first));
  has_come_ = false;
}

void GrpcSessionEngine::Disconnected() {
  const absl::Status status = FromGrpc(stream_->status());
  const bool was_connected = std::exchange(is_connected_, false);
  stream_ = nullptr;
  line_.Suspend();
  if (!end_.ok()) return;
  if (std::exchange(is_leaving_, false)) {
    connect_at_ = Now();
    return;
  }
  if (is_closing_ && (status.ok() || absl::IsNotFound(status))) {
    is_closed_ = true;
    End(absl::FailedPreconditionError("the session is closed"));
    return;
  }
  // What gRPC says of connections that break.
  const bool broke = absl::IsUnavailable(status) || absl::IsUnknown(status);
  if (IsStraight() && !was_connected && (!broke || straight_address_.empty())) {
    // Why it does not take the session up, the server knows better: it may have ended, or be another's agent.
    may_go_straight_ = false;
    straight_address_.clear();
    Go(ToServer());
    return;
  }
  if (status.ok()) {
    End(Violation("it ended the session without a reason"));
    return;
  }
  if (!broke) {
    End(status);
    return;
  }
  const bool is_first = session_.empty() || (is_from_elsewhere_ && !is_open_);
  if (is_first && route_->channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE) {
    End(absl::UnavailableError(
        absl::StrCat("\"", options_.address, "\" cannot be reached: ", status.message())));
    return;
  }
  last_failure_ = status;
  // Whoever breaks a connection off was there until then. After a silence the server only passes on that the agent's broke.
  const bool was_silent = liveness_.silent_for(Now()) > 2 * options_.interval;
  if (std::exchange(has_come_, false) && !was_silent) liveness_.Heard(Now());
  if (!straight_address_.empty()) {
    Go(IsStraight() ? ToServer() : ToAgent(straight_address_));
  }
  connect_at_ = Now() + std::min(backoff_.Next(), kLongestPause);
}

void GrpcSessionEngine::Received(const absl::Cord& message) {
  mutex_.Unlock();
  absl::StatusOr<SessionResponseParts> parts = ParseSessionResponses(message);
  mutex_.Lock();
  if (!parts.ok()) {
    End(Violation(parts.status().message()));
    return;
  }
  has_come_ = true;
  liveness_.Heard(Now());
  const int count = parts->message.responses_size();
  for (int i = 0; i < count && end_.ok(); ++i) {
    v1::SessionResponse& response = *parts->message.mutable_responses(i);
    if (response.id() == 0) {
      TakeNews(response);
    } else if (!is_connected_) {
      End(Violation("it answers before the session is opened"));
    } else {
      Answered({.error = ErrorOf(response),
                .response = std::move(response),
                .data = i + 1 == count ? std::move(parts->data) : absl::Cord()});
    }
  }
}

void GrpcSessionEngine::Answered(RequestAnswer answer) {
  absl::StatusOr<RequestLine::Entry> entry = line_.Answer(answer.response.id());
  if (!entry.ok()) {
    End(Violation(entry.status().message()));
    return;
  }
  backoff_.Reset();
  is_last_try_ = false;
  if (entry->operation == nullptr) return;
  mutex_.Unlock();
  const absl::Status status = entry->operation->Take(entry->piece, answer);
  entry->outgoing = {};
  mutex_.Lock();
  // What fails in part fails: the rest need not be sent.
  if (!status.ok()) GiveUp(*entry->operation, status);
  Settle(*entry->operation, status);
}

void GrpcSessionEngine::TakeNews(v1::SessionResponse& news) {
  switch (news.kind_case()) {
    case v1::SessionResponse::kWaiting:
      if (is_open_ || news.waiting().session().empty()) {
        End(Violation("it lets a session wait that has none to wait for"));
        return;
      }
      session_ = news.waiting().session();
      ticket_ = news.waiting().ticket();
      if (options_.on_waiting) {
        CallBack([this, waiting = news.waiting()] {
          options_.on_waiting(waiting.ahead(), waiting.holder());
        });
      }
      return;
    case v1::SessionResponse::kOpened:
      TakeOpened(*news.mutable_opened());
      return;
    case v1::SessionResponse::kLog:
      if (options_.on_log && log_.Add(news.log().text())) {
        CallBack([this] { options_.on_log(log_.Take()); });
      }
      return;
    case v1::SessionResponse::kEnded: {
      const absl::Status why = ErrorOf(news);
      End(why.ok() ? Violation("it ended the session without a reason") : why);
      return;
    }
    case v1::SessionResponse::kHeartbeat:
    default:  // A newer device may tell more.
      return;
  }
}

void GrpcSessionEngine::TakeOpened(v1::SessionResponse::Opened& opened) {
  if (is_connected_ || opened.session().empty() ||
      (!session_.empty() && opened.session() != session_)) {
    End(Violation("it opens another session than the one asked for"));
    return;
  }
  if (opened.max_data_bytes() < 1 || opened.max_requests() < 1 ||
      opened.max_data_under_way_bytes() < 1) {
    End(Violation("its limits allow nothing"));
    return;
  }
  const absl::Status resumed = line_.Resume(opened.taken());
  if (!resumed.ok()) {
    End(Violation(resumed.message()));
    return;
  }
  session_ = opened.session();
  ticket_ = opened.ticket();
  is_connected_ = true;
  if (IsStraight()) straight_address_ = route_->address;
  if (is_open_) {
    Probe(opened.address());
    return;
  }
  if (is_from_elsewhere_) {
    if (opened.next_handle() == 0) {
      End(absl::UnimplementedError(
          absl::StrCat("the agent of device \"", opened.device(),
                       "\" does not let sessions be taken up elsewhere; update it")));
      return;
    }
    last_handle_ = opened.next_handle() - 1;
  }
  opened.set_max_data_bytes(std::min(opened.max_data_bytes(), kMaxSessionDataBytes));
  line_.SetLimits({.max_requests = opened.max_requests(),
                   .max_data_under_way_bytes = opened.max_data_under_way_bytes()});
  opened_ = std::move(opened);
  is_open_ = true;
  Probe(opened_.address());
}

void GrpcSessionEngine::Ask() {
  if (question_ != nullptr) return;
  question_ = std::make_unique<GrpcQuestion>(ToServer(), queue_, ToTag(GrpcSessionEvent::kAsked));
}

void GrpcSessionEngine::Asked() {
  const std::unique_ptr<GrpcQuestion> question = std::move(question_);
  if (!end_.ok() || liveness_.has_heard()) return;
  const bool lives = question->lives();
  std::string message =
      lives ? absl::StrCat("the agent of ", DeviceName(),
                           " does not answer, though the server at \"", options_.address, "\" does")
            : absl::StrCat("the server at \"", options_.address, "\" does not answer");
  absl::StrAppend(
      &message, ": nothing has come for ",
      absl::FormatDuration(absl::Trunc(liveness_.silent_for(Now()), absl::Milliseconds(1))));
  if (!lives) absl::StrAppend(&message, " (", question->error(), ")");
  if (lives && !last_failure_.ok()) absl::StrAppend(&message, " (", last_failure_.message(), ")");
  blame_ = std::move(message);
  give_up_at_ = Now() + (lives ? kLastChance : absl::ZeroDuration());
  // Where too much is sent for the line, another connection is no better.
  const bool is_too_much = is_last_try_ && !line_.is_empty();
  if (!lives || is_too_much) return;
  is_last_try_ = true;
  Go(question->TakeRoute());
}

std::unique_ptr<GrpcRoute> GrpcSessionEngine::ToServer() const {
  return std::make_unique<GrpcRoute>(options_.address, options_.proof, ServerNames());
}

std::unique_ptr<GrpcRoute> GrpcSessionEngine::ToAgent(const std::string& address) const {
  return std::make_unique<GrpcRoute>(address, options_.proof, AgentNames(opened_.device()));
}

bool GrpcSessionEngine::IsStraight() const { return route_->address != options_.address; }

bool GrpcSessionEngine::is_straight() const {
  absl::MutexLock lock(&mutex_);
  return is_connected_ && IsStraight();
}

// Whether the agent answers where it says that it listens.
void GrpcSessionEngine::Probe(const std::string& address) {
  // Agents prove themselves by the authority of their server alone.
  if (!options_.proof.authority_file.empty()) return;
  if (!may_go_straight_ || is_closing_ || IsStraight() || probe_ != nullptr || address.empty() ||
      address == options_.address || !CheckAddress(address).ok()) {
    return;
  }
  probe_ =
      std::make_unique<GrpcQuestion>(ToAgent(address), queue_, ToTag(GrpcSessionEvent::kProbed));
}

void GrpcSessionEngine::Probed() {
  const std::unique_ptr<GrpcQuestion> probe = std::move(probe_);
  if (!end_.ok() || is_closing_ || IsStraight() || !probe->lives()) return;
  Go(probe->TakeRoute());
}

void GrpcSessionEngine::Go(std::unique_ptr<GrpcRoute> route) {
  route_ = std::move(route);
  connect_at_ = Now();
  if (stream_ == nullptr) return;
  is_leaving_ = true;
  stream_->Cancel();
}

// What follows from them.

void GrpcSessionEngine::Flush() {
  if (stream_ == nullptr || stream_->is_writing() || (!end_.ok() && !line_.is_waiting())) return;
  const absl::Cord message = line_.NextMessage();
  if (!message.empty()) stream_->Write(message);
}

// Settles what is not sent of `operation`.
void GrpcSessionEngine::GiveUp(const SessionOperation& operation, const absl::Status& status) {
  for (const RequestLine::Entry& entry : line_.TakeUnsent(operation)) {
    Settle(*entry.operation, status);
  }
}

void GrpcSessionEngine::Settle(SessionOperation& operation, const absl::Status& status) {
  if (operation.status_.ok()) operation.status_ = status;
  if (--operation.outstanding_ > 0) return;
  if (operation.status_.ok() && GoOn(operation)) return;
  operation.Finish(operation.status_);
  operation.done_ = true;
  if (operation.then_) {
    --promised_callbacks_;
    CallBack(std::exchange(operation.then_, nullptr));
  }
  if (operation.waiter_ != nullptr) operation.waiter_->Signal();
}

// Whether the operation has more to ask, which then goes out.
bool GrpcSessionEngine::GoOn(SessionOperation& operation) {
  absl::StatusOr<std::vector<OutgoingRequest>> requests = operation.Next();
  if (requests.ok() && requests->empty()) return false;
  operation.status_ = requests.status();
  if (operation.status_.ok()) operation.status_ = end_;
  if (operation.status_.ok() && is_closing_) operation.status_ = TakesNoMore();
  if (!operation.status_.ok()) return false;
  operation.outstanding_ = requests->size();
  for (size_t piece = 0; piece < requests->size(); ++piece) {
    line_.Add({operation.shared_from_this(), piece, std::move((*requests)[piece])});
  }
  return true;
}

void GrpcSessionEngine::CallBack(std::function<void()> callback) {
  callbacks_.push_back(std::move(callback));
  own_thread_.Signal();
}

// For `linger`, whoever still listens is told that the lease need not wait for its idle time.
void GrpcSessionEngine::End(absl::Status status, absl::Duration linger) {
  if (!end_.ok()) return;
  end_ = std::move(status);
  cancel_at_ = Now() + linger;
  if (stream_ != nullptr && linger == absl::ZeroDuration()) stream_->Cancel();
  if (question_ != nullptr) question_->Cancel();
  if (probe_ != nullptr) probe_->Cancel();
  for (const RequestLine::Entry& entry : line_.TakeAll()) {
    if (entry.operation != nullptr) Settle(*entry.operation, end_);
  }
  if (linger > absl::ZeroDuration() && IsOwn()) line_.Close();
  Flush();
  for (absl::CondVar* const waiter : waiters_) waiter->Signal();
}

std::string GrpcSessionEngine::DeviceName() const {
  const std::string& device = is_open_ ? opened_.device() : options_.first.open().device();
  return device.empty() ? "the device" : absl::StrCat("device \"", device, "\"");
}

}  // namespace slipway
