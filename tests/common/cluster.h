// Cluster: a server, its worker and agents as the real processes, on this machine, for one test.
//
//   ASSERT_OK_AND_ASSIGN(std::unique_ptr<Cluster> cluster, Cluster::Start({.agents = 2}));
//   ASSERT_OK_AND_ASSIGN(std::unique_ptr<Client> client, cluster->Connect());
//   cluster->server().Kill();
//   ASSERT_OK(cluster->server().Start());
//
// Nothing sleeps: a process is there when it has said so. Everything lies in one folder, which goes
// with the cluster; the logs of a failed test are printed.
#ifndef SLIPWAY_TESTS_COMMON_CLUSTER_H_
#define SLIPWAY_TESTS_COMMON_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "core/base/files.h"
#include "core/identity/role.h"
#include "tests/common/command.h"
#include "tests/common/process_list.h"
#include "tests/common/service_process.h"

namespace slipway::testing {

// Paths of the programs.
std::string ServerBinary();
std::string WorkerBinary();
std::string AgentBinary();
std::string CommandBinary();

// Not thread-safe.
class Cluster {
 public:
  struct Options {
    int agents = 1;  // Their ids, and those of their devices, are "agent0", "agent1", ...
    std::vector<std::string> server_flags;
    std::vector<std::string> agent_flags;
    // Listen on a port of the loopback instead of a unix socket: over TLS, unless `insecure`. The environment of the test and of its
    // processes is that of the server's user, who is known to it.
    bool tcp = false;
    bool insecure = false;
    std::string agent_binary = {};  // AgentBinary() where it is empty.
  };
  static absl::StatusOr<std::unique_ptr<Cluster>> Start(Options options);
  // Made, but nothing started.
  static absl::StatusOr<std::unique_ptr<Cluster>> Create(Options options);
  // Ends everything; prints the logs when the test has failed.
  ~Cluster();

  ServiceProcess& server() { return *server_; }
  ServiceProcess& agent(int index) { return *agents_[static_cast<size_t>(index)]; }
  int agents() const { return static_cast<int>(agents_.size()); }

  // "unix:PATH" or "127.0.0.1:PORT"; stays the same when the server starts again.
  const std::string& address() const { return address_; }
  std::string Path(absl::string_view name) const { return JoinPath(folder_.path(), name); }
  std::string data_folder() const { return Path("server"); }

  // The identity file of the server's user. REQUIRES: tcp, without `insecure`.
  std::string Identity(Role role) const;

  absl::StatusOr<std::unique_ptr<Client>> Connect();
  // Runs the command `slipway` with these arguments, and this cluster as its server.
  CommandResult Slipway(std::vector<std::string> arguments,
                        absl::Duration timeout = absl::Seconds(60));

  // Processes of this cluster that are alive, however they came to be.
  std::vector<RunningProcess> Processes() const { return ListProcesses(mark_); }
  // Those that are left when all should have ended.
  std::vector<RunningProcess> AwaitNoProcess() const;
  // SIGTERM to agents, then server; the error names who did not end well, what is left of the
  // processes after that, and locks that are still held.
  absl::Status StopAll();

  const std::vector<std::pair<std::string, std::string>>& environment() const {
    return environment_;
  }

 private:
  explicit Cluster(Options options) : options_(std::move(options)) {}
  absl::Status Prepare();
  // The command lines of all processes follow from it.
  void SetAddress(const std::string& address);

  const Options options_;
  TemporaryFolder folder_;
  std::string mark_;  // In the environment of every process of this cluster.
  std::vector<std::pair<std::string, std::string>> environment_;
  std::string address_;
  std::unique_ptr<ServiceProcess> server_;
  std::vector<std::unique_ptr<ServiceProcess>> agents_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_CLUSTER_H_
