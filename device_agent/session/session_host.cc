#include "device_agent/session/session_host.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/rpc/token.h"
#include "core/wire/digest_proto.h"
#include "core/wire/session_messages.h"
#include "device_agent/session/going_away.h"
#include "device_agent/session/session_limits.h"

namespace slipway {
namespace {

// How often times are looked at, when nothing else happens.
constexpr absl::Duration kTick = AwakeClock::kReadEvery;
// How far apart two looks lie at a runner that a signal has stopped.
constexpr absl::Duration kLooksApart = absl::Seconds(1);
constexpr absl::Duration kShortestPause = absl::Milliseconds(10);
// A response that has begun to come comes whole.
constexpr absl::Duration kRestOfResponse = absl::Seconds(5);

absl::Status Cancelled() {
  return absl::CancelledError("the request was cancelled before it began");
}

bool NeedsHost(const v1::SessionRequest& request) {
  return request.has_load() || request.has_write_blob() || request.has_time();
}

}  // namespace

absl::StatusOr<std::shared_ptr<SessionHost>> SessionHost::Start(SessionTerms terms,
                                                                SessionTools tools, Ended ended,
                                                                Silent silent) {
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open()) return ErrnoStatus(errno, "cannot make an eventfd");
  std::shared_ptr<SessionHost> host(new SessionHost(
      std::move(terms), std::move(tools), std::move(ended), std::move(silent), std::move(wake)));
  host->thread_ = std::thread([raw = host.get()] { raw->Work(); });
  return host;
}

SessionHost::SessionHost(SessionTerms terms, SessionTools tools, Ended ended, Silent silent,
                         UniqueFd wake)
    : terms_(std::move(terms)),
      tools_(std::move(tools)),
      ended_(std::move(ended)),
      silent_(std::move(silent)),
      wake_(std::make_shared<const UniqueFd>(std::move(wake))),
      begun_at_(tools_.clock->Monotonic()),
      awake_(tools_.clock),
      blobs_(tools_.blobs),
      log_(std::make_shared<SessionLog>([wake = wake_] { WakeBy(*wake); })),
      heard_at_(awake_.Monotonic()) {}

SessionHost::~SessionHost() {
  Stop(GoingAway(terms_.device));
  thread_.join();
}

void SessionHost::WakeBy(const UniqueFd& wake) {
  const uint64_t one = 1;
  // A counter that is full wakes as well.
  if (write(wake.get(), &one, sizeof(one)) < 0 && errno != EAGAIN) {
    Log(LogLevel::kError, "cannot wake a session");
  }
}

// --- Connections. ---

void SessionHost::Resume(const v1::SessionRequest::Resume& resume,
                         std::shared_ptr<SessionConnection> connection) {
  if (!IsSameSecret(terms_.ticket, resume.ticket())) {
    return connection->End(absl::PermissionDeniedError("the ticket is not that of the session"));
  }
  Attach(std::move(connection), resume.received());
}

void SessionHost::Attach(std::shared_ptr<SessionConnection> connection, uint64_t received,
                         bool is_read) {
  absl::MutexLock lock(&mutex_);
  if (end_.has_value()) {
    return EndConnection(*connection,
                         end_->ok() ? absl::NotFoundError("the session has been closed") : *end_);
  }
  if (connection_ != nullptr) {
    connection_->End(absl::AbortedError("another connection has taken the session up"));
  }
  connection_ = std::move(connection);
  // What is on its way over the one before may never arrive, nor be given up soon.
  heartbeat_ = UnderWay();
  log_->BeginAnew();
  connection_->Attached(shared_from_this());
  Heard();
  Acked(received);
  v1::SessionResponse news;
  v1::SessionResponse::Opened& opened = *news.mutable_opened();
  opened.set_session(terms_.session);
  opened.set_ticket(terms_.ticket);
  opened.set_device(terms_.device);
  opened.set_target(terms_.target);
  opened.set_taken(taken_);
  opened.set_max_data_bytes(kMaxSessionDataBytes);
  opened.set_max_requests(kMaxRequestsUnderWay);
  opened.set_max_data_under_way_bytes(kMaxDataUnderWayBytes);
  opened.set_idle_ns(absl::ToInt64Nanoseconds(terms_.idle));
  opened.set_address(terms_.address);
  opened.set_next_handle(handles_.next());
  SendNews(news);
  for (const Unacked& unacked : unacked_) connection_->Send(unacked.message, unacked.has_data);
  SendLog();
  reads_ = is_read;
  ReadOn();
}

