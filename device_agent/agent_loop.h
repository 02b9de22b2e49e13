// AgentLoop: keeps telling the server what state the agent is in, and moves to the state it wants.
#ifndef SLIPWAY_DEVICE_AGENT_AGENT_LOOP_H_
#define SLIPWAY_DEVICE_AGENT_AGENT_LOOP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/followed_log_level.h"
#include "core/rpc/retry.h"
#include "device_agent/agent_transport.h"
#include "device_agent/reconcile.h"
#include "proto/slipway/v1/agent.pb.h"

namespace slipway {

// Runs an attempt to its end; told of every change on the way. See RunAttempt.
using AttemptFunction = std::function<v1::RunAttemptState(
    const v1::RunAssignment&, const std::function<void(const v1::RunAttemptState&)>& observer,
    std::stop_token stop)>;

struct AgentLoopOptions {
  // What every report begins with: ids, versions, the device.
  v1::AgentState identity;
  // Called once, after the server has answered for the first time.
  std::function<void()> on_ready;
  // Told what came of each report. May be empty.
  std::function<void(const absl::Status& status)> on_synced;
  // What the device's machine is like now, or nothing for as before; asked for each report on the thread that syncs. May be empty.
  std::function<std::optional<v1::MachineState>()> read_machine;
  // Called after an attempt has ended and been reported, on the thread that worked on it. May be empty.
  std::function<void()> after_attempt;
  // Of an agent whose identity says that it takes offers. Brings what an offer names and makes sure that it is what the server has
  // signed; waits for the network, until `stop`. An error, but for CANCELLED, gives the offer up.
  std::function<absl::Status(const v1::OfferedAgent& offer, std::stop_token stop)> fetch_offer;
  // Makes what was brought the one to be tried when this process has ended. An error gives the offer up.
  std::function<absl::Status(const v1::OfferedAgent& offer)> take_offer;
  // Longest time a call may be parked.
  absl::Duration park = absl::Seconds(30);
  // A run that takes no longer is reported once, with its result: for each report the server stores a change, wakes clients and
  // answers. Small programs take a few milliseconds.
  absl::Duration moment = absl::Milliseconds(25);
};

// Why a loop has ended.
enum class AgentEnd {
  kStopped,
  kTakesOffer,  // Another binary is to run in its place.
};

// The decisions are Reconcile's; this acts. One thread syncs, one works on an attempt.
class AgentLoop {
 public:
  // `transport` must outlive this.
  AgentLoop(AgentTransport& transport, AttemptFunction run_attempt, AgentLoopOptions options);
  ~AgentLoop();

  // Syncs until `stop`, whatever the server says, or until an offer is to be taken; then stops what is under way, and tells the
  // server that it leaves.
  AgentEnd Run(std::stop_token stop);

  // Thread-safe. Reports say so of the device from now on, and the next one goes out at once.
  void Describe(const v1::DeviceDescription& device);

 private:
  // Under way, or ended but not yet joined.
  struct Worker {
    std::string attempt_id;
    std::stop_source stop;
    std::thread thread;
  };

  // An offer that is being taken.
  struct Taking {
    explicit Taking(v1::OfferedAgent taken) : offer(std::move(taken)) {}
    const v1::OfferedAgent offer;
    bool is_told =
        false;  // The server knows, so that it knows whom it has lost if that does not come back.
    std::stop_source stop;
    std::thread thread;               // Fetches, once the server knows.
    std::optional<absl::Status> end;  // Of that.
  };

  // Goes on with the offer that is wanted, if it is to be taken, and gives another one up. True when it is taken.
  bool ConsiderOffer(bool takes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasTaken();
  void DropOffer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves towards the desired state and makes the next report and the call that carries it.
  v1::AgentState Act(std::shared_ptr<SyncCall>& call);
  void StartAttempt(const v1::RunAssignment& assignment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetAttempt(const v1::RunAttemptState& attempt);
  // The report under way, if there is one, does not say any more how it is.
  void ReportAnew() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives what has just begun the time to end, if that is soon.
  void AwaitMoment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StopWorker();
  // The time, but never so long that the server takes the agent for lost.
  absl::Duration NotLost(absl::Duration time) const;
  v1::AgentState MakeReport() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave();
  // Has a lost server the time to take back its fleet.
  void StayAway(const absl::Status& status, std::stop_token stop);
  void LogFailure(const absl::Status& status);

  AgentTransport& transport_;
  const AttemptFunction run_attempt_;
  const AgentLoopOptions options_;

  // Of the thread in Run alone.
  absl::BitGen random_;
  int64_t sequence_ = 0;
  Backoff backoff_;
  absl::StatusCode last_failure_ = absl::StatusCode::kOk;
  v1::DesiredAgentState desired_;
  bool is_ready_ = false;
  bool is_at_stake_ = false;
  FollowedLogLevel log_level_;

  absl::Mutex mutex_;
  v1::AgentState identity_ ABSL_GUARDED_BY(mutex_);
  HeldAttempts held_ ABSL_GUARDED_BY(mutex_);
  std::optional<Worker> worker_ ABSL_GUARDED_BY(mutex_);
  std::optional<Taking> taking_ ABSL_GUARDED_BY(mutex_);
  bool has_taken_ ABSL_GUARDED_BY(mutex_) = false;
  // The call under way; cancelled when held_ or identity_ changes.
  std::shared_ptr<SyncCall> call_ ABSL_GUARDED_BY(mutex_);
  bool call_is_stale_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_AGENT_LOOP_H_
