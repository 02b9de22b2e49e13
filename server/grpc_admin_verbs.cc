#include "server/grpc_admin_verbs.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/flags.h"
#include "core/base/json_writer.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"
#include "core/identity/join_code.h"
#include "core/identity/role.h"
#include "core/rpc/caller_proof.h"
#include "core/rpc/grpc_calls.h"
#include "core/rpc/listen_address.h"
#include "core/rpc/token.h"
#include "proto/slipway/v1/identity.grpc.pb.h"
#include "proto/slipway/v1/server.grpc.pb.h"
#include "server/identities/roles.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

constexpr absl::string_view kDefaultLevel = "default";
constexpr int64_t kMaxDays = 100'000;

// How a verb reaches the server, and what all of them may be told.
struct AdminFlags {
  std::string server = "127.0.0.1:7411";
  std::string identity;
  std::string authority;
  std::string token_file;
  bool insecure = false;
  bool json = false;

  void AddTo(FlagSet& flags) {
    flags.Add("server", &server, "ADDRESS", "The server: HOST:PORT or unix:PATH.");
    flags.Add("identity", &identity, "FILE",
              "What proves that you are an administrator; default: what this user joined with.");
    flags.Add("authority", &authority, "FILE",
              "Who vouches for the server by its address, and for --identity: certificates, where "
              "the server was given one by --certificate.");
    flags.Add("token-file", &token_file, "FILE", "The token of an administrator, in its place.");
    flags.Add("insecure", &insecure, "Call a server that was started with --insecure.");
    flags.Add("json", &json, "Print JSON.");
  }
};

// A connection to the server.
class Administration {
 public:
  static absl::StatusOr<std::unique_ptr<Administration>> Open(const AdminFlags& flags) {
    SLIPWAY_ASSIGN_OR_RETURN(std::string token, ReadToken(flags.token_file));
    SLIPWAY_ASSIGN_OR_RETURN(CallerProof proof, FindProof(flags.server, Role::kAdmin,
                                                          {.identity_file = flags.identity,
                                                           .authority_file = flags.authority,
                                                           .token = std::move(token),
                                                           .insecure = flags.insecure}));
    return std::unique_ptr<Administration>(new Administration(flags.server, std::move(proof)));
  }

  // Once: nobody waits for a server that is away, and no invitation is made twice.
  template <typename Stub, typename Request, typename Response>
  absl::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response* response) {
    Stub& stub = *std::get<std::unique_ptr<Stub>>(stubs_);
    return calls_.Once(kCallDeadline, {}, [&](grpc::ClientContext& context) {
      return (stub.*method)(&context, request, response);
    });
  }

 private:
  Administration(const std::string& server, CallerProof proof)
      : calls_(server, std::move(proof)),
        stubs_(v1::IdentityService::NewStub(calls_.channel()),
               v1::ServerService::NewStub(calls_.channel())) {}

  Calls calls_;
  const std::tuple<std::unique_ptr<v1::IdentityService::Stub>,
                   std::unique_ptr<v1::ServerService::Stub>>
      stubs_;
};

// The arguments that are not flags; none when the help was asked for, and written.
absl::StatusOr<absl::optional<std::vector<std::string>>> ParseArguments(
    FlagSet& flags, absl::Span<const std::string> arguments, size_t wanted, AdminOutput output) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<std::string> rest, flags.Parse(arguments));
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    output.out << text;
    return absl::optional<std::vector<std::string>>();
  }
  if (rest.size() != wanted) {
    const std::string help = flags.Help();
    return absl::InvalidArgumentError(absl::StrCat(rest.size(), " arguments, ", wanted,
                                                   " wanted: ", help.substr(0, help.find('\n'))));
  }
  return absl::optional<std::vector<std::string>>(std::move(rest));
}

// "36h" as flags have it, or "90d".
absl::StatusOr<absl::Duration> ParseLifetime(absl::string_view text) {
  absl::Duration lifetime;
  if (absl::string_view number = text; absl::ConsumeSuffix(&number, "d")) {
    int64_t days = 0;
    if (absl::SimpleAtoi(number, &days) && days > 0 && days <= kMaxDays) {
      return absl::Hours(24) * days;
    }
  } else if (absl::ParseDuration(text, &lifetime) && lifetime > absl::ZeroDuration() &&
             lifetime < absl::InfiniteDuration()) {
    return lifetime;
  }
  return absl::InvalidArgumentError(absl::StrCat("--for is '", absl::Utf8SafeCEscape(text),
                                                 "': a time such as 30m, 24h or 90d wanted"));
}

template <typename Request>
absl::Status FillIn(absl::string_view roles, const std::string& name, absl::string_view lifetime,
                    Request* request) {
  const absl::StatusOr<RoleSet> parsed = RoleSet::Parse(roles);
  if (!parsed.ok() || parsed->Has(Role::kServer)) {
    return absl::InvalidArgumentError(
        absl::StrCat("ROLE is '", absl::Utf8SafeCEscape(roles),
                     "': user, agent, worker or admin wanted, or several joined by +"));
  }
  for (const v1::Role role : ToProto(*parsed)) request->add_roles(role);
  request->set_name(name);
  SLIPWAY_ASSIGN_OR_RETURN(const absl::Duration parsed_lifetime, ParseLifetime(lifetime));
  request->set_lifetime_ns(absl::ToInt64Nanoseconds(parsed_lifetime));
  return absl::OkStatus();
}

