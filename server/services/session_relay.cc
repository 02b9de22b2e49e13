#include "server/services/session_relay.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/token.h"
#include "core/wire/session_messages.h"
#include "server/handlers/sessions.h"
#include "server/jobs/job_state.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// How often a client that waits is told that it does.
constexpr absl::Duration kTellWaiting = absl::Seconds(1);
// How long either side may be missing before the other one is told.
constexpr absl::Duration kAgentMissing = absl::Seconds(4);
// An agent that ends a session ends its call first, and reports a moment later.
constexpr absl::Duration kJobEnds = absl::Milliseconds(500);
// After the end of a session, what its agent still sends goes on for so long.
constexpr absl::Duration kLastWords = absl::Seconds(1);

// Before the connection ends: the session has ended so, where it would be taken up again otherwise.
void TellEnd(Duplex& client, const absl::Status& why) {
  if (absl::IsUnavailable(why)) client.Send(WriteSessionEnd(why), false);
}

}  // namespace

// One session: a client's connection and, when the device is its, one of the agent, made for it alone. Either may be
// missing. When one of the two ends the other is ended too: the client resumes, the agent calls again.
class SessionRelay : public std::enable_shared_from_this<SessionRelay> {
 public:
  SessionRelay(std::weak_ptr<SessionRelays> relays, const SessionRelays::Parts& parts,
               std::string session)
      : relays_(std::move(relays)),
        parts_(parts),
        session_(std::move(session)),
        left_at_(parts.env->clock->Monotonic()) {}

  const std::string& session() const { return session_; }

  // Begins to follow the job.
  void Begin() {
    std::weak_ptr<SessionRelay> weak = weak_from_this();
    ChangeHub::Subscription subscription = parts_.hub->Subscribe(JobKey(session_), [weak] {
      if (std::shared_ptr<SessionRelay> live = weak.lock()) live->LookLater();
    });
    absl::MutexLock lock(&mu_);
    subscription_ = std::move(subscription);
  }

  // A client, whose first message is for the agent. False: this relay is forgotten, ask for another; the same below.
  bool ClientCame(std::shared_ptr<Duplex> client, absl::Cord first) {
    {
      absl::MutexLock lock(&mu_);
      if (is_forgotten_) return false;
      if (client_ != nullptr) {
        client_->End(absl::AbortedError("another connection has taken the session up"));
        // What the agent's end knows is of that client.
        if (is_joined_ && agent_ != nullptr)
          agent_->End(absl::AbortedError("the client is another"));
        if (is_joined_) agent_ = nullptr;
      }
      client_ = std::move(client);
      first_ = std::move(first);
      early_.Clear();
      is_joined_ = false;
      agent_left_ = false;
      missing_since_ = parts_.env->clock->Monotonic();
      client_->ReadNext();
      Join();
    }
    LookLater();
    return true;
  }
  // The server began with a session that waits, and whose client may come back.
  void ClientMayCome() {
    absl::MutexLock lock(&mu_);
    LookAfter(kTellWaiting);
  }
  bool AgentCame(std::shared_ptr<Duplex> agent) {
    absl::MutexLock lock(&mu_);
    if (is_forgotten_) return false;
    if (agent_ != nullptr) agent_->End(absl::AbortedError("the agent has called again"));
    agent_ = std::move(agent);
    if (client_ != nullptr && first_.empty()) {
      // It was another's of the agent's calls; what may be lost with that, it learns when it resumes.
      is_joined_ = false;
      client_->End(absl::UnavailableError("the agent has made another connection: resume"));
      client_ = nullptr;
      left_at_ = parts_.env->clock->Monotonic();
    }
    Join();
    return true;
  }

  void ClientSent(const Duplex* client, absl::Cord message) {
    absl::MutexLock lock(&mu_);
    if (client_.get() != client) return;
    if (!first_.empty()) return ClientSentEarly(std::move(message));
    if (!is_joined_ || agent_ == nullptr) return;
    client_waits_ = !agent_->Send(std::move(message), true);
    if (!client_waits_) client_->ReadNext();
  }
  void AgentSent(const Duplex* agent, absl::Cord message) {
    absl::MutexLock lock(&mu_);
    if (agent_.get() != agent || !is_joined_ || client_ == nullptr) return;
    agent_waits_ = !client_->Send(std::move(message), true);
    if (!agent_waits_) agent_->ReadNext();
  }
  void AgentHasRoom(const Duplex* agent) {
    absl::MutexLock lock(&mu_);
    if (agent_.get() != agent || !client_waits_ || client_ == nullptr) return;
    client_waits_ = false;
    client_->ReadNext();
  }
  void ClientHasRoom(const Duplex* client) {
    absl::MutexLock lock(&mu_);
    if (client_.get() != client || !agent_waits_ || agent_ == nullptr) return;
    agent_waits_ = false;
    agent_->ReadNext();
  }

