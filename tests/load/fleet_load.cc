#include "tests/load/fleet_load.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/client.h"
#include "core/base/clock.h"
#include "core/base/descriptor_limit.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/identity/role.h"
#include "core/runtime/test_programs/test_programs.h"
#include "tests/common/cluster.h"
#include "tests/common/process_list.h"
#include "tests/load/fleet_ledger.h"
#include "tests/load/grpc_fleet_agents.h"
#include "tests/load/grpc_fleet_clients.h"
#include "tests/load/grpc_fleet_door.h"

namespace slipway::testing {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(250);
// Agents come within this, and so much more for each: on a machine that others keep busy, each takes a while.
constexpr absl::Duration kComeWithin = absl::Seconds(60);
constexpr absl::Duration kComeWithinEach = absl::Milliseconds(100);
// How often the server's memory is noted, at most.
constexpr int kMemoryNotes = 60;
// Besides a connection of each agent, and another of each that works.
constexpr int kOtherConnections = 1'000;

int64_t Mebibytes(int64_t bytes) { return bytes >> 20; }

absl::Duration OwnProcessorTime() {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return absl::ZeroDuration();
  return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
}

int64_t FileBytes(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

// One run, from its begin to its end.
class FleetLoad {
 public:
  explicit FleetLoad(const FleetLoadOptions& options) : options_(options) {}

  absl::StatusOr<FleetReport> Run() {
    SLIPWAY_RETURN_IF_ERROR(CheckDescriptors());
    SLIPWAY_RETURN_IF_ERROR_WITH(StartServer(), "starting the server");
    SLIPWAY_RETURN_IF_ERROR_WITH(LetAgentsCome(), "the agents");
    SLIPWAY_RETURN_IF_ERROR(WatchIdle());
    SLIPWAY_RETURN_IF_ERROR(Load());
    SLIPWAY_RETURN_IF_ERROR(AwaitEnds());
    SLIPWAY_RETURN_IF_ERROR(Conclude());
    return std::move(report_);
  }

 private:
  absl::Status CheckDescriptors() {
    const int limit = RaiseDescriptorLimit();
    const int wanted = options_.agents + options_.clients + kOtherConnections;
    if (wanted <= limit) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("this process may have ", limit, " files open; ", options_.agents,
                     " agents want ", wanted, ": raise the limit (ulimit -Hn)"));
  }

  absl::Status StartServer() {
    Tell("starts the server");
    const bool is_over_tls = options_.transport == FleetTransport::kTls;
    Cluster::Options cluster{.agents = 0,
                             .server_flags = {"--workers", "0", "--exit-with-parent"},
                             .agent_flags = {},
                             .tcp = options_.transport != FleetTransport::kUnix,
                             .insecure = !is_over_tls};
    cluster.server_flags.insert(cluster.server_flags.end(), options_.server_flags.begin(),
                                options_.server_flags.end());
    SLIPWAY_ASSIGN_OR_RETURN(cluster_, Cluster::Start(cluster));
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, cluster_->Connect());
    const Artifact artifact = TestProgram(TestKernel::kAdd);
    SLIPWAY_RETURN_IF_ERROR(client->PutArtifact(artifact));
    program_ = artifact.digest();
    SLIPWAY_ASSIGN_OR_RETURN(
        door_, FleetDoor::Open({.address = cluster_->address(),
                                .agents = options_.agents,
                                .clients = options_.clients,
                                .admin_identity =
                                    is_over_tls ? cluster_->Identity(Role::kAdmin) : std::string(),
                                .folder = cluster_->Path("identities")}));
    return absl::OkStatus();
  }

  absl::Status LetAgentsCome() {
    Tell(absl::StrCat("lets ", options_.agents, " agents come"));
    const absl::Duration begin = clock_.Monotonic();
    agents_ = FleetAgents::Create(
        {.agents = options_.agents, .longest_work = options_.longest_work, .seed = options_.seed},
        door_.get(), &ledger_);
    agents_->Come();
    SLIPWAY_ASSIGN_OR_RETURN(const bool all, AwaitAgents());
    if (!all) return absl::DeadlineExceededError("not all have come");
    report_.connect = clock_.Monotonic() - begin;
    return absl::OkStatus();
  }

