// slipway-agent: runs programs on this machine for a server. The same executable is its runner.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cstring>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/kept_memory.h"
#include "core/base/lifeline.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/confinement/guard.h"
#include "core/rpc/join.h"
#include "device_agent/accelerators/accelerators.h"
#include "device_agent/agent.h"
#include "device_agent/agent_options.h"
#include "device_agent/attached/link_arguments.h"
#include "device_agent/attached/link_main.h"
#include "device_agent/runner/runner_commands.h"
#include "device_agent/runner/runner_main.h"
#include "device_agent/update/update_supervisor.h"

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

// `signals` are blocked.
absl::StatusOr<AgentEnd> RunAgent(const AgentOptions& options, const sigset_t& signals) {
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
  return agent->Run(stop.get_token());
}

// Runs this agent, or another one in its place; the exit code.
absl::StatusOr<int> RunWhatIsToRun(AgentOptions options, const std::vector<std::string>& argv) {
  // Blocked before there are threads, so that only the one that waits for them gets them.
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // One that executes itself again has told whoever waited, and this number may be another file's soon.
  if (options.ready_fd >= 0 && fcntl(static_cast<int>(options.ready_fd), F_GETFD) < 0) {
    options.ready_fd = -1;
  }
  if (options.accept_updates && !IsSupervised()) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::optional<int> end,
                             Supervise({.state_dir = options.state_dir,
                                        .argv = argv,
                                        .ready_fd = static_cast<int>(options.ready_fd),
                                        .report_within = options.update_deadline}));
    if (end.has_value()) return *end;
  }
  SLIPWAY_ASSIGN_OR_RETURN(const AgentEnd end, RunAgent(options, signals));
  if (end == AgentEnd::kStopped) return 0;
  if (IsSupervised()) return kTakeOffer;
  return ExecuteAgain(argv);
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
  if (status.ok()) {
    const absl::StatusOr<int> code = RunWhatIsToRun(options, {argv, argv + argc});
    if (code.ok()) return *code;
    status = code.status();
  }
  Log(LogLevel::kError, "the agent ends", {{"error", status.ToString()}});
  return kFailed;
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  // It doubles the cost of every lock; tests keep it.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc > 1 && (std::strcmp(argv[1], slipway::kRunnerCommand) == 0 ||
                   std::strcmp(argv[1], slipway::kAttachedRunnerCommand) == 0)) {
    return slipway::RunnerMain(argc - 1, argv + 1);
  }
  if (argc > 1 && std::strcmp(argv[1], slipway::kLinkCommand) == 0) {
    return slipway::LinkMain(argc - 1, argv + 1);
  }
  if (argc > 1 && std::strcmp(argv[1], slipway::kAcceleratorsCommand) == 0) {
    return slipway::AcceleratorsMain(argc - 1, argv + 1);
  }
  if (argc > 1 && std::strcmp(argv[1], slipway::kRunKeptCommand) == 0) {
    return slipway::RunKeptMain(argc - 1, argv + 1);
  }
  if (argc > 1 && std::strcmp(argv[1], "join") == 0) {
    return slipway::JoinMain("slipway-agent", slipway::Role::kAgent, argc - 1, argv + 1);
  }
  return slipway::AgentMain(argc, argv);
}