  void ClientGone(const Duplex* client) {
    absl::MutexLock lock(&mu_);
    if (client_.get() != client) return;
    client_ = nullptr;
    if (is_joined_ && agent_ != nullptr) {
      agent_->End(absl::AbortedError("the client's connection has ended"));
      agent_ = nullptr;
    }
    is_joined_ = false;
    left_at_ = parts_.env->clock->Monotonic();
    LookAfter(kTellWaiting);
  }
  void AgentGone(const Duplex* agent) {
    {
      absl::MutexLock lock(&mu_);
      if (agent_.get() != agent) return;
      agent_ = nullptr;
      if (is_joined_) {
        is_joined_ = false;
        // Whether the session has ended, or only this call, its job tells.
        agent_left_ = true;
        missing_since_ = parts_.env->clock->Monotonic();
      }
      ForgetIfAlone();
    }
    LookLater();
  }

 private:
  void Join() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (client_ == nullptr || agent_ == nullptr || is_joined_ || first_.empty()) return;
    is_joined_ = true;
    agent_left_ = false;
    client_waits_ = agent_waits_ = false;
    agent_->Send(std::move(first_), true);
    first_.Clear();
    agent_->ReadNext();
    if (early_.empty()) return;
    agent_->Send(std::move(early_), true);
    early_.Clear();
    client_->ReadNext();
  }

  // Before the agent's call is there, a client lives, or gives up; one that asks for something already waits.
  void ClientSentEarly(absl::Cord message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(message);
    if (!parts.ok()) return client_->End(parts.status());
    bool gives_up = false;
    for (const v1::SessionRequest& request : parts->message.requests()) {
      gives_up = gives_up || request.has_close();
      if (request.has_close() || request.has_heartbeat()) continue;
      early_ = std::move(message);
      return;
    }
    if (!gives_up) return client_->ReadNext();
    client_->End(absl::OkStatus());
    client_ = nullptr;
    first_.Clear();
    Release();
  }

  void LookLater() {
    parts_.pool->Post([self = shared_from_this()] { self->Look(); });
  }
  void LookAfter(absl::Duration wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (looks_later_) return;
    looks_later_ = true;
    std::weak_ptr<SessionRelay> weak = weak_from_this();
    parts_.timers->After(wait, [weak] {
      std::shared_ptr<SessionRelay> live = weak.lock();
      if (live == nullptr) return;
      {
        absl::MutexLock lock(&live->mu_);
        live->looks_later_ = false;
      }
      live->LookLater();
    });
  }

  // What the job's state means for whoever is here.
  void Look() {
    absl::StatusOr<JobRecord> record = parts_.env->jobs->Get(session_);
    const absl::Duration now = parts_.env->clock->Monotonic();
    v1::SessionResponse waiting;
    if (record.ok() && record->job().state() == v1::Job::QUEUED) {
      waiting = WaitingNews(*parts_.env, *record);
    }
    absl::MutexLock lock(&mu_);
    if (is_forgotten_) return;
    if (parts_.hub->is_closed()) return EndClient(Calls::Ending());
    if (!record.ok()) return EndClient(record.status());
    if (IsTerminal(record->job().state())) {
      if (ended_at_ == absl::ZeroDuration()) ended_at_ = now;
      // Its agent may have more to say.
      if (agent_ != nullptr && is_joined_ && now - ended_at_ < kLastWords) {
        return LookAfter(kLastWords);
      }
      const absl::Status end = EndOf(*record);
      if (client_ != nullptr) TellEnd(*client_, end);
      return EndClient(end);
    }
    if (client_ == nullptr) {
      const absl::Duration idle = absl::Nanoseconds(record->job().session().idle_ns());
      // With a device, the agent tells when the client was not heard for too long.
      if (!waiting.has_waiting()) return ForgetIfAlone();
      if (now - left_at_ < idle) return LookAfter(kTellWaiting);
      return Release();
    }
    if (waiting.has_waiting()) {
      missing_since_ = now;
      client_->Send(WriteSessionResponse(waiting), false);
      return LookAfter(kTellWaiting);
    }
    if (is_joined_) return;
    if (now - missing_since_ < (agent_left_ ? kJobEnds : kAgentMissing)) {
      return LookAfter(agent_left_ ? kJobEnds : kTellWaiting);
    }
    client_->End(absl::UnavailableError(absl::StrCat(
        agent_left_ ? "the connection to the agent of device '" : "the agent of device '",
        record->job().assignee(), agent_left_ ? "' broke: resume" : "' does not answer")));
    client_ = nullptr;
    first_.Clear();
    ForgetIfAlone();
  }

  // The client does not want the device any more.
  void Release() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    parts_.pool->Post(
        [env = parts_.env, session = session_] { env->dispatcher->Release(session); });
    ForgetIfAlone();
  }

  void EndClient(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (client_ != nullptr) client_->End(status);
    client_ = nullptr;
    if (agent_ != nullptr) {
      agent_->End(status.ok() ? absl::AbortedError("the session has ended") : status);
    }
    agent_ = nullptr;
    is_joined_ = false;
    ForgetIfAlone();
  }

  void ForgetIfAlone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (client_ != nullptr || agent_ != nullptr) return;
    is_forgotten_ = true;
    if (const std::shared_ptr<SessionRelays> relays = relays_.lock()) relays->Forget(*this);
  }

  const std::weak_ptr<SessionRelays> relays_;
  const SessionRelays::Parts parts_;
  const std::string session_;

  absl::Mutex mu_;
  ChangeHub::Subscription subscription_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<Duplex> client_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<Duplex> agent_ ABSL_GUARDED_BY(mu_);
  absl::Cord first_ ABSL_GUARDED_BY(mu_);           // Of the client, not yet sent on.
  absl::Cord early_ ABSL_GUARDED_BY(mu_);           // The next; then it is not read.
  bool is_joined_ ABSL_GUARDED_BY(mu_) = false;     // The two are each other's.
  bool client_waits_ ABSL_GUARDED_BY(mu_) = false;  // It is not read until the agent has room.
  bool agent_waits_ ABSL_GUARDED_BY(mu_) = false;   // The same the other way.
  bool agent_left_ ABSL_GUARDED_BY(mu_) = false;
  bool looks_later_ ABSL_GUARDED_BY(mu_) = false;
  bool is_forgotten_ ABSL_GUARDED_BY(mu_) = false;
  absl::Duration missing_since_ ABSL_GUARDED_BY(mu_);
  // Since when there is no client, while there is none. One that opens a session comes after its relay is made.
  absl::Duration left_at_ ABSL_GUARDED_BY(mu_);
  absl::Duration ended_at_ ABSL_GUARDED_BY(mu_);
};

