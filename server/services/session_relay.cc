#include "server/services/session_relay.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
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

// One end of a relay, as gRPC sees it: hands on what happens.
class End final : public DuplexUser, public std::enable_shared_from_this<End> {
 public:
  std::function<void(absl::Cord)> on_message;
  std::function<void()> on_room;
  std::function<void()> on_gone;

  void OnMessage(absl::Cord message) override { on_message(std::move(message)); }
  void OnRoom() override { on_room(); }
  void OnGone(const absl::Status&) override {
    on_gone();
    on_message = nullptr;
    on_room = nullptr;
    on_gone = nullptr;
  }
};

// Which relay an end is of, once that is known.
class Slot {
 public:
  // False when the end is gone already.
  bool Set(std::shared_ptr<SessionRelay> relay) {
    absl::MutexLock lock(&mu_);
    if (is_gone_) return false;
    relay_ = std::move(relay);
    return true;
  }
  std::shared_ptr<SessionRelay> Get() const {
    absl::MutexLock lock(&mu_);
    return relay_;
  }
  std::shared_ptr<SessionRelay> Leave() {
    absl::MutexLock lock(&mu_);
    is_gone_ = true;
    return std::move(relay_);
  }

 private:
  mutable absl::Mutex mu_;
  bool is_gone_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<SessionRelay> relay_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

// One session: a client's connection and, when the device is its, one of the agent, made for it alone. Either may be
// missing. When one of the two ends the other is ended too: the client resumes, the agent calls again.
class SessionRelay : public std::enable_shared_from_this<SessionRelay> {
 public:
  SessionRelay(std::weak_ptr<SessionRelays> relays, const SessionRelays::Parts& parts,
               std::string session)
      : relays_(std::move(relays)), parts_(parts), session_(std::move(session)) {}

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

  // A client, whose first message is for the agent.
  void ClientCame(const Caller& caller, std::shared_ptr<Duplex> client, absl::Cord first) {
    {
      absl::MutexLock lock(&mu_);
      caller_ = caller;
      if (client_ != nullptr) {
        client_->End(absl::AbortedError("another connection has taken the session up"));
        // What the agent's end knows is of that client.
        if (is_joined_ && agent_ != nullptr)
          agent_->End(absl::AbortedError("the client is another"));
        if (is_joined_) agent_ = nullptr;
      }
      client_ = std::move(client);
      first_ = std::move(first);
      is_joined_ = false;
      agent_left_ = false;
      missing_since_ = parts_.env->clock->Monotonic();
      Join();
    }
    LookLater();
  }
  void AgentCame(std::shared_ptr<Duplex> agent) {
    absl::MutexLock lock(&mu_);
    if (agent_ != nullptr) agent_->End(absl::AbortedError("the agent has called again"));
    agent_ = std::move(agent);
    Join();
  }

