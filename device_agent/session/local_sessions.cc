#include "device_agent/session/local_sessions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/rpc/token.h"
#include "core/selector/selector.h"
#include "core/target/target.h"
#include "core/wire/session_messages.h"
#include "device_agent/session/going_away.h"

namespace slipway {
namespace {

constexpr size_t kMaxWaiting = 1000;
constexpr absl::Duration kTick = AwakeClock::kReadEvery;

}  // namespace

LocalSessions::LocalSessions(Options options)
    : options_(std::move(options)),
      going_away_(GoingAway(options_.device)),
      awake_(options_.tools.clock) {
  watcher_ = std::thread([this] { Watch(); });
}

LocalSessions::~LocalSessions() {
  End();
  watcher_.join();
}

void LocalSessions::End() {
  absl::MutexLock lock(&mutex_);
  ends_ = true;
  for (const Waiting& waiting : waiting_) {
    if (waiting.connection == nullptr) continue;
    waiting.connection->Send(WriteSessionEnd(going_away_), false);
    waiting.connection->End(going_away_);
  }
  waiting_.clear();
  if (host_ != nullptr) host_->Stop(going_away_);
}

void LocalSessions::Watch() {
  while (true) {
    std::shared_ptr<SessionHost> ended;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(this, &LocalSessions::HasNews), kTick);
      if (has_ended_) {
        ended = std::move(host_);
        has_ended_ = false;
      }
      if (ends_ && host_ == nullptr && ended == nullptr) return;
      if (!ends_) {
        StartNext();
        Tick();
      }
    }
    // Its thread ends outside of the lock, which it takes to say that it ended.
    ended = nullptr;
  }
}

absl::Status LocalSessions::Check(const SessionWish& wish) const {
  if (IsSelector(wish.device)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Selector selector, Selector::Parse(wish.device));
    const std::optional<Reason> why_not = selector.WhyNot(options_.attributes());
    if (why_not.has_value()) {
      return absl::NotFoundError(absl::StrCat("this agent has only device \"", options_.device,
                                              "\", which ", why_not->of_one, " and does not match ",
                                              selector.ToString()));
    }
  } else if (!wish.device.empty() && wish.device != options_.device) {
    return absl::NotFoundError(absl::StrCat("this agent has no device \"",
                                            absl::Utf8SafeCEscape(wish.device), "\", only \"",
                                            options_.device, "\""));
  }
  if (wish.target.empty()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const Target wanted, ParseTarget(wish.target));
  SLIPWAY_ASSIGN_OR_RETURN(const Target own, ParseTarget(options_.target));
  return Annotate(CheckRunsOn(wanted, own), absl::StrCat("device \"", options_.device, "\""));
}

void LocalSessions::Enter(const v1::SessionRequest& first,
                          std::shared_ptr<SessionConnection> connection) {
  absl::MutexLock lock(&mutex_);
  if (ends_) return connection->End(going_away_);
  if (first.has_resume()) return Resume(first.resume(), connection);
  if (first.has_open()) return Open(first.open(), std::move(connection));
  connection->End(
      absl::FailedPreconditionError("a connection of a session begins with open or resume"));
}

void LocalSessions::Open(const v1::SessionRequest::Open& open,
                         std::shared_ptr<SessionConnection> connection) {
  absl::StatusOr<SessionWish> wish = ReadWish(open);
  if (!wish.ok()) return connection->End(wish.status());
  if (absl::Status status = Check(*wish); !status.ok()) return connection->End(status);
  if (waiting_.size() >= kMaxWaiting) {
    return connection->End(absl::ResourceExhaustedError(
        absl::StrCat(waiting_.size(), " clients wait for the device already; try again later")));
  }
  Waiting waiting;
  waiting.connection = std::move(connection);
  waiting.until = Now() + wish->wait;
  waiting.wish = *std::move(wish);
  waiting.session = NewSecret();
  waiting.ticket = NewSecret();
  waiting.connection->ReadNext();
  waiting_.push_back(std::move(waiting));
  StartNext();
  Tick();
}