std::shared_ptr<SessionRelay> SessionRelays::Find(const std::string& session) {
  std::shared_ptr<SessionRelay> relay;
  {
    absl::MutexLock lock(&mu_);
    std::shared_ptr<SessionRelay>& kept = relays_[session];
    if (kept != nullptr) return kept;
    kept = relay = std::make_shared<SessionRelay>(weak_from_this(), parts_, session);
  }
  relay->Begin();
  return relay;
}

void SessionRelays::Forget(const SessionRelay& relay) {
  absl::MutexLock lock(&mu_);
  const auto found = relays_.find(relay.session());
  if (found != relays_.end() && found->second.get() == &relay) relays_.erase(found);
}

namespace {

// What a relay is told of one of its two ends.
struct EndKind {
  void (SessionRelay::*sent)(const Duplex*, absl::Cord);
  void (SessionRelay::*has_room)(const Duplex*);
  void (SessionRelay::*gone)(const Duplex*);
};

// One end of a relay, as gRPC sees it: tells its relay, once it has one, what happens.
class End final : public DuplexUser, public std::enable_shared_from_this<End> {
 public:
  using FirstMessage = std::function<void(const std::shared_ptr<End>&, absl::Cord)>;

  // Serves a call. The first message, if it is read before there is a relay, goes to `on_first`.
  static std::shared_ptr<End> Serve(const EndKind& kind, ServedDuplex** reactor,
                                    FirstMessage on_first = nullptr) {
    std::shared_ptr<End> end(new End(kind, std::move(on_first)));
    end->duplex_ = ServeDuplex(end, reactor);
    return end;
  }

  const std::shared_ptr<Duplex>& duplex() const { return duplex_; }

  // Ends a call whose caller has not said what it is for.
  void EndIfSilent() {
    if (has_spoken_) return;
    duplex_->End(absl::DeadlineExceededError(
        absl::StrCat("the connection did not say what it is for within ",
                     absl::FormatDuration(kFirstRequestWithin))));
  }

