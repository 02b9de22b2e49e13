// What decisions cost the server, by how many agents it knows: a dispatcher in memory,
//   - whose agents call Sync one after the other and have nothing to do;
//   - which accepts runs while 6,000 wait for a device that is lost and all agents are idle: more of those, runs for
//     whichever device comes first, and runs that no device can do (goal: under 1 ms each).
//
//   bazel run //tests/bench:fleet_bench
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "server/handlers/testing/handler_environment.h"
#include "server/jobs/job_record.pb.h"
#include "server/limits.h"
#include "server/peers/sync_messages.h"

namespace slipway::server::bench {
namespace {

constexpr int kRounds = 3;
constexpr int kPinned = 6'000;
constexpr int kAccepted = 100;
constexpr char kLost[] = "lost";
constexpr char kTarget[] = "x86-64-linux";

absl::Status Sync(Dispatcher& dispatcher, v1::AgentState& state) {
  state.set_sequence(state.sequence() + 1);
  SLIPWAY_ASSIGN_OR_RETURN(Report report, ReadReport(state, "here"));
  const PeerCall call = report.call;
  SLIPWAY_RETURN_IF_ERROR(dispatcher.Reported(std::move(report)));
  dispatcher.CallBegan(call);
  const absl::Status answered = dispatcher.DesiredOf(call).status();
  dispatcher.CallEnded(call);
  return answered;
}

// The shortest round's time a call.
absl::StatusOr<double> MicrosecondsWith(int agents) {
  testing::HandlerEnvironment server;
  std::vector<v1::AgentState> states;
  for (int i = 0; i < agents; ++i) {
    const std::string id = absl::StrCat("agent-", i);
    SLIPWAY_RETURN_IF_ERROR(server.AddDevice(id, kTarget));
    v1::AgentState& state = states.emplace_back();
    state.set_agent_id(id);
    state.set_instance_id("i");
    state.set_sequence(1);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.add_devices()->set_id(id);
    state.mutable_devices(0)->set_target(kTarget);
  }
  const SystemClock clock;
  absl::Duration shortest = absl::InfiniteDuration();
  for (int round = 0; round < kRounds; ++round) {
    const absl::Duration begin = clock.Monotonic();
    for (v1::AgentState& state : states) {
      SLIPWAY_RETURN_IF_ERROR(Sync(*server.dispatcher, state));
    }
    shortest = std::min(shortest, clock.Monotonic() - begin);
    server.clock.Advance(absl::Seconds(1));
  }
  return absl::ToDoubleMicroseconds(shortest) / agents;
}

absl::Status AcceptRun(testing::HandlerEnvironment& server, const std::string& device,
                       const std::string& target) {
  const absl::Time now = server.clock.Now();
  JobRecord record;
  v1::Job& job = *record.mutable_job();
  job.set_id(server.ids.Next(now));
  job.set_owner(server.caller.owner);
  job.set_request_id(job.id());
  job.set_state(v1::Job::QUEUED);
  job.set_create_time_ns(absl::ToUnixNanos(now));
  job.mutable_deadlines()->set_queue_ns(absl::ToInt64Nanoseconds(kDefaultQueueDeadline));
  job.mutable_deadlines()->set_run_ns(absl::ToInt64Nanoseconds(kDefaultRunDeadline));
  job.mutable_deadlines()->set_total_ns(absl::ToInt64Nanoseconds(kDefaultTotalDeadline));
  job.mutable_run()->set_device(device);
  record.mutable_run()->set_target(target);
  record.set_queued_time_ns(job.create_time_ns());
  return server.dispatcher->Accept(server.caller, std::move(record)).status();
}

struct AcceptCosts {
  double pinned_us = 0;
  double any_us = 0;
  double for_nobody_us = 0;
};

absl::StatusOr<AcceptCosts> CostsWith(int agents) {
  testing::HandlerEnvironment server;
  SLIPWAY_RETURN_IF_ERROR(server.AddDevice(kLost, kTarget));
  server.clock.Advance(2 * kDefaultSilence);
  server.dispatcher->Tick();
  for (int i = 0; i < agents; ++i) {
    SLIPWAY_RETURN_IF_ERROR(server.AddDevice(absl::StrCat("agent-", i), kTarget));
  }
  for (int i = 0; i < kPinned; ++i) {
    SLIPWAY_RETURN_IF_ERROR(AcceptRun(server, kLost, kTarget));
  }
  const SystemClock clock;
  const auto time_of = [&](const std::string& device,
                           const std::string& target) -> absl::StatusOr<double> {
    const absl::Duration begin = clock.Monotonic();
    for (int i = 0; i < kAccepted; ++i) {
      SLIPWAY_RETURN_IF_ERROR(AcceptRun(server, device, target));
    }
    return absl::ToDoubleMicroseconds(clock.Monotonic() - begin) / kAccepted;
  };
  AcceptCosts costs;
  SLIPWAY_ASSIGN_OR_RETURN(costs.pinned_us, time_of(kLost, kTarget));
  SLIPWAY_ASSIGN_OR_RETURN(costs.for_nobody_us, time_of("", "arm-64-linux"));
  SLIPWAY_ASSIGN_OR_RETURN(costs.any_us, time_of("", kTarget));
  return costs;
}

absl::Status Main() {
  InitLog("fleet_bench", LogLevel::kWarning);
  for (const int agents : {500, 5'000}) {
    SLIPWAY_ASSIGN_OR_RETURN(const AcceptCosts costs, CostsWith(agents));
    std::printf(
        "%6d agents, %d runs for a lost one: to accept one more %.1f us, one for any device %.1f "
        "us, "
        "one for none %.1f us\n",
        agents, kPinned, costs.pinned_us, costs.any_us, costs.for_nobody_us);
  }
  for (const int agents : {100, 1'000, 10'000}) {
    SLIPWAY_ASSIGN_OR_RETURN(const double microseconds, MicrosecondsWith(agents));
    std::printf("%6d agents: %8.1f us a call\n", agents, microseconds);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway::server::bench

int main() {
  const absl::Status status = slipway::server::bench::Main();
  if (status.ok()) return 0;
  std::fprintf(stderr, "fleet_bench: %s\n", status.ToString().c_str());
  return 1;
}
