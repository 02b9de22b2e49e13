#include "client/cli/connection.h"

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/local/sibling.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"
#include "core/rpc/token.h"
#include "core/target/target.h"

namespace slipway::cli {
namespace {

// Nobody starts a server of one's own again.
constexpr absl::Duration kLocalRetryFor = absl::Seconds(1);

std::string Wish(Environment& environment, const std::string& flag, const std::string& variable) {
  return flag.empty() ? environment.variable(variable) : flag;
}

absl::StatusOr<std::unique_ptr<LocalFleet>> StartLocal(Environment& environment,
                                                       const ConnectionFlags& flags) {
  LocalFleetOptions options;
  options.server.config = flags.server_config;
  SLIPWAY_ASSIGN_OR_RETURN(options.server.binary, FindSibling("slipwayd", "server",
                                                              Wish(environment, flags.server_binary,
                                                                   "SLIPWAY_SERVER_BINARY"),
                                                              environment.executable));
  SLIPWAY_ASSIGN_OR_RETURN(options.cache_folder, UserCacheFolder());
  return LocalFleet::Start(options);
}

// What agents call the devices of a target that are no host; none of what is no target.
std::vector<std::string> AcceleratorsOf(const std::string& text) {
  std::vector<std::string> accelerators;
  const absl::StatusOr<Target> target = ParseTarget(text);
  if (!target.ok()) return accelerators;
  for (size_t i = 1; i < target->devices.size(); ++i) {
    const std::string device = target->devices[i].ToString();  // "cuda-sm80"
    accelerators.push_back(device.substr(0, device.find('-')));
  }
  return accelerators;
}

}  // namespace

void ConnectionFlags::AddTo(FlagSet& flags, bool local_allowed) {
  can_be_local = local_allowed;
  flags.Add("server", &server, "ADDRESS",
            local_allowed
                ? "HOST:PORT or unix:PATH; else $SLIPWAY_SERVER, else a server of its own."
                : "HOST:PORT or unix:PATH; else $SLIPWAY_SERVER.");
  flags.Add("identity", &identity_file, "FILE",
            "Who calls, as `slipway join` wrote it; else the one for this server.");
  flags.Add("authority", &authority_file, "FILE",
            "Certificates of who vouches for the server by its address, and for --identity; else "
            "the server's own authority does.");
  flags.Add("token-file", &token_file, "FILE", "File with a token, where one is asked for.");
  flags.Add("insecure", &insecure, "Call without TLS: for a server or agent of --insecure.");
  if (!local_allowed) return;
  flags.Add("local", &local,
            "Start server and agent for this call, whatever $SLIPWAY_SERVER says.");
  flags.Add("server-binary", &server_binary, "FILE",
            "slipwayd to start; else $SLIPWAY_SERVER_BINARY, else the one beside this program.");
  flags.Add("agent-binary", &agent_binary, "FILE",
            "slipway-agent to start; else $SLIPWAY_AGENT_BINARY, else as above.");
  flags.Add("server-config", &server_config, "FILE",
            "Flags of that server, such as `compile-memory: 16GiB`; its --config reads them.");
  flags.Add("agent-config", &agent_config, "FILE",
            "The same for the agent: `runner-memory: 16GiB`.");
}

absl::StatusOr<ServerPlace> FindServer(Environment& environment, const ConnectionFlags& flags) {
  if (flags.local && !flags.server.empty()) {
    return WrongCall("\"--local\" and \"--server\" exclude each other");
  }
  ServerPlace place;
  place.address =
      flags.server.empty() && !flags.local ? environment.variable("SLIPWAY_SERVER") : flags.server;
  absl::StatusOr<std::string> token = ReadToken(flags.token_file);
  if (!token.ok()) return WrongCall(token.status().message());
  place.proof = {.identity_file = flags.identity_file,
                 .authority_file = flags.authority_file,
                 .token = *std::move(token),
                 .insecure = flags.insecure};
  if (!place.address.empty()) return place;
  if (!flags.can_be_local) {
    return WrongCall("jobs are kept by a server; name it with \"--server\" or $SLIPWAY_SERVER");
  }
  absl::StatusOr<std::unique_ptr<LocalFleet>> fleet = StartLocal(environment, flags);
  if (!fleet.ok()) return WithExitCode(fleet.status(), ExitCode::kUnreachable);
  place.fleet = *std::move(fleet);
  place.address = place.fleet->address();
  return place;
}

absl::Status EnsureDevice(Environment& environment, const ConnectionFlags& flags,
                          const ServerPlace& place, const std::string& target) {
  if (place.fleet == nullptr) return absl::OkStatus();
  const absl::StatusOr<std::string> binary = FindSibling(
      "slipway-agent", "device_agent",
      Wish(environment, flags.agent_binary, "SLIPWAY_AGENT_BINARY"), environment.executable);
  const absl::Status status =
      binary.ok() ? place.fleet->StartAgent({*binary, flags.agent_config}, AcceleratorsOf(target))
                  : binary.status();
  return status.ok() ? status : WithExitCode(status, ExitCode::kUnreachable);
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(Environment& environment,
                                                             const ConnectionFlags& flags) {
  std::unique_ptr<Connection> connection(new Connection(environment, flags));
  SLIPWAY_ASSIGN_OR_RETURN(connection->place_, FindServer(environment, flags));
  ClientOptions options;
  options.server = connection->place_.address;
  options.proof = connection->place_.proof;
  options.on_waiting = [&environment](const absl::Status& why) {
    environment.err << "waiting: " << Printable(why.message()) << std::endl;
  };
  if (connection->is_local()) options.retry_for = kLocalRetryFor;
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Connect(options);
  if (absl::IsInvalidArgument(client.status())) return WrongCall(client.status().message());
  SLIPWAY_RETURN_IF_ERROR(client.status());
  connection->client_ = *std::move(client);
  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler(
        [client = connection->client_.get()] { client->Interrupt(); });
  }
  return connection;
}

Connection::~Connection() {
  if (environment_.interrupts != nullptr) environment_.interrupts->SetHandler(nullptr);
}

}  // namespace slipway::cli
