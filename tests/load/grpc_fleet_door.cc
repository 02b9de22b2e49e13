#include "tests/load/grpc_fleet_door.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <chrono>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/identity/role.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_status.h"
#include "core/rpc/join.h"
#include "proto/slipway/v1/fleet.grpc.pb.h"
#include "proto/slipway/v1/identity.grpc.pb.h"
#include "proto/slipway/v1/job.grpc.pb.h"

namespace slipway::testing {
namespace {

constexpr char kRequestPrefix[] = "load-";
constexpr int kPageSize = 1'000;
constexpr std::chrono::seconds kListDeadline(30);
constexpr std::chrono::seconds kCountDeadline(1);

void SetDeadline(grpc::ClientContext& context, std::chrono::seconds deadline) {
  context.set_deadline(std::chrono::system_clock::now() + deadline);
}

// Lets somebody join, and joins as him.
absl::StatusOr<CallerProof> Join(const FleetDoor::Options& options,
                                 v1::IdentityService::Stub& identities, const std::string& name,
                                 v1::Role invited, Role role) {
  v1::InviteRequest request;
  request.set_name(name);
  request.add_roles(invited);
  v1::InviteResponse response;
  grpc::ClientContext context;
  SetDeadline(context, kListDeadline);
  SLIPWAY_RETURN_IF_ERROR(FromGrpc(identities.Invite(&context, request, &response)));
  const std::string path = JoinPath(options.folder, absl::StrCat(name, ".pem"));
  SLIPWAY_RETURN_IF_ERROR(JoinServer(options.address, response.code(), role, path).status());
  return CallerProof{.identity_file = path};
}

}  // namespace

absl::StatusOr<std::unique_ptr<FleetDoor>> FleetDoor::Open(Options options) {
  std::unique_ptr<FleetDoor> door(new FleetDoor(std::move(options)));
  const Options& given = door->options_;
  const Member admin = MemberOf({.identity_file = given.admin_identity});
  door->admin_ = door->NewChannel(admin.proof, admin.credentials, kPings);
  const bool is_over_tls = !given.admin_identity.empty();
  const auto identities = v1::IdentityService::NewStub(door->admin_);
  const int hosts = (given.agents + kAgentsOfHost - 1) / kAgentsOfHost;
  for (int i = 0; i < hosts; ++i) {
    CallerProof proof;
    if (is_over_tls) {
      SLIPWAY_ASSIGN_OR_RETURN(
          proof, Join(given, *identities, absl::StrCat("host-", i), v1::ROLE_AGENT, Role::kAgent));
    }
    door->hosts_.push_back(MemberOf(std::move(proof)));
  }
  for (int i = 0; i < given.clients; ++i) {
    CallerProof proof;
    if (is_over_tls) {
      SLIPWAY_ASSIGN_OR_RETURN(
          proof, Join(given, *identities, absl::StrCat("user-", i), v1::ROLE_USER, Role::kUser));
    }
    door->users_.push_back(MemberOf(std::move(proof)));
  }
  return door;
}

FleetDoor::Member FleetDoor::MemberOf(CallerProof proof) {
  Member member{.proof = std::move(proof), .credentials = nullptr};
  member.credentials = CallerCredentials(member.proof, ServerNames());
  return member;
}

std::shared_ptr<grpc::Channel> FleetDoor::NewChannel(
    const CallerProof& proof, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    const Pings& pings) const {
  grpc::ChannelArguments arguments = ClientChannelArguments(pings);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  ApplyNames(proof, ServerNames(), arguments);
  return grpc::CreateCustomChannel(options_.address, credentials, arguments);
}

std::string FleetDoor::AgentId(int agent) const {
  return absl::StrCat("host-", agent / kAgentsOfHost, ".board-", agent % kAgentsOfHost);
}

std::shared_ptr<grpc::Channel> FleetDoor::AgentChannel(int agent, const Pings& pings) const {
  const Member& host = hosts_.at(static_cast<size_t>(agent / kAgentsOfHost));
  return NewChannel(host.proof, host.credentials, pings);
}

std::shared_ptr<grpc::Channel> FleetDoor::ClientChannel(int client) const {
  const Member& user = users_.at(static_cast<size_t>(client));
  return NewChannel(user.proof, user.credentials, kPings);
}

absl::StatusOr<int> FleetDoor::CountPresent() const {
  v1::ListDevicesResponse response;
  grpc::ClientContext context;
  SetDeadline(context, kCountDeadline);
  SLIPWAY_RETURN_IF_ERROR(
      FromGrpc(v1::FleetService::NewStub(admin_)->ListDevices(&context, {}, &response)));
  int present = 0;
  for (const v1::Device& device : response.devices()) {
    if (device.state() != v1::Device::LOST) ++present;
  }
  return present;
}

absl::Status FleetDoor::ListJobs(FleetLedger& ledger) const {
  const auto jobs = v1::JobService::NewStub(admin_);
  v1::ListJobsRequest request;
  request.set_page_size(kPageSize);
  request.set_of_everybody(true);
  do {
    v1::ListJobsResponse page;
    grpc::ClientContext context;
    SetDeadline(context, kListDeadline);
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(jobs->ListJobs(&context, request, &page)));
    for (const v1::Job& job : page.jobs()) {
      const int64_t number = RequestOf(job.request_id());
      if (number >= 0) ledger.Listed(number, job.id(), job.state(), job.revision());
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

std::string FleetDoor::RequestId(int64_t request) { return absl::StrCat(kRequestPrefix, request); }

int64_t FleetDoor::RequestOf(const std::string& request_id) {
  absl::string_view number = request_id;
  int64_t request = -1;
  if (!absl::ConsumePrefix(&number, kRequestPrefix) || !absl::SimpleAtoi(number, &request)) {
    return -1;
  }
  return request;
}

}  // namespace slipway::testing