void SessionHost::Detach(const SessionConnection* connection) {
  absl::MutexLock lock(&mutex_);
  if (connection_.get() != connection) return;
  connection_ = nullptr;
  heard_at_ = awake_.Monotonic();
}

void SessionHost::Take(const SessionConnection* connection, const absl::Cord& message) {
  absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(message);
  absl::MutexLock lock(&mutex_);
  if (connection_.get() != connection || end_.has_value()) return;
  reads_ = false;
  if (!parts.ok()) return End(parts.status());
  Heard();
  Acked(parts->message.acked());
  const int count = parts->message.requests_size();
  for (int i = 0; i < count && !end_.has_value(); ++i) {
    TakeRequest(*parts->message.mutable_requests(i),
                i + 1 == count ? std::move(parts->data) : absl::Cord());
  }
  if (end_.has_value()) return;
  if (SendWaiting() || NextCheck() < waits_until_) Wake();
  Answer();
  ReadOn();
}

void SessionHost::TakeRequest(v1::SessionRequest& request, absl::Cord data) {
  switch (request.kind_case()) {
    case v1::SessionRequest::kHeartbeat: {
      // The one that is on its way says the same.
      if (connection_ == nullptr || heartbeat_.is_busy()) return;
      v1::SessionResponse news;
      news.mutable_heartbeat();
      return connection_->Send(heartbeat_.Send(WriteSessionResponse(news)), false);
    }
    case v1::SessionRequest::kCancel:
      return Cancel(request.cancel().request());
    case v1::SessionRequest::kClose:
      closes_ = true;
      return Wake();
    case v1::SessionRequest::kOpen:
    case v1::SessionRequest::kResume:
      return End(absl::InvalidArgumentError("a connection begins with one open or resume"));
    default:
      break;
  }
  // Sent again, since the client does not know yet that it has come.
  if (request.id() <= taken_ && request.id() != 0) return;
  if (request.id() != taken_ + 1) {
    return End(absl::InvalidArgumentError(absl::StrCat(
        "request ", request.id(), " follows request ", taken_, ": ids must rise by 1")));
  }
  if (request.deadline_ns() < 0 || absl::Nanoseconds(request.deadline_ns()) > kMaxRequestTime) {
    return End(absl::InvalidArgumentError(
        absl::StrCat("deadline_ns is ", request.deadline_ns(), "; at most 24 h is wanted")));
  }
  ++taken_;
  handles_.NoteNew(request);
  Pending& pending = pending_.emplace_back();
  pending.deadline =
      Now() +
      (request.deadline_ns() == 0 ? kDefaultRequestTime : absl::Nanoseconds(request.deadline_ns()));
  pending_bytes_ += static_cast<int64_t>(data.size());
  pending.data = std::move(data);
  pending.request.Swap(&request);
}

void SessionHost::Cancel(uint64_t id) {
  for (Pending& pending : pending_) {
    if (pending.request.id() != id) continue;
    // A runner that dies before it comes to this one is followed by another.
    pending.is_cancelled = true;
    if (id == prepares_) stop_preparing_.request_stop();
    if (pending.state == Pending::State::kWaiting) {
      Done(pending, Cancelled());
    } else if (pending.state == Pending::State::kSent && runner_ != nullptr) {
      runner_->window()->status().Cancel(id);
    }
    return;
  }
}

void SessionHost::Acked(uint64_t id) {
  while (!unacked_.empty() && unacked_.front().id <= id) {
    unacked_bytes_ -= static_cast<int64_t>(unacked_.front().message.size());
    unacked_.pop_front();
  }
}

bool SessionHost::HasRoom() const {
  return pending_.size() + unacked_.size() < kMostRequestsHeld &&
         pending_bytes_ < kMostDataHeldBytes && unacked_bytes_ < kMostAnswersHeldBytes;
}

void SessionHost::ReadOn() {
  if (connection_ == nullptr || reads_ || closes_ || !HasRoom()) return;
  reads_ = true;
  connection_->ReadNext();
}

