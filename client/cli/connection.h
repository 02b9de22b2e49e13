// Connection: the server a verb works with, which may be one that it starts for itself.
#ifndef SLIPWAY_CLIENT_CLI_CONNECTION_H_
#define SLIPWAY_CLIENT_CLI_CONNECTION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/environment.h"
#include "client/client.h"
#include "client/local/local_fleet.h"
#include "core/base/flags.h"

namespace slipway::cli {

// Flags that every verb with a server has.
struct ConnectionFlags {
  std::string server;
  std::string identity_file;
  std::string authority_file;
  std::string token_file;
  bool insecure = false;
  bool local = false;
  std::string server_binary;
  std::string agent_binary;
  std::string server_config;
  std::string agent_config;

  // `can_be_local`: whether the verb makes sense with a server that begins and ends with it.
  void AddTo(FlagSet& flags, bool can_be_local);
  bool can_be_local = false;
};

// Where a server, or an agent that listens, is; not connected yet.
struct ServerPlace {
  std::string address;
  ProofOptions proof;
  std::unique_ptr<LocalFleet> fleet;  // The one that this command started for itself, if it did.
};

// The server of --server, else of SLIPWAY_SERVER, else (and with --local) one of its own.
absl::StatusOr<ServerPlace> FindServer(Environment& environment, const ConnectionFlags& flags);

// Once this is OK there is a device, as far as it is in this command's hands: with the accelerators of `target`, which may be
// empty, if this call starts it.
absl::Status EnsureDevice(Environment& environment, const ConnectionFlags& flags,
                          const ServerPlace& place, const std::string& target = "");

class Connection {
 public:
  // To the server of FindServer.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(Environment& environment,
                                                          const ConnectionFlags& flags);
  ~Connection();

  Client& client() { return *client_; }
  const ServerPlace& place() const { return place_; }
  bool is_local() const { return place_.fleet != nullptr; }
  absl::Status EnsureDevice(const std::string& target = "") {
    return cli::EnsureDevice(environment_, flags_, place_, target);
  }

 private:
  Connection(Environment& environment, const ConnectionFlags& flags)
      : environment_(environment), flags_(flags) {}

  Environment& environment_;
  const ConnectionFlags flags_;
  ServerPlace place_;
  std::unique_ptr<Client> client_;
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_CONNECTION_H_
