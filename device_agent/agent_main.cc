// slipway-agent: runs programs on this machine for a server. The same executable is its runner.
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cstring>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/kept_memory.h"
#include "core/base/lifeline.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/confinement/guard.h"
#include "core/rpc/join.h"
#include "device_agent/agent.h"
#include "device_agent/agent_options.h"
#include "device_agent/runner/runner_main.h"

namespace slipway {
namespace {

// Exit codes.
constexpr int kFailed = 1;
constexpr int kBadCall = 2;

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

absl::Status RunAgent(const AgentOptions& options) {
  // Blocked before there are threads, so that only the one below gets them.
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes is then an error like a full disk.
  umask(S_IRWXG | S_IRWXO);  // The socket and all else are this user's alone.
  SLIPWAY_RETURN_IF_ERROR(GuardProcess());
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Agent> agent, Agent::Create(options));
  // It has a thread of its own, and creating an agent forks.
  SLIPWAY_RETURN_IF_ERROR(FollowParent());
  std::stop_source stop;
  std::thread([&stop, signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    Log(LogLevel::kInfo, "stops", {{"signal", signal}});
    stop.request_stop();
  }).detach();
  agent->Run(stop.get_token());
  return absl::OkStatus();
}

int AgentMain(int argc, char** argv) {
  AgentOptions options;
  FlagSet flags = AgentFlags(options);
  const absl::StatusOr<std::vector<std::string>> arguments = flags.Parse(argc, argv);
  absl::Status status = arguments.status();
  if (status.ok() && !arguments->empty()) {
    status = absl::InvalidArgumentError(
        absl::StrCat("unexpected argument \"", arguments->front(), "\""));
  }
  absl::StatusOr<LogLevel> level = ParseLogLevel(options.log_level);
  if (status.ok()) status = level.status();
  if (!status.ok()) {
    fprintf(stderr, "slipway-agent: %s\n", std::string(status.message()).c_str());
    return kBadCall;
  }
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    fputs(text.c_str(), stdout);
    return 0;
  }
  InitLog("slipway-agent", *level);
  KeepFreedMemory();
  status = CompleteOptions(options);
  if (status.ok()) status = RunAgent(options);
  if (status.ok()) return 0;
  Log(LogLevel::kError, "the agent ends", {{"error", status.ToString()}});
  return kFailed;
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  // It doubles the cost of every lock; tests keep it.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc > 1 && std::strcmp(argv[1], slipway::kRunnerCommand) == 0) {
    return slipway::RunnerMain(argc - 1, argv + 1);
  }
  if (argc > 1 && std::strcmp(argv[1], "join") == 0) {
    return slipway::JoinMain("slipway-agent", slipway::Role::kAgent, argc - 1, argv + 1);
  }
  return slipway::AgentMain(argc, argv);
}