  // Whether all are there in time.
  absl::StatusOr<bool> AwaitAgents() {
    const absl::Duration end = clock_.Monotonic() + kComeWithin + options_.agents * kComeWithinEach;
    while (clock_.Monotonic() < end) {
      const absl::StatusOr<int> present = door_->CountPresent();
      if (present.ok() && *present >= options_.agents) return true;
      SLIPWAY_RETURN_IF_ERROR(Pause(kLook));
    }
    return false;
  }

  // A server that has too much to do may need some tries.
  absl::StatusOr<int> CountPresent() {
    const absl::Duration end = clock_.Monotonic() + options_.patience;
    while (true) {
      absl::StatusOr<int> present = door_->CountPresent();
      if (present.ok() || clock_.Monotonic() >= end) return present;
      SLIPWAY_RETURN_IF_ERROR(Pause(kLook));
    }
  }

  absl::Status WatchIdle() {
    if (options_.idle <= absl::ZeroDuration()) return absl::OkStatus();
    Tell("watches idle agents");
    const absl::Duration begin = clock_.Monotonic();
    const absl::Duration cpu = ServerProcessorTime();
    while (clock_.Monotonic() - begin < options_.idle) SLIPWAY_RETURN_IF_ERROR(Pause(kLook));
    report_.idle = clock_.Monotonic() - begin;
    report_.idle_cpu = ServerProcessorTime() - cpu;
    return absl::OkStatus();
  }

  absl::Status Load() {
    SLIPWAY_ASSIGN_OR_RETURN(const int present, CountPresent());
    report_.agents_connected = present;
    clients_ = FleetClients::Create({.clients = options_.clients,
                                     .jobs_per_second = options_.jobs_per_second,
                                     .program = program_},
                                    door_.get(), &ledger_);
    agents_->TakeCounts();
    ForgetPeak(cluster_->server().pid());
    const absl::Duration cpu = ServerProcessorTime();
    const absl::Duration own_cpu = OwnProcessorTime();
    const absl::Duration begin = clock_.Monotonic();
    const absl::Duration note_every = std::max(options_.load / kMemoryNotes, kLook);
    absl::Duration next_note;
    absl::Duration next_word;
    bool restarts = options_.restart_after.has_value();
    Tell("asks for jobs");
    clients_->Begin();
    absl::Duration elapsed;
    while ((elapsed = clock_.Monotonic() - begin) < options_.load) {
      SLIPWAY_RETURN_IF_ERROR(Pause(std::min(kLook, options_.load - elapsed)));
      NotePeak();
      if (elapsed >= next_note) {
        report_.rss_mib.push_back(Mebibytes(ResidentBytes(cluster_->server().pid())));
        next_note += note_every;
      }
      if (elapsed >= next_word) {
        Tell(absl::StrFormat("%.0f s: %d jobs accepted, %d ended", absl::ToDoubleSeconds(elapsed),
                             ledger_.accepted(), ledger_.ended()));
        next_word += std::max(options_.load / 20, absl::Seconds(1));
      }
      if (restarts && elapsed >= *options_.restart_after) {
        restarts = false;
        SLIPWAY_RETURN_IF_ERROR_WITH(Restart(), "starting the server again");
      }
    }
    clients_->Stop();
    report_.load = clock_.Monotonic() - begin;
    report_.load_cpu = ended_cpu_ + ServerProcessorTime() - cpu;
    report_.own_cpu = OwnProcessorTime() - own_cpu;
    report_.rss_mib.push_back(Mebibytes(ResidentBytes(cluster_->server().pid())));
    NotePeak();
    SyncCounts counts = agents_->TakeCounts();
    report_.sync_calls = counts.answered;
    report_.sync_failed = counts.failed;
    report_.sync = std::move(counts.at_once);
    std::sort(report_.sync.begin(), report_.sync.end());
    return absl::OkStatus();
  }