// --- To the runner, and back to the client. ---

bool SessionHost::SendWaiting() {
  for (; handled_ < pending_.size(); ++handled_) {
    Pending& pending = pending_[handled_];
    if (pending.state == Pending::State::kDone) continue;
    if (runner_ == nullptr) return true;
    if (NeedsHost(pending.request) && !pending.is_prepared) return true;
    if (!SendOne(pending)) return false;
  }
  return false;
}

bool SessionHost::SendOne(Pending& pending) {
  const v1::SessionRequest& request = pending.request;
  if (pending.is_cancelled) {
    Done(pending, Cancelled());
    return true;
  }
  if (absl::Status lost = handles_.CheckLost(request); !lost.ok()) {
    // What was lost before may be there again under other handles only.
    Done(pending, lost);
    return true;
  }
  runner::Request sent;
  if (request.has_write() || request.has_read()) {
    const int64_t size =
        request.has_write() ? static_cast<int64_t>(pending.data.size()) : request.read().size();
    if (size < 0 || size > kMaxSessionDataBytes) {
      Done(pending, absl::InvalidArgumentError(absl::StrCat(size, " bytes are to be read; 0 to ",
                                                            kMaxSessionDataBytes, " wanted")));
      return true;
    }
    pending.piece = pieces_->Lend();
    if (!pending.piece.has_value()) return false;
    if (request.has_write()) pieces_->Fill(*pending.piece, pending.data);
    sent.set_data_offset(WindowPieces::OffsetOf(*pending.piece));
    sent.set_data_size(size);
  }
  if (request.has_load()) {
    sent.mutable_load()->set_manifest(pending.manifest);
    sent.mutable_load()->set_scratch_bytes(tools_.memory_bytes);
    sent.mutable_load()->set_dynamic_bytes(tools_.memory_bytes);
  }
  *sent.mutable_operation() = request;
  sent.set_not_after_ns(absl::ToInt64Nanoseconds(pending.deadline));
  const absl::Status status = runner_->Send(sent);
  if (!status.ok()) {
    if (pending.piece.has_value()) pieces_->Return(*pending.piece);
    pending.piece.reset();
    // It has enough to read, or it died, which the host's thread finds out.
    return false;
  }
  pending.state = Pending::State::kSent;
  return true;
}

void SessionHost::Done(Pending& pending, absl::Status status) {
  pending.state = Pending::State::kDone;
  if (const size_t bytes = pending.response.ByteSizeLong();
      bytes > static_cast<size_t>(kMaxSessionAnswerBytes)) {
    pending.response.Clear();
    status = absl::ResourceExhaustedError(
        absl::StrCat("the answer has ", bytes, " bytes, and ", kMaxSessionAnswerBytes,
                     " are the most: ask for fewer samples, or without a profile"));
  }
  pending.response.set_id(pending.request.id());
  pending.response.set_code(static_cast<int32_t>(status.code()));
  pending.response.set_message(std::string(Utf8Prefix(status.message(), kMaxErrorBytes)));
  pending.alone.reset();
  if (pending.piece.has_value()) pieces_->Return(*pending.piece);
  pending.piece.reset();
}

void SessionHost::Answer() {
  SendLog();
  while (!pending_.empty() && pending_.front().state == Pending::State::kDone) {
    Pending& pending = pending_.front();
    const bool has_data = !pending.response_data.empty();
    unacked_.push_back({pending.request.id(),
                        WriteSessionResponse(pending.response, pending.response_data), has_data});
    unacked_bytes_ += static_cast<int64_t>(unacked_.back().message.size());
    if (connection_ != nullptr) connection_->Send(unacked_.back().message, has_data);
    pending_bytes_ -= static_cast<int64_t>(pending.data.size());
    pending_.pop_front();
    if (handled_ > 0) --handled_;
  }
}

void SessionHost::SendNews(const v1::SessionResponse& news) {
  if (connection_ != nullptr) connection_->Send(WriteSessionResponse(news), false);
}

void SessionHost::SendLog() {
  if (connection_ == nullptr) return;
  absl::Cord message = log_->Next(Now());
  if (!message.empty()) connection_->Send(std::move(message), false);
}

