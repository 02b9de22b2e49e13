#include "server/web/page_agents.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/versions.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "server/web/changes.h"
#include "server/web/problem.h"

namespace slipway::web {
namespace {

using slipway::v1::AgentState;
using slipway::v1::DesiredAgentState;

constexpr size_t kMaxInstanceIdBytes = 64;
// The longest time for which a report is parked, and how much longer its call may take.
constexpr absl::Duration kLongestPark = absl::Seconds(20);
constexpr absl::Duration kCallSlack = absl::Seconds(10);
// What this process waits for those that leave when it ends.
constexpr absl::Duration kLeaveWithin = absl::Seconds(1);

// What a page says, and what holds for all pages: this process reads manifests for them, and its own files run what they say. Pages serve no sessions
// and take no offers.
AgentState AsReported(AgentState page, int64_t sequence) {
  AgentState state;
  state.set_agent_id(page.agent_id());
  state.set_instance_id(page.instance_id());
  state.set_sequence(sequence);
  state.set_version(kVersion);
  state.set_min_protocol(page.min_protocol());
  state.set_max_protocol(page.max_protocol());
  state.set_min_abi(static_cast<int32_t>(kSpokenAbis.lowest));
  state.set_max_abi(static_cast<int32_t>(kSpokenAbis.highest));
  state.set_min_format(static_cast<int32_t>(kReadFormats.lowest));
  state.set_max_format(static_cast<int32_t>(kReadFormats.highest));
  *state.mutable_devices() = std::move(*page.mutable_devices());
  *state.mutable_attempts() = std::move(*page.mutable_attempts());
  state.set_park_ns(std::clamp<int64_t>(page.park_ns(), 0, absl::ToInt64Nanoseconds(kLongestPark)));
  state.set_applied_version(page.applied_version());
  return state;
}

}  // namespace

class PageAgents::Agent : public std::enable_shared_from_this<Agent> {
 public:
  Agent(std::shared_ptr<const SignedIn> signed_in, std::shared_ptr<HttpStream> stream,
        const std::function<void(const SignedIn&)>& forget)
      : signed_in_(std::move(signed_in)), stream_(std::move(stream)), forget_(forget) {}

  const SignedIn& signed_in() const { return *signed_in_; }

  void Report(AgentState page) {
    std::shared_ptr<RunningCall> before;
    int64_t sequence = 0;
    AgentState state;
    {
      absl::MutexLock lock(&mutex_);
      if (has_left_) return;
      sequence = ++sequence_;
      state = AsReported(std::move(page), sequence);
      last_ = state;
      before = std::exchange(call_, nullptr);
    }
    // Otherwise the server would answer two.
    if (before != nullptr) before->Stop();
    const absl::Duration deadline = absl::Nanoseconds(state.park_ns()) + kCallSlack;
    auto call = signed_in_->upstream->BeginSync(
        std::move(state), deadline,
        [self = shared_from_this(), sequence](absl::StatusOr<DesiredAgentState> wanted) {
          self->Answered(sequence, std::move(wanted));
        });
    {
      absl::MutexLock lock(&mutex_);
      if (answered_ == sequence) return;
      if (sequence == sequence_) {
        call_ = std::move(call);
        return;
      }
    }
    // Another report came meanwhile, or the page has gone.
    call->Stop();
  }

  DesiredAgentState wanted() {
    absl::MutexLock lock(&mutex_);
    return wanted_;
  }

  void End() { stream_->End(); }

  // `left` is called when the server knows, or cannot be told. Reports end.
  void Leave(std::function<void()> left) {
    std::shared_ptr<RunningCall> before;
    AgentState state;
    {
      absl::MutexLock lock(&mutex_);
      has_left_ = true;
      state = last_;
      state.set_sequence(++sequence_);
      before = std::exchange(call_, nullptr);
    }
    if (before != nullptr) before->Stop();
    state.set_leaving(true);
    state.set_park_ns(0);
    signed_in_->upstream->BeginSync(
        std::move(state), kCallSlack,
        [left = std::move(left)](const absl::StatusOr<DesiredAgentState>&) { left(); });
  }

 private:
  void Answered(int64_t sequence, absl::StatusOr<DesiredAgentState> wanted) {
    {
      absl::MutexLock lock(&mutex_);
      if (has_left_ || sequence != sequence_) return;
      answered_ = sequence;
      call_ = nullptr;
      if (wanted.ok()) {
        wanted_ = *std::move(wanted);
        for (slipway::v1::RunAssignment& attempt : *wanted_.mutable_attempts()) {
          attempt.clear_manifest();
          attempt.clear_blobs();
          attempt.clear_statement();
        }
      }
    }
    if (wanted.ok()) {
      stream_->Send(EventText("wanted", "{}"));
      return;
    }
    if (absl::IsUnauthenticated(wanted.status())) forget_(*signed_in_);
    stream_->Send(EventText("problem", ProblemAnswer(wanted.status()).body));
  }

