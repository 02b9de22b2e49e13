// A real server under the load of a simulated fleet; see README.md.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "core/base/flags.h"
#include "core/base/log.h"
#include "tests/load/fleet_load.h"
#include "tests/load/fleet_report.h"

namespace slipway::testing {
namespace {

constexpr int kWrongCall = 2;
constexpr int kFailed = 3;

// Takes the signals that end a program from construction to destruction, of all threads that begin after it.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::thread([this] {
      int signal = 0;
      sigwait(&signals_, &signal);
      stop_.Notify();
    });
  }
  ~StopSignals() {
    // Its own end is what it waits for, unless another signal has come.
    if (!stop_.HasBeenNotified()) pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }

  const absl::Notification& stop() const { return stop_; }

 private:
  sigset_t signals_;
  absl::Notification stop_;
  std::thread thread_;
};

int Main(int argc, char** argv) {
  FleetLoadOptions options;
  int64_t agents = options.agents;
  int64_t clients = options.clients;
  int64_t jobs_per_second = static_cast<int64_t>(options.jobs_per_second);
  int64_t seconds = absl::ToInt64Seconds(options.load);
  int64_t idle_seconds = absl::ToInt64Seconds(options.idle);
  int64_t restart_after = 0;
  int64_t seed = static_cast<int64_t>(options.seed);
  std::string transport(FleetTransportName(options.transport));
  bool as_json = false;
  FlagSet flags(
      "fleet_load [flags]",
      "Lets simulated agents and clients come to a real server, and says what it has lost "
      "or done twice, how fast it was and what it took. Ends with 1 when jobs were lost "
      "or doubled, or agents did not come back; with 3 when it could not be told.");
  flags.Add("agents", &agents, 1, 100'000, "N", "How many.");
  flags.Add("clients", &clients, 1, 1'000, "N", "How many.");
  flags.Add("jobs-per-second", &jobs_per_second, 0, 100'000, "N", "Of all clients together.");
  flags.Add("seconds", &seconds, 1, 7 * 24 * 3600, "N", "For how long jobs are asked for.");
  flags.Add("idle-seconds", &idle_seconds, 0, 3600, "N",
            "For how long agents without work are watched before.");
  flags.Add("work", &options.longest_work, "TIME",
            "A run takes up to this on its device, drawn evenly.");
  flags.Add("restart-after", &restart_after, 0, 7 * 24 * 3600, "N",
            "Kill the server so many seconds after the first job, and start it again; 0: never.");
  flags.Add("patience", &options.patience, "TIME",
            "Give up when nothing has ended for this long after the last request.");
  flags.Add("transport", &transport, "NAME",
            "tls, as the server listens by default; plain, TCP without it; unix, a socket.");
  flags.Add("server-flag", &options.server_flags, "FLAG", "For slipwayd, as --server-flag=--x=y.");
  flags.Add("seed", &seed, 0, INT64_MAX, "N", "Of how long agents work and wait.");
  flags.Add("json", &as_json, "Print JSON.");
  const auto arguments = flags.Parse(argc, argv);
  if (!arguments.ok() || !arguments->empty()) {
    std::fprintf(stderr, "fleet_load: %s\n",
                 arguments.ok() ? "there are no arguments"
                                : std::string(arguments.status().message()).c_str());
    return kWrongCall;
  }
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  const auto named = FleetTransportNamed(transport);
  if (!named.has_value()) {
    std::fprintf(stderr, "fleet_load: --transport is tls, plain or unix\n");
    return kWrongCall;
  }
  options.transport = *named;
  options.agents = static_cast<int>(agents);
  options.clients = static_cast<int>(clients);
  options.jobs_per_second = static_cast<double>(jobs_per_second);
  options.load = absl::Seconds(seconds);
  options.idle = absl::Seconds(idle_seconds);
  if (restart_after > 0) options.restart_after = absl::Seconds(restart_after);
  options.seed = static_cast<uint64_t>(seed);
  options.tell = [](absl::string_view what) {
    std::fprintf(stderr, "fleet_load: %s\n", std::string(what).c_str());
  };

  const StopSignals signals;
  options.stop = &signals.stop();
  const absl::StatusOr<FleetReport> report = RunFleetLoad(options);
  if (!report.ok()) {
    std::fprintf(stderr, "fleet_load: %s\n", std::string(report.status().message()).c_str());
    return kFailed;
  }
  std::fputs((as_json ? ReportJson(*report) : ReportText(*report)).c_str(), stdout);
  return ReportExitCode(*report);
}

}  // namespace
}  // namespace slipway::testing

int main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // Statuses say what its log would.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  slipway::InitLog("fleet_load", slipway::LogLevel::kWarning);
  return slipway::testing::Main(argc, argv);
}