  // `came` tells the relay of this end, which may be gone already: the relay hears that too, but after it. False when the
  // relay does not take it.
  bool Join(std::shared_ptr<SessionRelay> relay, absl::FunctionRef<bool(SessionRelay&)> came) {
    absl::MutexLock lock(&mu_);
    if (!came(*relay)) return false;
    if (is_gone_) {
      (relay.get()->*kind_.gone)(duplex_.get());
    } else {
      relay_ = std::move(relay);
    }
    return true;
  }

  void OnMessage(absl::Cord message) override {
    if (const std::shared_ptr<SessionRelay> relay = this->relay()) {
      (relay.get()->*kind_.sent)(duplex_.get(), std::move(message));
    } else {
      has_spoken_ = true;
      on_first_(shared_from_this(), std::move(message));
    }
  }
  void OnRoom() override {
    if (const std::shared_ptr<SessionRelay> relay = this->relay()) {
      (relay.get()->*kind_.has_room)(duplex_.get());
    }
  }
  void OnGone(const absl::Status&) override {
    std::shared_ptr<SessionRelay> relay;
    {
      absl::MutexLock lock(&mu_);
      is_gone_ = true;
      relay = std::move(relay_);
    }
    if (relay != nullptr) (relay.get()->*kind_.gone)(duplex_.get());
  }

 private:
  End(const EndKind& kind, FirstMessage on_first) : kind_(kind), on_first_(std::move(on_first)) {}
  std::shared_ptr<SessionRelay> relay() const {
    absl::MutexLock lock(&mu_);
    return relay_;
  }

  const EndKind& kind_;
  const FirstMessage on_first_;
  std::shared_ptr<Duplex> duplex_;
  std::atomic<bool> has_spoken_{false};
  mutable absl::Mutex mu_;
  bool is_gone_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<SessionRelay> relay_ ABSL_GUARDED_BY(mu_);
};

v1::SessionRequest ResumeOf(const JobRecord& session, uint64_t received) {
  v1::SessionRequest request;
  request.mutable_resume()->set_session(session.job().id());
  request.mutable_resume()->set_ticket(session.session().ticket());
  request.mutable_resume()->set_received(received);
  return request;
}

// "JOB on DEVICE": what an open was about. Either may be missing.
std::string SubjectOf(const v1::SessionRequest::Open& open,
                      const absl::StatusOr<JobRecord>& session) {
  return absl::StrCat(session.ok() ? session->job().id() : "",
                      session.ok() && !open.device().empty() ? " on " : "", open.device());
}

absl::StatusOr<JobRecord> Enter(const Caller& caller, const Environment& env,
                                const CallAudit& audit, const absl::Cord& message,
                                uint64_t* received) {
  absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(message);
  if (!parts.ok()) return parts.status();
  if (parts->message.requests_size() != 1 ||
      (!parts->message.requests(0).has_open() && !parts->message.requests(0).has_resume())) {
    return absl::FailedPreconditionError(
        "a connection of a session begins with one request, open or resume");
  }
  const v1::SessionRequest& first = parts->message.requests(0);
  absl::StatusOr<JobRecord> session;
  if (first.has_open()) {
    session = CreateSession(caller, env, first.open());
    audit.Tell(caller, Rpc::kOpenSession, session.status(), SubjectOf(first.open(), session));
  } else {
    *received = first.resume().received();
    session = FindSession(caller, env, first.resume().session(), first.resume().ticket());
    audit.TellRefusal(caller, Rpc::kOpenSession, session.status(), first.resume().session());
  }
  return session;
}

constexpr EndKind kClientEnd = {&SessionRelay::ClientSent, &SessionRelay::ClientHasRoom,
                                &SessionRelay::ClientGone};
constexpr EndKind kAgentEnd = {&SessionRelay::AgentSent, &SessionRelay::AgentHasRoom,
                               &SessionRelay::AgentGone};

// Ends a call whose caller has said nothing by `until`, which moves on while this process is asleep.
void EndIfSilent(const SessionRelays::Parts& parts, std::weak_ptr<End> end, absl::Duration until) {
  const absl::Duration left = until - parts.env->clock->Monotonic();
  parts.timers->After(left, [parts, end = std::move(end), until] {
    const std::shared_ptr<End> live = end.lock();
    if (live == nullptr) return;
    if (parts.env->clock->Monotonic() < until) return EndIfSilent(parts, live, until);
    live->EndIfSilent();
  });
}

// Lets an end join its relay where one may wait. An error of `enter` ends it.
void EnterLater(WorkPool& pool, const std::shared_ptr<End>& end,
                std::function<absl::Status()> enter) {
  const bool posted = pool.TryPost([end, enter = std::move(enter)] {
    const absl::Status status = enter();
    if (!status.ok()) end->duplex()->End(status);
  });
  if (!posted) end->duplex()->End(Calls::Overloaded());
}

}  // namespace