  void ClientSent(const Duplex* client, absl::Cord message) {
    absl::MutexLock lock(&mu_);
    if (client_.get() != client || !is_joined_ || agent_ == nullptr) return;
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
    client_->ReadNext();
    agent_->ReadNext();
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
    if (parts_.hub->is_closed()) return EndClient(Calls::Ending());
    if (!record.ok()) return EndClient(record.status());
    if (IsTerminal(record->job().state())) {
      if (ended_at_ == absl::ZeroDuration()) ended_at_ = now;
      // Its agent may have more to say.
      if (agent_ != nullptr && is_joined_ && now - ended_at_ < kLastWords) {
        return LookAfter(kLastWords);
      }
      return EndClient(EndOf(*record));
    }
    if (client_ == nullptr) {
      const absl::Duration idle = absl::Nanoseconds(record->job().session().idle_ns());
      // With a device, the agent tells when the client was not heard for too long.
      if (!waiting.has_waiting()) return ForgetIfAlone();
      if (now - left_at_ < idle) return LookAfter(kTellWaiting);
      return LeaveLine();
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

  // The client that waits was not heard for too long.
  void LeaveLine() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    parts_.pool->Post([env = parts_.env, caller = caller_, session = session_] {
      const absl::StatusOr<v1::Job> job = env->dispatcher->Cancel(caller, session);
      if (!job.ok()) {
        Log(LogLevel::kWarning, "a session that nobody waits for goes on waiting",
            {{"session", session}, {"why", job.status().ToString()}});
      }
    });
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
    if (const std::shared_ptr<SessionRelays> relays = relays_.lock()) relays->Forget(*this);
  }

  const std::weak_ptr<SessionRelays> relays_;
  const SessionRelays::Parts parts_;
  const std::string session_;

  absl::Mutex mu_;
  ChangeHub::Subscription subscription_ ABSL_GUARDED_BY(mu_);
  Caller caller_ ABSL_GUARDED_BY(mu_);  // The last client's.
  std::shared_ptr<Duplex> client_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<Duplex> agent_ ABSL_GUARDED_BY(mu_);
  absl::Cord first_ ABSL_GUARDED_BY(mu_);           // Of the client, not yet sent on.
  bool is_joined_ ABSL_GUARDED_BY(mu_) = false;     // The two are each other's.
  bool client_waits_ ABSL_GUARDED_BY(mu_) = false;  // It is not read until the agent has room.
  bool agent_waits_ ABSL_GUARDED_BY(mu_) = false;   // The same the other way.
  bool agent_left_ ABSL_GUARDED_BY(mu_) = false;
  bool looks_later_ ABSL_GUARDED_BY(mu_) = false;
  absl::Duration missing_since_ ABSL_GUARDED_BY(mu_);
  absl::Duration left_at_ ABSL_GUARDED_BY(mu_);  // The client, when there is none.
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

v1::SessionRequest ResumeOf(const JobRecord& session, uint64_t received) {
  v1::SessionRequest request;
  request.mutable_resume()->set_session(session.job().id());
  request.mutable_resume()->set_ticket(session.session().ticket());
  request.mutable_resume()->set_received(received);
  return request;
}

absl::StatusOr<JobRecord> Enter(const Caller& caller, const Environment& env,
                                const absl::Cord& message, uint64_t* received) {
  absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(message);
  if (!parts.ok()) return parts.status();
  if (parts->message.requests_size() != 1 ||
      (!parts->message.requests(0).has_open() && !parts->message.requests(0).has_resume())) {
    return absl::FailedPreconditionError(
        "a connection of a session begins with one request, open or resume");
  }
  const v1::SessionRequest& first = parts->message.requests(0);
  if (first.has_open()) return CreateSession(caller, env, first.open());
  *received = first.resume().received();
  return FindSession(caller, env, first.resume().session(), first.resume().ticket());
}

}  // namespace

ServedDuplex* SessionRelays::Open(grpc::CallbackServerContext* context) {
  absl::StatusOr<Caller> caller = calls_.Admit(*context, Role::kUser);
  auto end = std::make_shared<End>();
  ServedDuplex* reactor = nullptr;
  const std::shared_ptr<Duplex> duplex = ServeDuplex(end, &reactor);
  auto slot = std::make_shared<Slot>();
  end->on_room = [slot, raw = duplex.get()] {
    if (const auto relay = slot->Get()) relay->ClientHasRoom(raw);
  };
  end->on_gone = [slot, raw = duplex.get()] {
    if (const auto relay = slot->Leave()) relay->ClientGone(raw);
  };
  if (!caller.ok()) {
    end->on_message = [](absl::Cord) {};
    duplex->End(caller.status());
    return reactor;
  }
  end->on_message = [this, slot, duplex, caller = *std::move(caller)](absl::Cord message) {
    if (const auto relay = slot->Get()) return relay->ClientSent(duplex.get(), std::move(message));
    // Accepting waits for the disk.
    const bool posted = parts_.pool->TryPost([self = shared_from_this(), slot, duplex, caller,
                                              message = std::move(message)] {
      uint64_t received = 0;
      const absl::StatusOr<JobRecord> session =
          Enter(caller, *self->parts_.env, message, &received);
      if (!session.ok()) return duplex->End(session.status());
      if (IsTerminal(session->job().state())) {
        const absl::Status ended = EndOf(*session);
        return duplex->End(ended.ok() ? absl::NotFoundError("the session has been closed") : ended);
      }
      const std::shared_ptr<SessionRelay> relay = self->Find(session->job().id());
      if (!slot->Set(relay)) return;
      relay->ClientCame(caller, duplex, WriteSessionRequest(ResumeOf(*session, received)));
    });
    if (!posted) duplex->End(Calls::Overloaded());
  };
  duplex->ReadNext();
  return reactor;
}

ServedDuplex* SessionRelays::Attach(grpc::CallbackServerContext* context) {
  absl::StatusOr<Caller> caller = calls_.Admit(*context, Role::kAgent);
  const std::string session = std::string(Calls::Metadata(*context, "session-id"));
  const std::string ticket = std::string(Calls::Metadata(*context, "session-ticket"));
  auto end = std::make_shared<End>();
  ServedDuplex* reactor = nullptr;
  const std::shared_ptr<Duplex> duplex = ServeDuplex(end, &reactor);
  auto slot = std::make_shared<Slot>();
  end->on_message = [slot, raw = duplex.get()](absl::Cord message) {
    if (const auto relay = slot->Get()) relay->AgentSent(raw, std::move(message));
  };
  end->on_room = [slot, raw = duplex.get()] {
    if (const auto relay = slot->Get()) relay->AgentHasRoom(raw);
  };
  end->on_gone = [slot, raw = duplex.get()] {
    if (const auto relay = slot->Leave()) relay->AgentGone(raw);
  };
  if (!caller.ok()) {
    duplex->End(caller.status());
    return reactor;
  }
  const bool posted = parts_.pool->TryPost([self = shared_from_this(), slot, duplex, session,
                                            ticket] {
    const absl::StatusOr<JobRecord> record = self->parts_.env->jobs->Get(session);
    if (!record.ok() || !record->job().has_session() || IsTerminal(record->job().state())) {
      return duplex->End(absl::NotFoundError(absl::StrCat("there is no session '", session, "'")));
    }
    if (!IsSameSecret(record->session().ticket(), ticket)) {
      return duplex->End(absl::PermissionDeniedError("the ticket is not that of the session"));
    }
    const std::shared_ptr<SessionRelay> relay = self->Find(session);
    if (slot->Set(relay)) relay->AgentCame(duplex);
  });
  if (!posted) duplex->End(Calls::Overloaded());
  return reactor;
}

}  // namespace slipway::server