void SessionHost::End(const absl::Status& why) {
  if (end_.has_value()) return;
  end_ = why;
  if (connection_ != nullptr) EndConnection(*connection_, why);
  connection_ = nullptr;
  stop_preparing_.request_stop();
  if (runner_ != nullptr) runner_->Kill();
  Wake();
}

void SessionHost::EndConnection(SessionConnection& connection, const absl::Status& why) {
  // Else it would be taken up again.
  if (absl::IsUnavailable(why)) connection.Send(WriteSessionEnd(why), false);
  connection.End(why);
}

void SessionHost::Stop(const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  End(why);
}

// --- The host's thread. ---

void SessionHost::Work() {
  absl::Status why;
  while (true) {
    int socket = -1;
    absl::Duration until;
    {
      absl::MutexLock lock(&mutex_);
      if (closes_ && pending_.empty()) End(absl::OkStatus());
      if (end_.has_value()) {
        why = *end_;
        break;
      }
      if (runner_ != nullptr) socket = runner_->socket();
      until = waits_until_ = NextCheck();
    }
    if (socket < 0) {
      StartRunner();
      continue;
    }
    if (Wait(socket, until)) TakeResponses();
    Prepare();
    CheckTimes();
    TellSilence();
  }
  std::unique_ptr<RunnerProcess> runner;
  {
    absl::MutexLock lock(&mutex_);
    runner = std::move(runner_);
    pending_.clear();
    unacked_.clear();
  }
  runner = nullptr;
  ended_(why);
}

bool SessionHost::Wait(int runner_socket, absl::Duration until) {
  pollfd fds[] = {{.fd = runner_socket, .events = POLLIN, .revents = 0},
                  {.fd = wake_->get(), .events = POLLIN, .revents = 0}};
  const int64_t ms = absl::ToInt64Milliseconds(until - Now() + absl::Milliseconds(1));
  poll(fds, 2, static_cast<int>(std::clamp<int64_t>(ms, 0, 1000)));
  if ((fds[1].revents & POLLIN) != 0) {
    uint64_t count = 0;
    if (read(wake_->get(), &count, sizeof(count)) < 0 && errno != EAGAIN) {
      Log(LogLevel::kError, "cannot read what wakes a session");
    }
  }
  return fds[0].revents != 0;
}

void SessionHost::StartRunner() {
  absl::StatusOr<std::unique_ptr<RunnerProcess>> started = tools_.start_runner();
  absl::MutexLock lock(&mutex_);
  if (!started.ok()) {
    return End(Annotate(started.status(), "the session has no process to work with"));
  }
  runner_ = *std::move(started);
  runner_->FollowLog([log = log_](absl::string_view text) { log->Add(text); });
  pieces_ = std::make_shared<WindowPieces>(runner_->window(), [wake = wake_] { WakeBy(*wake); });
  // A kill that came before there was anything to kill.
  if (end_.has_value()) runner_->Kill();
  SendWaiting();
  Answer();
}