absl::Time TimeOf(int64_t ns) {
  return ns == 0 ? absl::InfinitePast() : absl::FromUnixNanos(ns);  // Shown as "-".
}

absl::string_view StateOf(const v1::IdentityRecord& record) {
  if (record.revoked_ns() != 0) return "revoked";
  if (record.expires_ns() != 0 && absl::FromUnixNanos(record.expires_ns()) <= absl::Now()) {
    return "expired";
  }
  switch (record.kind()) {
    case v1::IdentityRecord::INVITED:
      return "invited";
    case v1::IdentityRecord::TOKEN:
      return "token";
    default:
      return record.is_own() ? "own" : record.is_given() ? "given" : "joined";
  }
}

void WriteFields(JsonWriter& json, const v1::IdentityRecord& record) {
  const auto time = [&json](absl::string_view name, int64_t ns) {
    ns == 0 ? json.Null(name) : json.Integer(name, ns);
  };
  json.Text("id", record.id());
  json.Text("name", record.name());
  json.Text("roles", RolesOf(record).ToString("+"));
  json.Text("state", StateOf(record));
  json.Integer("created_ns", record.created_ns());
  time("expires_ns", record.expires_ns());
  time("joined_ns", record.joined_ns());
  time("revoked_ns", record.revoked_ns());
}

void WriteRecords(const std::vector<v1::IdentityRecord>& records, bool as_json,
                  AdminOutput output) {
  if (as_json) {
    JsonWriter json;
    json.BeginObject();
    json.Integer("schema_version", 1);
    json.BeginArray("identities");
    for (const v1::IdentityRecord& record : records) {
      json.BeginObject();
      WriteFields(json, record);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    output.out << json.Take();
    return;
  }
  if (records.empty()) {
    output.out << "no identities\n";
    return;
  }
  TextTable table({"NAME", "ROLES", "STATE", "SINCE", "UNTIL", "ID"});
  for (const v1::IdentityRecord& record : records) {
    const bool has_joined = record.joined_ns() != 0;
    const bool was_revoked = record.revoked_ns() != 0;
    table.Row({record.name(), RolesOf(record).ToString("+"), std::string(StateOf(record)),
               FormatWallTime(TimeOf(has_joined ? record.joined_ns() : record.created_ns())),
               FormatWallTime(TimeOf(was_revoked ? record.revoked_ns() : record.expires_ns())),
               record.id()});
  }
  output.out << table.Render();
}

// A secret stands alone, so that a script can take it; or in an object with what is known of it.
void WriteSecret(absl::string_view what, absl::string_view secret, const v1::IdentityRecord& record,
                 bool as_json, AdminOutput output) {
  if (!as_json) {
    output.out << secret << "\n";
    return;
  }
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text(what, secret);
  WriteFields(json, record);
  json.EndObject();
  output.out << json.Take();
}

// How whoever joins calls the server, as far as that can be told from here.
std::string AddressElsewhere(const std::string& server) {
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(server);
  if (!address.ok() || address->host.empty()) return "HOST:PORT";
  return address->is_loopback ? absl::StrCat("HOST:", address->port) : server;
}

void SayHowToJoin(const v1::InviteResponse& invitation, const std::string& server,
                  std::ostream& err) {
  const std::string address = AddressElsewhere(server);
  err << "until " << FormatWallTime(absl::FromUnixNanos(invitation.record().expires_ns()))
      << ", once, where '" << invitation.record().name() << "' is to work:\n";
  for (const Role role : {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin}) {
    if (!RolesOf(invitation.record()).Has(role)) continue;
    err << "  " << JoinCommand(role) << " " << address << " " << invitation.code() << "\n";
  }
  if (address != server) err << "HOST is this machine, by a name or address that reaches it\n";
}

}  // namespace

absl::Status InviteVerb(absl::Span<const std::string> arguments, AdminOutput output) {
  AdminFlags admin;
  std::string lifetime = absl::FormatDuration(kDefaultInvitationLifetime);
  FlagSet flags(
      "slipwayd invite ROLE NAME [flags]",
      "Makes a code with which NAME may join the server, once. ROLE is user, agent, worker "
      "or admin, or several joined by +. Prints the code.");
  flags.Add("for", &lifetime, "TIME", "How long the code may be used: 1m to 30d.");
  admin.AddTo(flags);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(flags, arguments, 2, output));
  if (!names.has_value()) return absl::OkStatus();
  v1::InviteRequest request;
  v1::InviteResponse response;
  SLIPWAY_RETURN_IF_ERROR(FillIn((*names)[0], (*names)[1], lifetime, &request));
  SLIPWAY_ASSIGN_OR_RETURN(const auto server, Administration::Open(admin));
  SLIPWAY_RETURN_IF_ERROR(server->Call(&v1::IdentityService::Stub::Invite, request, &response));
  WriteSecret("code", response.code(), response.record(), admin.json, output);
  if (!admin.json) SayHowToJoin(response, admin.server, output.err);
  return absl::OkStatus();
}