  const std::shared_ptr<const SignedIn> signed_in_;
  const std::shared_ptr<HttpStream> stream_;
  const std::function<void(const SignedIn&)>& forget_;

  absl::Mutex mutex_;
  int64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t answered_ ABSL_GUARDED_BY(mutex_) = 0;  // The last report that was.
  bool has_left_ ABSL_GUARDED_BY(mutex_) = false;
  AgentState last_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<RunningCall> call_
      ABSL_GUARDED_BY(mutex_);  // Of the last report, until it is answered.
  DesiredAgentState wanted_ ABSL_GUARDED_BY(mutex_);
};

PageAgents::PageAgents(const Limits& limits, std::function<void(const SignedIn&)> forget)
    : limits_(limits), forget_(std::move(forget)) {}

PageAgents::~PageAgents() {
  const auto have_left = [](Leaving* leaving)
                             ABSL_NO_THREAD_SAFETY_ANALYSIS { return leaving->agents == 0; };
  absl::MutexLock lock(&leaving_->mutex);
  leaving_->mutex.AwaitWithTimeout(absl::Condition(+have_left, leaving_.get()), kLeaveWithin);
}

absl::Status PageAgents::CheckPlace(const SignedIn& signed_in, const AgentState& state) {
  const std::string& instance = state.instance_id();
  if (instance.empty() || instance.size() > kMaxInstanceIdBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("instanceId is to have 1 to ", kMaxInstanceIdBytes, " bytes"));
  }
  absl::MutexLock lock(&mutex_);
  if (agents_.count({signed_in.key, instance}) > 0) {
    return absl::AlreadyExistsError("this instance is there already");
  }
  const auto of_one = std::count_if(agents_.begin(), agents_.end(), [&signed_in](const auto& row) {
    return row.first.first == signed_in.key;
  });
  if (agents_.size() < limits_.most && static_cast<size_t>(of_one) < limits_.most_of_one) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError("too many pages are agents here: close some");
}

void PageAgents::Add(std::shared_ptr<const SignedIn> signed_in, AgentState state,
                     std::shared_ptr<HttpStream> stream) {
  const Key key = {signed_in->key, state.instance_id()};
  auto agent = std::make_shared<Agent>(std::move(signed_in), stream, forget_);
  {
    absl::MutexLock lock(&mutex_);
    // Another one came between CheckPlace and this.
    if (!agents_.emplace(key, agent).second) return stream->End();
  }
  agent->Report(std::move(state));
  stream->OnGone([this, key] { Gone(key); });
}

void PageAgents::Gone(const Key& key) {
  std::shared_ptr<Agent> agent;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = agents_.find(key);
    if (found == agents_.end()) return;
    agent = std::move(found->second);
    agents_.erase(found);
  }
  {
    absl::MutexLock lock(&leaving_->mutex);
    ++leaving_->agents;
  }
  agent->Leave([leaving = leaving_] {
    absl::MutexLock lock(&leaving->mutex);
    --leaving->agents;
  });
}

absl::StatusOr<std::shared_ptr<PageAgents::Agent>> PageAgents::Find(
    const SignedIn& signed_in, const std::string& instance_id) {
  absl::MutexLock lock(&mutex_);
  const auto found = agents_.find({signed_in.key, instance_id});
  if (found != agents_.end()) return found->second;
  return absl::NotFoundError("no such agent is here: begin with POST /api/v1/agents");
}

absl::Status PageAgents::Report(const SignedIn& signed_in, AgentState state) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::shared_ptr<Agent> agent,
                           Find(signed_in, state.instance_id()));
  agent->Report(std::move(state));
  return absl::OkStatus();
}

absl::Status PageAgents::End(const SignedIn& signed_in, const std::string& instance_id) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::shared_ptr<Agent> agent, Find(signed_in, instance_id));
  agent->End();
  return absl::OkStatus();
}

absl::StatusOr<DesiredAgentState> PageAgents::Wanted(const SignedIn& signed_in,
                                                     const std::string& instance_id) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::shared_ptr<Agent> agent, Find(signed_in, instance_id));
  return agent->wanted();
}

}  // namespace slipway::web