void SessionHost::Prepare() {
  v1::SessionRequest request;
  absl::Cord data;
  absl::Duration deadline;
  std::stop_token stop;
  {
    absl::MutexLock lock(&mutex_);
    const bool needs_host = SendWaiting();
    Answer();
    ReadOn();
    if (!needs_host || runner_ == nullptr) return;
    const Pending& pending = pending_[handled_];
    // What is timed has the machine alone, also from what was sent before it.
    if (pending.request.has_time() && handled_ > 0) return;
    request = pending.request;
    data = pending.data;
    deadline = pending.deadline;
    if (!end_.has_value()) stop_preparing_ = std::stop_source();
    prepares_ = request.id();
    stop = stop_preparing_.get_token();
  }
  absl::Status status;
  v1::SessionResponse response;
  std::optional<CheckedManifest> manifest;
  std::optional<MachineLock> alone;
  if (request.has_time() && !tools_.is_attached) {
    WhileOthersAreServed([&] {
      absl::StatusOr<MachineLock> acquired =
          MachineLock::Acquire(MachineLock::Mode::kExclusive, deadline - Now(),
                               [&stop] { return stop.stop_requested(); });
      status = acquired.status();
      if (acquired.ok()) alone.emplace(*std::move(acquired));
    });
  } else if (request.has_load()) {
    std::vector<Digest> missing;
    absl::StatusOr<Digest> digest = FromProto(request.load().manifest());
    status = Annotate(digest.status(), "manifest");
    if (digest.ok()) {
      WhileOthersAreServed([&] {
        absl::StatusOr<std::optional<CheckedManifest>> gathered =
            blobs_.Gather(*digest, absl::Now() + (deadline - Now()), stop, &missing);
        status = gathered.status();
        if (gathered.ok()) manifest = *std::move(gathered);
      });
    }
    if (!missing.empty()) {
      status = absl::FailedPreconditionError(
          absl::StrCat("the device lacks ", missing.size(), " blobs of the program, of which ",
                       missing.front().ToString(), " is the first: write them and load it again"));
      for (const Digest& blob : missing) {
        *response.mutable_loaded()->add_missing() = ToProto(blob);
      }
    }
  } else {
    absl::StatusOr<Digest> digest = FromProto(request.write_blob().blob());
    int64_t held = 0;
    status = digest.ok() ? blobs_.Write(*digest, request.write_blob().offset(), data, &held)
                         : Annotate(digest.status(), "blob");
    response.mutable_blob_written()->set_size(held);
  }
  absl::MutexLock lock(&mutex_);
  prepares_ = 0;
  // It may have been cancelled meanwhile, and what follows it need this thread.
  Wake();
  if (end_.has_value() || handled_ >= pending_.size()) return;
  Pending& pending = pending_[handled_];
  if (pending.request.id() != request.id() || pending.state != Pending::State::kWaiting) return;
  pending.is_prepared = true;
  pending.alone = std::move(alone);
  if (manifest.has_value()) {
    pending.manifest = manifest->bytes();
    pending.steps = StepsOf(*manifest);
  }
  if (!status.ok() || request.has_write_blob()) {
    pending.response = std::move(response);
    Done(pending, status);
  }
  // The next one may need this thread again.
  if (SendWaiting()) Wake();
  Answer();
  ReadOn();
}

void SessionHost::WhileOthersAreServed(absl::FunctionRef<void()> wait) {
  std::atomic<bool> is_over = false;
  std::thread serves([&] {
    while (!is_over) {
      int socket = -1;
      absl::Duration until;
      {
        absl::MutexLock lock(&mutex_);
        if (end_.has_value()) return;
        until = waits_until_ = NextCheck();
        if (runner_ != nullptr) {
          socket = runner_->socket();
        } else {
          // The next one is started when this thread's place is taken again.
          until = std::max(until, Now() + kShortestPause);
        }
      }
      if (Wait(socket, until)) TakeResponses();
      CheckTimes();
      absl::MutexLock lock(&mutex_);
      SendWaiting();
      Answer();
      ReadOn();
    }
  });
  wait();
  is_over = true;
  Wake();
  serves.join();
}

void SessionHost::TakeResponses() {
  absl::MutexLock lock(&mutex_);
  bool has_more = true;
  while (has_more && runner_ != nullptr) {
    absl::StatusOr<runner::Response> received =
        runner_->Receive(SystemClock().Monotonic() + kRestOfResponse);
    if (!received.ok()) {
      LoseRunner(received.status());
      break;
    }
    has_more = runner_->has_received();
    const auto sent = std::find_if(pending_.begin(), pending_.end(), [](const Pending& pending) {
      return pending.state == Pending::State::kSent;
    });
    if (sent == pending_.end()) {
      LoseRunner(absl::InternalError("the runner answered what it was not asked"));
      break;
    }
    Pending& pending = *sent;
    v1::SessionResponse& result = *received->mutable_result();
    const absl::Status status(static_cast<absl::StatusCode>(result.code()), result.message());
    pending.response = std::move(result);
    if (status.ok()) {
      handles_.Note(pending.request);
      if (pending.request.has_load()) {
        handles_.NoteSteps(pending.request.load().program(), std::move(pending.steps));
      }
      if (pending.request.has_read()) {
        pending.response_data = pieces_->Take(*pending.piece, pending.request.read().size());
        pending.piece.reset();
      } else if (pending.request.has_get_facts()) {
        pending.response.mutable_facts()->set_limit_bytes(tools_.memory_bytes);
      } else if (pending.request.call().profile() && tools_.peaks != nullptr) {
        *pending.response.mutable_called()->mutable_peaks() = tools_.peaks->Get();
      } else if (pending.request.has_list()) {
        handles_.PutNames(*pending.response.mutable_listed());
      }
    }
    Done(pending, status);
  }
  SendWaiting();
  if (runner_ != nullptr) runner_->ReadLog();
  Answer();
  ReadOn();
}

