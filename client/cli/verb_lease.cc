// slipway lease: who holds which device; holding one, and letting it go.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/exit_code.h"
#include "client/cli/job_of.h"
#include "client/cli/open_session.h"
#include "client/cli/render.h"
#include "client/cli/verbs.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

// Long enough to be taken up by hand.
constexpr absl::Duration kTakenFor = absl::Minutes(10);

absl::Status ListLeases(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway lease list [flags]", "Lists the devices, and who holds them.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Device> devices, connection->client().ListDevices());
  environment.out << (json ? RenderDevicesJson(devices) : RenderLeases(devices));
  return absl::OkStatus();
}

absl::Status TakeLease(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  SessionFlags session_flags;
  session_flags.idle = kTakenFor;
  bool json = false;
  FlagSet flags("slipway lease take [flags]",
                "Waits for a device and holds it, for \"slipway session --lease\" to take up.");
  session_flags.AddTo(flags);
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names, ParseArguments(environment, flags, arguments, {}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const ServerPlace place, FindServer(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(ResumedSession opened,
                           OpenSession(environment, place, session_flags, "", nullptr));
  const TakenLease taken = {.session = opened.session.id(),
                            .ticket = opened.session.ticket(),
                            .device = opened.session.device(),
                            .target = opened.session.target(),
                            .until = absl::Now() + session_flags.idle};
  SLIPWAY_RETURN_IF_ERROR(opened.session.Detach());
  environment.out << (json ? RenderTakenLeaseJson(taken) : RenderTakenLease(taken));
  return absl::OkStatus();
}

absl::Status ReleaseLease(Environment& environment, Arguments arguments) {
  ConnectionFlags connection_flags;
  bool json = false;
  FlagSet flags("slipway lease release SESSION [flags]",
                "Ends a session, whoever has it: its device is free for others.");
  flags.Add("json", &json, "Print JSON.");
  connection_flags.AddTo(flags, /*can_be_local=*/false);
  SLIPWAY_ASSIGN_OR_RETURN(const auto names,
                           ParseArguments(environment, flags, arguments, {"SESSION"}));
  if (!names.has_value()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const auto connection, Connection::Open(environment, connection_flags));
  SLIPWAY_ASSIGN_OR_RETURN(const Job before, JobOf(connection->client().GetJob(names->front())));
  if (before.kind != JobKind::kSession) {
    return WrongCall(absl::StrCat("job \"", before.id, "\" is a ", Name(before.kind),
                                  " and no session; \"slipway cancel\" ends it"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Job job, JobOf(connection->client().CancelJob(names->front())));
  if (json) {
    environment.out << RenderJobJson(job);
  } else {
    environment.out << "session " << job.id
                    << (job.state == JobState::kCancelled ? " is released\n"
                                                          : " had already ended\n");
  }
  return absl::OkStatus();
}

struct What {
  const char* name;
  absl::Status (*function)(Environment&, Arguments);
};
constexpr What kWhat[] = {{"list", ListLeases}, {"take", TakeLease}, {"release", ReleaseLease}};

}  // namespace

absl::Status Lease(Environment& environment, Arguments arguments) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  for (const What& what : kWhat) {
    if (name == what.name) return what.function(environment, arguments.subspan(1));
  }
  const std::string known =
      absl::StrJoin(kWhat, ", ", [](std::string* out, const What& what) { *out += what.name; });
  if (name == "--help" || name == "-h") {
    environment.out << "usage: slipway lease WHAT [flags]\n\nWHAT is one of " << known
                    << "; \"slipway lease WHAT --help\" tells more.\n";
    return absl::OkStatus();
  }
  return WrongCall(absl::StrCat("\"lease\" does one of: ", known));
}

}  // namespace slipway::cli
