// slipwayd: the compile server.

#include <google/protobuf/stubs/logging.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "core/base/control_group.h"
#include "core/base/flags.h"
#include "core/base/kept_memory.h"
#include "core/base/lifeline.h"
#include "core/base/log.h"
#include "core/base/service_manager.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/confinement/confinement.h"
#include "core/confinement/guard.h"
#include "core/confinement/profiles.h"
#include "core/identity/certificate.h"
#include "core/identity/join_code.h"
#include "core/rpc/join.h"
#include "core/rpc/tls_settings.h"
#include "server/audit/audit_verb.h"
#include "server/data_folder.h"
#include "server/grpc_admin_verbs.h"
#include "server/parent.h"
#include "server/server_context.h"
#include "server/server_options.h"
#include "server/state_check.h"

namespace slipway::server {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongCall = 2;

// Workers of this machine would not start: better to say so before anybody waits for them.
absl::Status PrepareForWorkers(const ServerOptions& options) {
  if (options.workers == 0) return absl::OkStatus();
  // Before there are workers, which find groups prepared, and are in none that shall have limits.
  const ControlGroups groups = ControlGroups::Prepare();
  if (!options.require_confinement) return absl::OkStatus();
  Confinement confinement = CompileConfinement({options.cache_dir, options.blob_dir}, {});
  confinement.has_task_group = groups.limits_tasks();
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const MissingParts missing, ProbeConfinement(confinement),
                                "confining the compiler");
  return RequireWhole("the compiler", missing);
}

// At once: what hears nobody may not end in order either. What was accepted is on the disk.
void EndDeaf() {
  Log(LogLevel::kError, "nobody is let in any more: the server ends, to be started again",
      {{"unanswered_knocks", kMaxUnansweredKnocks}});
  _exit(kFailed);
}

// A manager that hears nothing ends the service by itself.
void TellManager(const std::string& state) {
  const absl::Status told = NotifyServiceManager(state);
  if (!told.ok()) Log(LogLevel::kWarning, told.message());
}

absl::Status Serve(const ServerOptions& options, const sigset_t& stop_signals) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ServerContext> context,
                           ServerContext::Create(options, EndDeaf));
  Log(LogLevel::kInfo, "serving",
      {{"address", context->address()}, {"version", kVersion}, {"data", options.data_dir}});
  if (options.ready_fd >= 0) {
    SLIPWAY_RETURN_IF_ERROR(TellReady(static_cast<int>(options.ready_fd), context->address()));
  }
  TellManager(absl::StrCat("READY=1\nSTATUS=serving at ", context->address()));
  int signal = 0;
  sigwait(&stop_signals, &signal);
  Log(LogLevel::kInfo, "ending", {{"signal", signal}});
  TellManager("STOPPING=1");
  return absl::OkStatus();
}

int Report(const absl::Status& status, int exit_code) {
  fprintf(stderr, "slipwayd: %s\n", std::string(status.message()).c_str());
  return exit_code;
}

// How a verb that takes flags alone ends before it begins: called in a wrong way, or for a text.
absl::optional<int> ParseFlags(FlagSet& flags, int argc, char** argv) {
  const absl::StatusOr<std::vector<std::string>> rest = flags.Parse(argc, argv);
  if (!rest.ok()) return Report(rest.status(), kWrongCall);
  if (!rest->empty())
    return Report(absl::InvalidArgumentError(rest->front() + " is no flag"), kWrongCall);
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    fputs(text.c_str(), stdout);
    return 0;
  }
  return absl::nullopt;
}

// Exit codes are those of a server that cannot do its work, while anything is damaged.
int CheckMain(int argc, char** argv) {
  ServerOptions given;
  StateCheckOptions check;
  FlagSet flags("slipwayd check [flags]",
                "Looks over what a server keeps, while it does not run: every row of the database, "
                "every byte of "
                "every blob. Says what is damaged; ends with 0 when nothing is.");
  flags.Add("data-dir", &given.data_dir, "FOLDER", "The server's --data-dir.");
  flags.Add("blob-dir", &given.blob_dir, "FOLDER", "The server's --blob-dir.");
  flags.Add("repair", &check.repair,
            "Move damaged rows to lost+found in the data folder, remove rotten blobs.");
  if (const absl::optional<int> ended = ParseFlags(flags, argc, argv)) return *ended;
  const absl::StatusOr<ServerOptions> options = Complete(given);
  if (!options.ok()) return Report(options.status(), kWrongCall);
  check.data_dir = options->data_dir;
  check.blob_dir = options->blob_dir;
  const absl::StatusOr<StateCheckResult> result =
      CheckState(check, [](absl::string_view line) { printf("%s\n", std::string(line).c_str()); });
  if (!result.ok()) return Report(result.status(), kFailed);
  if (result->found == 0) {
    printf("all is sound\n");
  } else {
    printf("%" PRId64 " damaged, %" PRId64 " of them mended\n", result->found, result->mended);
  }
  return result->mended == result->found ? 0 : kFailed;
}