absl::Status SessionRelays::Recover() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<JobRecord> records, parts_.env->jobs->ListLive());
  for (const JobRecord& record : records) {
    // Of the others, whoever has the device tells when its client is not heard.
    const bool waits = record.job().has_session() && record.job().state() == v1::Job::QUEUED;
    if (waits) Find(record.job().id())->ClientMayCome();
  }
  return absl::OkStatus();
}

ServedDuplex* SessionRelays::Open(grpc::CallbackServerContext* context) {
  const absl::StatusOr<Caller> caller = calls_.Admit(*context, Rpc::kOpenSession);
  ServedDuplex* reactor = nullptr;
  const std::shared_ptr<End> end = End::Serve(
      kClientEnd, &reactor,
      [self = shared_from_this(), caller](const std::shared_ptr<End>& end, absl::Cord message) {
        // Accepting waits for the disk.
        EnterLater(*self->parts_.pool, end, [self, caller, end, message = std::move(message)] {
          uint64_t received = 0;
          SLIPWAY_ASSIGN_OR_RETURN(
              const JobRecord session,
              Enter(*caller, *self->parts_.env, self->audit_, message, &received));
          if (IsTerminal(session.job().state())) {
            const absl::Status ended = EndOf(session);
            TellEnd(*end->duplex(), ended);
            return ended.ok() ? absl::NotFoundError("the session has been closed") : ended;
          }
          const auto came = [&](SessionRelay& relay) {
            return relay.ClientCame(end->duplex(),
                                    WriteSessionRequest(ResumeOf(session, received)));
          };
          while (!end->Join(self->Find(session.job().id()), came)) {
          }
          return absl::OkStatus();
        });
      });
  if (caller.ok()) {
    end->duplex()->ReadNext();
    EndIfSilent(parts_, end, parts_.env->clock->Monotonic() + kFirstRequestWithin);
  } else {
    end->duplex()->End(caller.status());
  }
  return reactor;
}

absl::StatusOr<JobRecord> FindSessionOfDevice(const Caller& caller, const Environment& env,
                                              const std::string& session,
                                              absl::string_view ticket) {
  absl::StatusOr<JobRecord> record = env.jobs->Get(session);
  if (!record.ok() || !record->job().has_session() || IsTerminal(record->job().state())) {
    return absl::NotFoundError(absl::StrCat("there is no session '", session, "'"));
  }
  if (!IsSameSecret(record->session().ticket(), ticket)) {
    return absl::PermissionDeniedError("the ticket is not that of the session");
  }
  // The ticket is its client's too, who is not to speak for the device.
  if (record->has_lease()) {
    SLIPWAY_RETURN_IF_ERROR(CheckPeer(caller, record->lease().holder(), *env.identities));
  }
  return record;
}

ServedDuplex* SessionRelays::Attach(grpc::CallbackServerContext* context) {
  const absl::StatusOr<Caller> caller = calls_.Admit(*context, Rpc::kAttach);
  ServedDuplex* reactor = nullptr;
  const std::shared_ptr<End> end = End::Serve(kAgentEnd, &reactor);
  if (!caller.ok()) {
    end->duplex()->End(caller.status());
    return reactor;
  }
  EnterLater(*parts_.pool, end,
             [self = shared_from_this(), end, caller = *caller,
              session = std::string(Calls::Metadata(*context, "session-id")),
              ticket = std::string(Calls::Metadata(*context, "session-ticket"))] {
               const absl::Status may =
                   FindSessionOfDevice(caller, *self->parts_.env, session, ticket).status();
               self->audit_.TellRefusal(caller, Rpc::kAttach, may, session);
               SLIPWAY_RETURN_IF_ERROR(may);
               const auto came = [&](SessionRelay& relay) {
                 return relay.AgentCame(end->duplex());
               };
               while (!end->Join(self->Find(session), came)) {
               }
               return absl::OkStatus();
             });
  return reactor;
}

}  // namespace slipway::server
