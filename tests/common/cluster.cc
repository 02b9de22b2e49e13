#include "tests/common/cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_file.h"
#include "gtest/gtest.h"

namespace slipway::testing {
namespace {

constexpr absl::Duration kEndWithin = absl::Seconds(20);
constexpr char kMarkName[] = "SLIPWAY_TEST_CLUSTER";

// Files below `folder` that somebody holds a lock on.
std::vector<std::string> LockedFiles(const std::string& folder) {
  std::set<uint64_t> inodes;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // "1: FLOCK  ADVISORY  WRITE 10339 fe:00:10960988 0 EOF"
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() < 6) continue;
    const std::vector<std::string> parts = absl::StrSplit(words[5], ':');
    uint64_t inode = 0;
    if (parts.size() == 3 && absl::SimpleAtoi(parts[2], &inode)) inodes.insert(inode);
  }
  std::vector<std::string> locked;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    struct stat info;
    if (lstat(entry.path().c_str(), &info) == 0 && inodes.count(info.st_ino) != 0) {
      locked.push_back(entry.path().string());
    }
  }
  return locked;
}

}  // namespace

std::string ServerBinary() { return RunfilePath("server/slipwayd"); }
std::string WorkerBinary() { return RunfilePath("server/compile_worker/slipway-compile-worker"); }
std::string AgentBinary() { return RunfilePath("device_agent/slipway-agent"); }
std::string CommandBinary() { return RunfilePath("client/slipway"); }

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Create(Options options) {
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(options)));
  SLIPWAY_RETURN_IF_ERROR(cluster->Prepare());
  return cluster;
}

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Start(Options options) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<Cluster> cluster, Create(std::move(options)));
  SLIPWAY_RETURN_IF_ERROR(cluster->server().Start());
  if (cluster->options_.tcp) cluster->SetAddress(cluster->server().ready_line());
  for (int i = 0; i < cluster->agents(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(cluster->agent(i).Start());
  }
  return cluster;
}

absl::Status Cluster::Prepare() {
  // Not below TEST_TMPDIR: a socket's path has at most 107 bytes.
  setenv("TMPDIR", "/tmp", 1);
  SLIPWAY_ASSIGN_OR_RETURN(folder_, TemporaryFolder::Create("slipway-test"));
  // The test calls the server itself, as the user who has started it.
  setenv("XDG_CONFIG_HOME", Path("home/config").c_str(), 1);
  for (const char* name : {"server", "cache", "tmp", "home"}) {
    SLIPWAY_RETURN_IF_ERROR(MakeFolders(Path(name)));
  }
  mark_ = absl::StrCat(kMarkName, "=", folder_.path());
  environment_ = {{kMarkName, folder_.path()},
                  {"HOME", Path("home")},
                  {"XDG_CACHE_HOME", Path("cache")},
                  {"XDG_STATE_HOME", Path("home/state")},
                  {"XDG_CONFIG_HOME", Path("home/config")},
                  {"TMPDIR", Path("tmp")},
                  {"SLIPWAY_LOCK_DIR", Path("locks")}};
  server_ = std::make_unique<ServiceProcess>(ServiceProcess::Options{
      .name = "slipwayd", .argv = {}, .environment = environment_, .log_file = Path("server.log")});
  for (int i = 0; i < options_.agents; ++i) {
    const std::string id = absl::StrCat("agent", i);
    agents_.push_back(std::make_unique<ServiceProcess>(
        ServiceProcess::Options{.name = id,
                                .argv = {},
                                .environment = environment_,
                                .log_file = Path(absl::StrCat(id, ".log"))}));
  }
  SetAddress(options_.tcp ? "127.0.0.1:0" : absl::StrCat("unix:", Path("socket")));
  return absl::OkStatus();
}

void Cluster::SetAddress(const std::string& address) {
  address_ = address;
  const auto set = [this](ServiceProcess& process, std::vector<std::string> argv,
                          const std::vector<std::string>& flags) {
    if (options_.insecure) argv.push_back("--insecure");
    argv.insert(argv.end(), flags.begin(), flags.end());
    process.options().argv = std::move(argv);
  };
  set(*server_,
      {ServerBinary(), "--listen", address_, "--data-dir", data_folder(), "--cache-dir",
       Path("kernels")},
      options_.server_flags);
  for (auto& agent : agents_) {
    const std::string& id = agent->options().name;
    set(*agent,
        {options_.agent_binary.empty() ? AgentBinary() : options_.agent_binary, "--server",
         address_, "--state-dir", Path(id), "--cache-dir", Path(absl::StrCat(id, "-cache")), "--id",
         id, "--no-measure"},
        options_.agent_flags);
  }
}

Cluster::~Cluster() {
  if (server_ == nullptr) return;
  for (auto& agent : agents_) agent->Kill();
  server_->Kill();
  for (const RunningProcess& left : AwaitNoProcess()) {
    fprintf(stderr, "still there: %s\n", left.ToString().c_str());
    kill(left.pid, SIGKILL);
  }
  if (!::testing::Test::HasFailure()) return;
  fprintf(stderr, "--- log of slipwayd\n%s", server_->Log().c_str());
  for (auto& agent : agents_) {
    fprintf(stderr, "--- log of %s\n%s", agent->options().name.c_str(), agent->Log().c_str());
  }
}

absl::StatusOr<std::unique_ptr<Client>> Cluster::Connect() {
  return Client::Connect({.server = address_, .proof = {.insecure = options_.insecure}});
}

std::string Cluster::Identity(Role role) const {
  const absl::StatusOr<std::string> path = IdentityPath(address_, role);
  SLIPWAY_CHECK(path.ok(), "the server has an address");
  return *path;
}

CommandResult Cluster::Slipway(std::vector<std::string> arguments, absl::Duration timeout) {
  CommandOptions options;
  options.argv = {CommandBinary()};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.environment = environment_;
  options.environment.emplace_back("SLIPWAY_SERVER", address_);
  options.timeout = timeout;
  return RunCommand(options);
}

std::vector<RunningProcess> Cluster::AwaitNoProcess() const {
  return testing::AwaitNoProcess(mark_, kEndWithin);
}

absl::Status Cluster::StopAll() {
  std::vector<std::string> problems;
  const auto stop = [&](ServiceProcess& process) {
    if (!process.is_running()) return;
    const absl::StatusOr<ExitStatus> status = process.Stop(kEndWithin);
    const std::string& name = process.options().name;
    if (!status.ok()) {
      problems.push_back(absl::StrCat(name, " does not end: ", status.status().message()));
    } else if (!status->ok()) {
      problems.push_back(absl::StrCat(name, " ended with ", status->ToString()));
    }
  };
  for (auto& agent : agents_) stop(*agent);
  stop(*server_);
  for (const RunningProcess& left : AwaitNoProcess()) {
    problems.push_back(absl::StrCat(left.ToString(), " is left"));
  }
  for (const std::string& path : LockedFiles(folder_.path())) {
    problems.push_back(absl::StrCat(path, " is still locked"));
  }
  if (problems.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrJoin(problems, "; "));
}

}  // namespace slipway::testing
