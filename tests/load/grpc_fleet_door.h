// FleetDoor: as whom, and by which connections, simulated agents and clients come to a server; and how the simulation asks it what
// it knows of them.
#ifndef SLIPWAY_TESTS_LOAD_GRPC_FLEET_DOOR_H_
#define SLIPWAY_TESTS_LOAD_GRPC_FLEET_DOOR_H_

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/rpc/caller_proof.h"
#include "core/rpc/grpc_settings.h"
#include "tests/load/fleet_ledger.h"

namespace slipway::testing {

// Thread-safe.
class FleetDoor {
 public:
  struct Options {
    std::string address;
    int agents = 0;
    int clients = 0;
    // Over TLS: the identity of an administrator, by which the others are invited, and where theirs are kept. Agents join as hosts
    // of up to kAgentsOfHost boards each, clients as users. Empty: nobody proves anything.
    std::string admin_identity;
    std::string folder;
  };
  static constexpr int kAgentsOfHost = 100;

  static absl::StatusOr<std::unique_ptr<FleetDoor>> Open(Options options);

  // Those of agents and their devices.
  std::string AgentId(int agent) const;
  // Each is a connection of its own, which is made when it is first used.
  std::shared_ptr<grpc::Channel> AgentChannel(int agent, const Pings& pings) const;
  std::shared_ptr<grpc::Channel> ClientChannel(int client) const;

  // How many devices the server says are there. Within a second or not at all.
  absl::StatusOr<int> CountPresent() const;
  // Tells the ledger of all jobs that the server has.
  absl::Status ListJobs(FleetLedger& ledger) const;

  // The id of a request, and its inverse; -1 for others.
  static std::string RequestId(int64_t request);
  static int64_t RequestOf(const std::string& request_id);

 private:
  explicit FleetDoor(Options options) : options_(std::move(options)) {}

  std::shared_ptr<grpc::Channel> NewChannel(
      const CallerProof& proof, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
      const Pings& pings) const;

  struct Member {
    CallerProof proof;
    std::shared_ptr<grpc::ChannelCredentials> credentials;
  };
  static Member MemberOf(CallerProof proof);

  const Options options_;
  std::vector<Member> hosts_;
  std::vector<Member> users_;
  std::shared_ptr<grpc::Channel> admin_;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_GRPC_FLEET_DOOR_H_