// The first start does the same; who wants to see or keep the authority before anybody is served does it by itself.
absl::Status Init(const std::string& given) {
  SLIPWAY_ASSIGN_OR_RETURN(const ServerOptions options, Complete({.data_dir = given}));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const DataFolder folder,
                                OpenDataFolder(options.data_dir, "slipwayd init", absl::Now()),
                                "--data-dir");
  SLIPWAY_ASSIGN_OR_RETURN(const Digest fingerprint,
                           FingerprintOf(folder.authority->certificate()));
  const std::string flag = given.empty() ? "" : absl::StrCat(" --data-dir ", options.data_dir);
  printf("%s\n", AuthorityText(fingerprint).c_str());
  fprintf(stderr,
          "is the fingerprint of the server's authority, with which its tokens end, and its codes "
          "in groups; "
          "SHA-256 of its certificate: %s\nwhat it signs with is %s: keep a copy as you keep keys\n"
          "next, for other machines: slipwayd%s --listen 0.0.0.0:7411\nand beside it: slipwayd "
          "invite user NAME\n",
          fingerprint.hex().c_str(), JoinPath(options.data_dir, kAuthorityName).c_str(),
          flag.c_str());
  return absl::OkStatus();
}

int InitMain(int argc, char** argv) {
  std::string data_dir;
  FlagSet flags("slipwayd init [flags]",
                "Makes the data folder, the server's authority and its certificate, as the first "
                "start would, where they are missing. Prints the authority's fingerprint.");
  flags.Add("data-dir", &data_dir, "FOLDER", "The server's --data-dir.");
  if (const absl::optional<int> ended = ParseFlags(flags, argc, argv)) return *ended;
  const absl::Status status = Init(data_dir);
  return status.ok() ? 0 : Report(status, kFailed);
}

template <absl::Status (*verb)(absl::Span<const std::string>, AdminOutput)>
int AdminMain(int argc, char** argv) {
  const absl::Status status =
      verb(std::vector<std::string>(argv + 1, argv + argc), {std::cout, std::cerr});
  if (status.ok()) return 0;
  return Report(status, absl::IsInvalidArgument(status) ? kWrongCall : kFailed);
}

absl::Status ShowAudit(absl::Span<const std::string> arguments, AdminOutput output) {
  return AuditVerb(arguments, absl::Now(), output.out, output.err);
}

int JoinAsAdmin(int argc, char** argv) { return JoinMain("slipwayd", Role::kAdmin, argc, argv); }

// What slipwayd does besides serving.
struct Verb {
  absl::string_view name;
  absl::string_view summary;
  int (*run)(int argc, char** argv);  // With the verb in place of the program.
};
constexpr Verb kVerbs[] = {
    {"check", "look over what a server keeps, while it does not run", CheckMain},
    {"init", "make the authority and certificate of a new server before its first start", InitMain},
    {"invite", "let somebody join a running server", AdminMain<InviteVerb>},
    {"token", "let a program call it that cannot join", AdminMain<TokenVerb>},
    {"identities", "list who may call it", AdminMain<IdentitiesVerb>},
    {"revoke", "shut somebody out", AdminMain<RevokeVerb>},
    {"loglevel", "set what a running server's log shows", AdminMain<LogLevelVerb>},
    {"audit", "show who did what, when and from where", AdminMain<ShowAudit>},
    {"join", "become an administrator of a server of another machine", JoinAsAdmin},
};

std::string Summary() {
  std::string text = "Compiles models and runs them on the devices of its fleet. Other verbs:";
  for (const Verb& verb : kVerbs) {
    absl::StrAppend(&text, "\n  slipwayd ", verb.name, ": ", verb.summary);
  }
  return text;
}

int Main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // Statuses say what its log would.
  // It would write a line for each message that cannot be read, so callers could write as many as they like.
  google::protobuf::SetLogHandler(nullptr);
  umask(S_IRWXG | S_IRWXO);  // Sockets, the database and all else are this user's alone.
  for (const Verb& verb : kVerbs) {
    if (argc > 1 && argv[1] == verb.name) return verb.run(argc - 1, argv + 1);
  }
  ServerOptions given;
  const std::string summary = Summary();
  FlagSet flags("slipwayd [flags]", summary);
  AddFlags(flags, &given);
  if (const absl::optional<int> ended = ParseFlags(flags, argc, argv)) return *ended;
  const absl::StatusOr<ServerOptions> options = Complete(given);
  if (!options.ok()) return Report(options.status(), kWrongCall);
  // Taken by sigwait alone, and so blocked in every thread.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGINT);
  sigaddset(&stop_signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes is then an error like a full disk.
  InitLog("slipwayd", *ParseLogLevel(options->log_level));
  KeepFreedMemory();
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  absl::Status status = GuardProcess();
  if (status.ok()) status = ApplyTlsSettings();
  if (status.ok()) status = PrepareForWorkers(*options);
  if (status.ok()) status = options->exit_with_parent ? EndWithParent() : FollowParent();
  if (status.ok()) status = Serve(*options, stop_signals);
  return status.ok() ? 0 : Report(status, kFailed);
}

}  // namespace
}  // namespace slipway::server

int main(int argc, char** argv) { return slipway::server::Main(argc, argv); }