  absl::Status Restart() {
    Tell("kills the server");
    ended_cpu_ += ServerProcessorTime();
    const absl::Duration begin = clock_.Monotonic();
    cluster_->server().Kill();
    SLIPWAY_RETURN_IF_ERROR(cluster_->server().Start());
    Tell(absl::StrFormat("the server is back after %.1f s",
                         absl::ToDoubleSeconds(clock_.Monotonic() - begin)));
    SLIPWAY_ASSIGN_OR_RETURN(report_.has_recovered, AwaitAgents());
    report_.recovered = clock_.Monotonic() - begin;
    Tell(
        absl::StrFormat("agents are back after %.1f s", absl::ToDoubleSeconds(*report_.recovered)));
    return absl::OkStatus();
  }

  // Until all requests are answered and all jobs have ended, or nothing happens any more.
  absl::Status AwaitEnds() {
    Tell("waits for what is not done yet");
    absl::Duration moved = clock_.Monotonic();
    int64_t last = -1;
    while (clients_->unanswered() > 0 || ledger_.ended() < ledger_.accepted()) {
      const int64_t now = ledger_.ended() + ledger_.accepted();
      if (std::exchange(last, now) != now) moved = clock_.Monotonic();
      if (clock_.Monotonic() - moved > options_.patience) break;
      SLIPWAY_RETURN_IF_ERROR(Pause(kLook));
    }
    return absl::OkStatus();
  }

  absl::Status Conclude() {
    Tell("asks the server for all jobs");
    SLIPWAY_ASSIGN_OR_RETURN(const int present, CountPresent());
    report_.agents_connected = std::min<int64_t>(report_.agents_connected, present);
    SLIPWAY_RETURN_IF_ERROR_WITH(door_->ListJobs(ledger_), "listing all jobs");
    report_.transport = std::string(FleetTransportName(options_.transport));
    report_.agents = options_.agents;
    report_.wanted_jobs_per_second = options_.jobs_per_second;
    report_.verdict = ledger_.Judge();
    report_.times = ledger_.Times();
    report_.refused = clients_->refused();
    for (const char* name : {"jobs.sqlite", "jobs.sqlite-wal"}) {
      report_.database_mib += Mebibytes(FileBytes(JoinPath(cluster_->data_folder(), name)));
    }
    NotePeak();
    clients_.reset();
    agents_.reset();
    return cluster_->StopAll();
  }

  void NotePeak() {
    report_.peak_rss_mib =
        std::max(report_.peak_rss_mib, Mebibytes(PeakResidentBytes(cluster_->server().pid())));
  }
  absl::Duration ServerProcessorTime() { return ProcessorTime(cluster_->server().pid()); }

  absl::Status Pause(absl::Duration time) const {
    if (!cluster_->server().is_running()) {
      return absl::AbortedError(
          absl::StrCat("the server has ended; its last words: ", cluster_->server().Log()));
    }
    static const absl::Notification never;
    const absl::Notification& stop = options_.stop != nullptr ? *options_.stop : never;
    if (stop.WaitForNotificationWithTimeout(time)) return absl::CancelledError("interrupted");
    return absl::OkStatus();
  }

  void Tell(absl::string_view what) const {
    if (options_.tell) options_.tell(what);
  }

  const FleetLoadOptions options_;
  const SystemClock clock_;
  FleetReport report_;
  FleetLedger ledger_;
  std::unique_ptr<Cluster> cluster_;
  Digest program_;
  // Of processes of the server that have ended.
  absl::Duration ended_cpu_;
  std::unique_ptr<FleetDoor> door_;
  std::unique_ptr<FleetAgents> agents_;
  std::unique_ptr<FleetClients> clients_;
};

}  // namespace

absl::string_view FleetTransportName(FleetTransport transport) {
  switch (transport) {
    case FleetTransport::kTls:
      return "tls";
    case FleetTransport::kPlain:
      return "plain";
    case FleetTransport::kUnix:
      return "unix";
  }
  return "";
}

std::optional<FleetTransport> FleetTransportNamed(absl::string_view name) {
  for (const FleetTransport transport :
       {FleetTransport::kTls, FleetTransport::kPlain, FleetTransport::kUnix}) {
    if (FleetTransportName(transport) == name) return transport;
  }
  return std::nullopt;
}

absl::StatusOr<FleetReport> RunFleetLoad(const FleetLoadOptions& options) {
  return FleetLoad(options).Run();
}

}  // namespace slipway::testing