absl::Status TokenVerb(absl::Span<const std::string> arguments, AdminOutput output) {
  AdminFlags admin;
  std::string lifetime = absl::StrCat(kDefaultTokenLifetime / absl::Hours(24), "d");
  FlagSet flags(
      "slipwayd token ROLE NAME [flags]",
      "Makes a token with which NAME may call the server, for programs and pages that cannot "
      "join. ROLE is user, admin, user+admin or agent. Prints the token.");
  flags.Add("for", &lifetime, "TIME", "How long the token may be used: 1m to 3650d.");
  admin.AddTo(flags);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(flags, arguments, 2, output));
  if (!names.has_value()) return absl::OkStatus();
  v1::CreateTokenRequest request;
  v1::CreateTokenResponse response;
  SLIPWAY_RETURN_IF_ERROR(FillIn((*names)[0], (*names)[1], lifetime, &request));
  SLIPWAY_ASSIGN_OR_RETURN(const auto server, Administration::Open(admin));
  SLIPWAY_RETURN_IF_ERROR(
      server->Call(&v1::IdentityService::Stub::CreateToken, request, &response));
  WriteSecret("token", response.token(), response.record(), admin.json, output);
  if (!admin.json) {
    output.err << "until " << FormatWallTime(absl::FromUnixNanos(response.record().expires_ns()))
               << ", by whoever has it: keep it in a file of mode 0600, for --token-file\n";
  }
  return absl::OkStatus();
}

absl::Status IdentitiesVerb(absl::Span<const std::string> arguments, AdminOutput output) {
  AdminFlags admin;
  FlagSet flags("slipwayd identities [flags]",
                "Lists who was invited, has joined or has a token, and who was revoked.");
  admin.AddTo(flags);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(flags, arguments, 0, output));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto server, Administration::Open(admin));
  std::vector<v1::IdentityRecord> records;
  v1::ListIdentitiesRequest request;
  request.set_page_size(kMaxPageSize);
  do {
    v1::ListIdentitiesResponse response;
    SLIPWAY_RETURN_IF_ERROR(
        server->Call(&v1::IdentityService::Stub::ListIdentities, request, &response));
    for (v1::IdentityRecord& record : *response.mutable_records()) {
      records.push_back(std::move(record));
    }
    if (response.next_page_token() <= request.page_token()) break;
    request.set_page_token(response.next_page_token());
  } while (true);
  std::sort(records.begin(), records.end(),
            [](const v1::IdentityRecord& a, const v1::IdentityRecord& b) {
              return std::forward_as_tuple(a.name(), a.created_ns(), a.id()) <
                     std::forward_as_tuple(b.name(), b.created_ns(), b.id());
            });
  WriteRecords(records, admin.json, output);
  return absl::OkStatus();
}

absl::Status LogLevelVerb(absl::Span<const std::string> arguments, AdminOutput output) {
  AdminFlags admin;
  bool fleet = false;
  FlagSet flags("slipwayd loglevel LEVEL [flags]",
                "Sets what the log of a running server shows from now on: debug, info, warning or "
                "error, or default, which is what it was started with. Prints what it showed "
                "before. Lasts until the server ends.");
  flags.Add("fleet", &fleet, "Of its agents and workers, too, until the server ends.");
  admin.AddTo(flags);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(flags, arguments, 1, output));
  if (!names.has_value()) return absl::OkStatus();
  const std::string& level = names->front();
  v1::SetLogLevelRequest request;
  request.set_with_peers(fleet);
  if (level != kDefaultLevel) {
    SLIPWAY_RETURN_IF_ERROR_WITH(ParseLogLevel(level).status(), "LEVEL");
    request.set_level(level);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const auto server, Administration::Open(admin));
  v1::SetLogLevelResponse response;
  SLIPWAY_RETURN_IF_ERROR(server->Call(&v1::ServerService::Stub::SetLogLevel, request, &response));
  if (!admin.json) {
    output.out << response.before() << "\n";
    return absl::OkStatus();
  }
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("before", response.before());
  json.EndObject();
  output.out << json.Take();
  return absl::OkStatus();
}

absl::Status RevokeVerb(absl::Span<const std::string> arguments, AdminOutput output) {
  AdminFlags admin;
  FlagSet flags("slipwayd revoke NAME|ID [flags]",
                "Shuts out all who are called NAME, or the one with this ID, at once and for good. "
                "Prints who that is.");
  admin.AddTo(flags);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(flags, arguments, 1, output));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto server, Administration::Open(admin));
  v1::RevokeRequest request;
  request.set_id_or_name(names->front());
  v1::RevokeResponse response;
  SLIPWAY_RETURN_IF_ERROR(server->Call(&v1::IdentityService::Stub::Revoke, request, &response));
  WriteRecords({response.records().begin(), response.records().end()}, admin.json, output);
  return absl::OkStatus();
}

}  // namespace slipway::server