absl::Duration SessionHost::NextCheck() {
  absl::Duration next = Now() + kTick;
  if (connection_ != nullptr) next = std::min(next, log_->due());
  const absl::Duration unheard = awake_.Monotonic() - heard_at_;
  next = std::min(next, Now() + terms_.idle - unheard);
  if (!silence_is_told_) next = std::min(next, Now() + terms_.silence - unheard);
  if (!pending_.empty()) next = std::min(next, pending_.front().deadline);
  return next;
}

void SessionHost::CheckTimes() {
  absl::MutexLock lock(&mutex_);
  const absl::Duration now = Now();
  if (end_.has_value()) return;
  if (awake_.Monotonic() - heard_at_ >= terms_.idle) {
    return End(absl::DeadlineExceededError(
        absl::StrCat("the lease of session ", terms_.session, " ended: nothing was heard of its ",
                     "client for ", absl::FormatDuration(terms_.idle))));
  }
  if (now - begun_at_ >= terms_.longest) {
    return End(absl::DeadlineExceededError(
        absl::StrCat("the lease of session ", terms_.session, " ended after the ",
                     absl::FormatDuration(terms_.longest), " it was given for")));
  }
  if (pending_.empty() || runner_ == nullptr) return;
  Pending& first = pending_.front();
  if (now >= first.deadline) {
    const std::string took = "the request did not end within its deadline";
    if (first.state == Pending::State::kSent) {
      LoseRunner(absl::DeadlineExceededError(took));
    } else if (first.state == Pending::State::kWaiting) {
      Done(first, absl::DeadlineExceededError(took));
    }
    SendWaiting();
    Answer();
    return;
  }
  if (now - looked_at_runner_ < kLooksApart) return;
  looked_at_runner_ = now;
  const bool is_stopped = first.state == Pending::State::kSent && runner_->IsStopped();
  if (is_stopped && was_stopped_) {
    LoseRunner(absl::AbortedError("the runner was stopped by a signal from outside"));
    Answer();
  }
  was_stopped_ = is_stopped && !was_stopped_;
}

void SessionHost::Heard() {
  heard_at_ = awake_.Monotonic();
  if (silence_is_told_) Wake();
}

void SessionHost::TellSilence() {
  absl::Duration silence;
  {
    absl::MutexLock lock(&mutex_);
    silence = awake_.Monotonic() - heard_at_;
    const bool is_silent = silence >= terms_.silence;
    if (silent_ == nullptr || end_.has_value() || is_silent == silence_is_told_) return;
    silence_is_told_ = is_silent;
  }
  silent_(silence >= terms_.silence ? silence : absl::ZeroDuration());
}

std::string SessionHost::Whereabouts() {
  const RunnerStatus& status = runner_->window()->status();
  const std::string where = handles_.Describe(status.program, status.position);
  return where.empty() ? "" : absl::StrCat(", in ", where);
}

void SessionHost::LoseRunner(absl::Status why) {
  const std::string where = Whereabouts();
  runner_->Kill();
  const std::string message = absl::StrCat(why.message(), where);
  const std::string held = handles_.Lose(message);
  const std::string log_tail = runner_->log_tail();
  Log(LogLevel::kWarning, "a session's runner ended",
      {{"session", terms_.session}, {"why", message}});
  bool is_first = true;
  for (Pending& pending : pending_) {
    if (pending.state != Pending::State::kSent) continue;
    pending.piece.reset();  // It goes with the runner.
    if (is_first) {
      pending.response.Clear();
      pending.response.set_log_tail(ToUtf8(log_tail));
      Done(pending, absl::Status(why.code(), absl::StrCat(message, "; ", held,
                                                          " of the session are lost with it")));
    } else {
      // It had not begun.
      pending.state = Pending::State::kWaiting;
    }
    is_first = false;
  }
  handled_ = 0;
  runner_ = nullptr;
  log_->EndLine();
  pieces_ = nullptr;
}

}  // namespace slipway
