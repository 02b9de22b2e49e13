// DispatcherTest: a dispatcher over a store in memory and a clock that tests move, and the agents and workers it
// hears of.
#ifndef SLIPWAY_SERVER_SCHEDULER_DISPATCHER_FIXTURE_H_
#define SLIPWAY_SERVER_SCHEDULER_DISPATCHER_FIXTURE_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/peers/sync_messages.h"
#include "server/scheduler/dispatcher.h"
#include "server/storage/memory_store.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server::testing {

using v1::Job;

inline constexpr absl::Duration kSilence = absl::Seconds(10);

class FakeArtifacts final : public ArtifactSource {
 public:
  absl::Status FillAssignment(const v1::RunSpec&, absl::string_view,
                              v1::RunAssignment* assignment) override {
    assignment->set_manifest("manifest");
    return fill;
  }
  absl::Status Admit(const CompilationFacts&, absl::string_view, v1::CompilationResult*) override {
    return admit;
  }
  absl::Status CheckOutputs(const v1::Digest&, const v1::RunResult&) override {
    return absl::OkStatus();
  }

  absl::Status fill;
  absl::Status admit;
};

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() { Restart(); }

  // As a new process over the same store would.
  void Restart() {
    dispatcher_.reset();
    dispatcher_ =
        *Dispatcher::Create({.jobs = &store_,
                             .devices = &store_,
                             .history = &store_,
                             .artifacts = &artifacts_,
                             .clock = server_clock_,
                             .ids = &ids_,
                             .hub = &hub_,
                             .probes = probes_,
                             .wake = [this](absl::Duration wait) { wakes_.push_back(wait); },
                             .demand = demand_},
                            {.silence = kSilence,
                             .max_queued_jobs = 20,
                             .max_live_bytes_of_owner = kMaxLiveBytes,
                             .max_ended_bytes_of_owner = kMaxEndedBytes,
                             .compile_time_of_owner = compile_time_,
                             .device_time_of_owner = device_time_,
                             .quarantine_after = 3});
  }

  JobRecord NewRecord(const std::string& request) {
    JobRecord record;
    Job& job = *record.mutable_job();
    job.set_id(ids_.Next(clock_.Now()));
    job.set_owner("local");
    job.set_request_id(request);
    job.set_state(Job::QUEUED);
    job.set_create_time_ns(absl::ToUnixNanos(clock_.Now()));
    job.mutable_deadlines()->set_queue_ns(absl::ToInt64Nanoseconds(absl::Hours(1)));
    job.mutable_deadlines()->set_run_ns(absl::ToInt64Nanoseconds(absl::Minutes(10)));
    job.mutable_deadlines()->set_total_ns(absl::ToInt64Nanoseconds(absl::Hours(2)));
    record.set_work_digest(request);
    record.set_queued_time_ns(job.create_time_ns());
    return record;
  }
  std::string AcceptRun(const std::string& request, const std::string& device = "") {
    JobRecord record = NewRecord(request);
    record.mutable_job()->mutable_run()->set_device(device);
    record.mutable_run()->set_target("x86-64-linux");
    return dispatcher_->Accept(caller_, record)->job().id();
  }
  std::string AcceptBenchmark(const std::string& request) {
    JobRecord record = NewRecord(request);
    record.mutable_job()->mutable_benchmark()->set_samples(1);
    record.mutable_run()->set_target("x86-64-linux");
    return dispatcher_->Accept(caller_, record)->job().id();
  }
  std::string AcceptSession(const std::string& request, absl::Duration idle) {
    JobRecord record = NewRecord(request);
    record.mutable_job()->mutable_session()->set_idle_ns(absl::ToInt64Nanoseconds(idle));
    record.mutable_session()->set_ticket("ticket");
    return dispatcher_->Accept(caller_, record)->job().id();
  }
  std::string AcceptCompilation(const std::string& request, const std::string& group = "g",
                                char fingerprint = 'f') {
    JobRecord record = NewRecord(request);
    v1::CompilationSpec& spec = *record.mutable_job()->mutable_compilation();
    spec.mutable_model()->set_format(v1::MODEL_FORMAT_ONNX);
    v1::Digest& file = *spec.mutable_model()->add_files()->mutable_digest();
    file.set_sha256(std::string(64, 'e'));
    file.set_size_bytes(1);
    spec.mutable_target()->set_name("x86-64-linux");
    record.mutable_compilation()->set_group(group);
    record.mutable_compilation()->set_compile_key("key");
    record.mutable_compilation()->set_fingerprint(std::string(64, fingerprint));
    return dispatcher_->Accept(caller_, record)->job().id();
  }

  v1::AgentState Agent(const std::string& id, const std::string& instance = "i1") {
    v1::AgentState state;
    state.set_agent_id(id);
    state.set_instance_id(instance);
    state.set_sequence(++sequence_);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.add_devices()->set_id(id);
    state.mutable_devices(0)->set_target("x86-64-linux");
    return state;
  }
  v1::WorkerState Worker(const std::string& id, char fingerprint = 'f',
                         const std::string& instance = "i1") {
    v1::WorkerState state;
    state.set_worker_id(id);
    state.set_instance_id(instance);
    state.set_sequence(++sequence_);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.set_capacity(1);
    state.set_fingerprint(std::string(64, fingerprint));
    return state;
  }
  // Reports and returns what is wanted.
  v1::DesiredAgentState Sync(const v1::AgentState& state) {
    EXPECT_OK(Report(state));
    return *DesiredOf(state);
  }
  v1::DesiredWorkerState Sync(const v1::WorkerState& state) {
    EXPECT_OK(Report(state));
    return *DesiredOf(state);
  }
  template <typename State>
  absl::Status Report(const State& state) {
    return dispatcher_->Reported(*ReadReport(state, "here"));
  }
  template <typename State>
  static PeerCall Call(const State& state) {
    return ReadReport(state, "here")->call;
  }
  absl::StatusOr<v1::DesiredAgentState> DesiredOf(const v1::AgentState& state) {
    return Answer<v1::DesiredAgentState>(Call(state));
  }
  absl::StatusOr<v1::DesiredWorkerState> DesiredOf(const v1::WorkerState& state) {
    return Answer<v1::DesiredWorkerState>(Call(state));
  }
  template <typename Desired>
  absl::StatusOr<Desired> Answer(const PeerCall& call) {
    const absl::StatusOr<DesiredState> desired = dispatcher_->DesiredOf(call);
    if (!desired.ok()) return desired.status();
    Desired answer;
    WriteDesired(*desired, &answer);
    return answer;
  }

  v1::RunAttemptState Attempt(const std::string& id, v1::RunAttemptState::State state) {
    v1::RunAttemptState attempt;
    attempt.set_attempt_id(id);
    attempt.set_state(state);
    if (state == v1::RunAttemptState::SUCCEEDED) attempt.mutable_run_result()->set_device("d");
    return attempt;
  }
  v1::CompileAttemptState Attempt(const std::string& id, v1::CompileAttemptState::State state) {
    v1::CompileAttemptState attempt;
    attempt.set_attempt_id(id);
    attempt.set_state(state);
    return attempt;
  }
  // A report of `before`'s peer that holds `attempt` and has applied `desired`.
  template <typename State, typename Desired, typename AttemptState>
  State Holding(State before, const Desired& desired, const AttemptState& attempt) {
    before.set_sequence(++sequence_);
    before.set_applied_version(desired.version());
    before.clear_attempts();
    *before.add_attempts() = attempt;
    return before;
  }

  Job Get(const std::string& id) { return store_.Get(id)->job(); }
  void Advance(absl::Duration step) {
    clock_.Advance(step);
    dispatcher_->Tick();
  }

  static constexpr int64_t kMaxLiveBytes = 100'000;
  static constexpr int64_t kMaxEndedBytes = 300'000;
  const Caller caller_{.owner = "local"};
  FakeClock clock_;
  const Clock* server_clock_ = &clock_;  // From the next Restart on.
  IdGenerator ids_{[] { return 1; }};
  ChangeHub hub_;
  FakeArtifacts artifacts_;
  MemoryDatabase database_;
  MemoryStore store_{&database_};
  std::unique_ptr<Dispatcher> dispatcher_;
  std::function<void()> demand_;                            // Told from the next Restart on.
  std::vector<absl::Duration> wakes_;                       // What the dispatcher asked for.
  absl::Duration compile_time_ = absl::InfiniteDuration();  // From the next Restart on.
  absl::Duration device_time_ = absl::InfiniteDuration();   // The same.
  const ProbePrograms* probes_ = nullptr;                   // The same.
  int64_t sequence_ = 0;
};

}  // namespace slipway::server::testing

#endif  // SLIPWAY_SERVER_SCHEDULER_DISPATCHER_FIXTURE_H_
