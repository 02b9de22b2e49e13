// What it costs the server that an agent calls Sync, by how many agents it knows: a dispatcher in memory, whose agents
// call one after the other and have nothing to do.
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
#include "server/peers/sync_messages.h"

namespace slipway::server::bench {
namespace {

constexpr int kRounds = 3;

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
    SLIPWAY_RETURN_IF_ERROR(server.AddDevice(id, "x86-64-linux"));
    v1::AgentState& state = states.emplace_back();
    state.set_agent_id(id);
    state.set_instance_id("i");
    state.set_sequence(1);
    state.set_min_protocol(1);
    state.set_max_protocol(1);
    state.add_devices()->set_id(id);
    state.mutable_devices(0)->set_target("x86-64-linux");
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

absl::Status Main() {
  InitLog("fleet_bench", LogLevel::kWarning);
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