void LocalSessions::Resume(const v1::SessionRequest::Resume& resume,
                           const std::shared_ptr<SessionConnection>& connection) {
  // One that waits: its client lost the connection and is back.
  for (size_t i = 0; i < waiting_.size(); ++i) {
    Waiting& waiting = waiting_[i];
    if (waiting.session != resume.session()) continue;
    if (!IsSameSecret(waiting.ticket, resume.ticket())) break;
    if (waiting.connection != nullptr) {
      waiting.connection->End(absl::AbortedError("another connection has taken the session up"));
    }
    waiting.connection = connection;
    waiting.early.Clear();
    connection->ReadNext();
    Tell(waiting, static_cast<int64_t>(i));
    return StartNext();
  }
  if (host_ == nullptr || has_ended_ || host_->terms().session != resume.session()) {
    return connection->End(absl::NotFoundError(
        absl::StrCat("there is no session ", absl::Utf8SafeCEscape(resume.session()),
                     ": its lease has ended, or this is another device")));
  }
  host_->Resume(resume, connection);
}

std::deque<LocalSessions::Waiting>::iterator LocalSessions::Find(
    const SessionConnection* connection) {
  return std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.connection.get() == connection;
  });
}

// One that waits lives, or gives up; what it asks for already waits as well.
void LocalSessions::Sent(const SessionConnection* connection, const absl::Cord& message) {
  absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(message);
  absl::MutexLock lock(&mutex_);
  const auto waiting = Find(connection);
  if (waiting == waiting_.end()) {
    if (host_ != nullptr) host_->Take(connection, message);
    return;
  }
  absl::Status end = parts.status();
  bool gives_up = !end.ok();
  for (int i = 0; end.ok() && i < parts->message.requests_size(); ++i) {
    const v1::SessionRequest& request = parts->message.requests(i);
    gives_up = gives_up || request.has_close();
    if (request.has_close() || request.has_heartbeat()) continue;
    waiting->early = message;
    return;
  }
  if (!gives_up) return waiting->connection->ReadNext();
  waiting->connection->End(end);
  waiting_.erase(waiting);
}

void LocalSessions::Left(const SessionConnection* connection) {
  absl::MutexLock lock(&mutex_);
  const auto waiting = Find(connection);
  if (waiting == waiting_.end()) return;
  waiting->connection = nullptr;
  waiting->early.Clear();
  waiting->left_at = awake_.Monotonic();
}

void LocalSessions::StartNext() {
  if (host_ != nullptr) return;
  const auto first = std::find_if(waiting_.begin(), waiting_.end(), [](const Waiting& waiting) {
    return waiting.connection != nullptr;
  });
  if (first == waiting_.end()) return;
  Waiting next = std::move(*first);
  waiting_.erase(first);
  SessionTerms terms{.session = next.session,
                     .ticket = next.ticket,
                     .device = options_.device,
                     .target = options_.target,
                     .idle = next.wish.idle,
                     .longest = next.wish.longest};
  absl::StatusOr<std::shared_ptr<SessionHost>> started =
      SessionHost::Start(std::move(terms), options_.tools, [this](const absl::Status& why) {
        Log(LogLevel::kInfo, "a session ended", {{"why", why.ToString()}});
        absl::MutexLock lock(&mutex_);
        has_ended_ = true;
      });
  if (!started.ok()) return next.connection->End(started.status());
  host_ = *std::move(started);
  purpose_ = next.wish.purpose;
  Log(LogLevel::kInfo, "a session began", {{"session", next.session}, {"purpose", purpose_}});
  host_->Attach(next.connection, 0, /*is_read=*/true);
  if (!next.early.empty()) host_->Take(next.connection.get(), next.early);
}

void LocalSessions::Tell(const Waiting& waiting, int64_t ahead) {
  if (waiting.connection == nullptr) return;
  v1::SessionResponse news;
  v1::SessionResponse::Waiting& told = *news.mutable_waiting();
  told.set_session(waiting.session);
  told.set_ticket(waiting.ticket);
  told.set_ahead(ahead);
  told.set_holder(purpose_.empty() ? "a session" : absl::StrCat("a session: ", purpose_));
  waiting.connection->Send(WriteSessionResponse(news), false);
}

void LocalSessions::Tick() {
  const absl::Duration now = Now();
  std::deque<Waiting> still;
  for (Waiting& waiting : waiting_) {
    const bool is_there =
        waiting.connection != nullptr || awake_.Monotonic() - waiting.left_at < waiting.wish.idle;
    if (is_there && now < waiting.until) {
      still.push_back(std::move(waiting));
      continue;
    }
    if (waiting.connection == nullptr) continue;
    waiting.connection->End(absl::DeadlineExceededError(absl::StrCat(
        "the device did not come free within ", absl::FormatDuration(waiting.wish.wait))));
  }
  waiting_ = std::move(still);
  for (size_t i = 0; i < waiting_.size(); ++i) Tell(waiting_[i], static_cast<int64_t>(i));
}

}  // namespace slipway
