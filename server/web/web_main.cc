// slipway-web: the page of a server.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/kept_memory.h"
#include "core/base/lifeline.h"
#include "core/base/log.h"
#include "core/base/service_manager.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/confinement/guard.h"
#include "core/http/http_listener.h"
#include "core/rpc/listen_address.h"
#include "core/rpc/token.h"
#include "server/web/grpc_upstream.h"
#include "server/web/guard.h"
#include "server/web/live_lists.h"
#include "server/web/sessions.h"
#include "server/web/upload.h"
#include "server/web/web_handler.h"
#include "server/web/web_options.h"

namespace slipway::web {
namespace {

constexpr int kFailed = 1;
constexpr int kBadCall = 2;
// Each waits for the server at most.
constexpr int kHandlerThreads = 16;
constexpr int kMostUploads = 4;

// What the page wants to be shown where the server asks nobody; whoever may read the file or the log may use it.
absl::StatusOr<std::string> MakeOwnToken(const WebOptions& options,
                                         const UpstreamOptions& upstream) {
  if (AsksWhoCalls(upstream)) return std::string();
  const std::string token = NewSecret();
  if (!options.access_file.empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(WriteFileAtomically(options.access_file, absl::StrCat(token, "\n"),
                                                     /*durable=*/false, 0600),
                                 "--access-file");
  }
  return token;
}

absl::Status TellAddress(const WebOptions& options, const std::string& address) {
  if (options.ready_fd < 0) return absl::OkStatus();
  const int fd = static_cast<int>(options.ready_fd);
  const std::string line = absl::StrCat(address, "\n");
  const bool written = write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  close(fd);
  return written ? absl::OkStatus()
                 : absl::InvalidArgumentError(absl::StrCat("cannot write to --ready-fd ", fd));
}

absl::Status Serve(const WebOptions& options, const sigset_t& stop_signals) {
  const SystemClock clock;
  const UpstreamOptions upstream = {
      .server = options.server, .insecure = options.insecure, .authority_file = options.authority};
  SLIPWAY_ASSIGN_OR_RETURN(const std::string own_token, MakeOwnToken(options, upstream));
  std::string upload_folder = options.upload_dir;
  TemporaryFolder made;
  if (upload_folder.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(made, TemporaryFolder::Create("slipway-web"));
    upload_folder = made.path();
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::unique_ptr<UploadFolder> uploads,
                                UploadFolder::Open(upload_folder, kMostUploads), "--upload-dir");
  Sessions sessions({}, GrpcConnector(upstream), own_token, &clock);
  LiveLists lists({}, [&sessions](const SignedIn& who) { sessions.Forget(who); });
  WebHandler handler({.max_upload_bytes = options.max_upload_bytes}, &sessions, &lists,
                     uploads.get());
  const bool is_tls = !options.certificate.empty();
  // What port it is, only who listens knows: until then all hosts are others.
  handler.SetOrigins({{"http://invalid"}});
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::unique_ptr<HttpListener> listener,
      HttpListener::Start({.listen = options.listen,
                           .certificate_file = options.certificate,
                           .key_file = options.key,
                           .most_connections = static_cast<size_t>(options.max_connections),
                           .patience = absl::Seconds(30),
                           .keep_alive = true,
                           .handler_threads = kHandlerThreads},
                          &handler));
  SLIPWAY_ASSIGN_OR_RETURN(PageOrigins origins,
                           OriginsOf(listener->address(), is_tls, options.origin));
  const std::string page = origins.origins.empty() ? absl::StrCat("https://", listener->address())
                                                   : origins.origins.front();
  handler.SetOrigins(std::move(origins));
  Log(LogLevel::kInfo, "serving",
      {{"page", page},
       {"address", listener->address()},
       {"server", options.server},
       {"version", kVersion}});
  if (!own_token.empty() && options.access_file.empty()) {
    Log(LogLevel::kInfo, "whoever opens this is let in",
        {{"page", absl::StrCat(page, "/#token=", own_token)}});
  }
  SLIPWAY_RETURN_IF_ERROR(TellAddress(options, page));
  const absl::Status told = NotifyServiceManager(absl::StrCat("READY=1\nSTATUS=serving ", page));
  if (!told.ok()) Log(LogLevel::kWarning, told.message());
  int signal = 0;
  sigwait(&stop_signals, &signal);
  Log(LogLevel::kInfo, "ending", {{"signal", signal}});
  return absl::OkStatus();
}

int Report(const absl::Status& status, int exit_code) {
  fprintf(stderr, "slipway-web: %s\n", std::string(status.message()).c_str());
  return exit_code;
}

int Main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // Statuses say what its log would.
  umask(S_IRWXG | S_IRWXO);
  WebOptions options;
  FlagSet flags = WebFlags(options);
  const absl::StatusOr<std::vector<std::string>> rest = flags.Parse(argc, argv);
  if (!rest.ok()) return Report(rest.status(), kBadCall);
  if (!rest->empty()) {
    return Report(absl::InvalidArgumentError(absl::StrCat(rest->front(), " is no flag")), kBadCall);
  }
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    fputs(text.c_str(), stdout);
    return 0;
  }
  if (const absl::Status status = CheckWebOptions(options); !status.ok()) {
    return Report(status, kBadCall);
  }
  // Taken by sigwait alone, and so blocked in every thread.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGINT);
  sigaddset(&stop_signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes is then an error like a full disk.
  InitLog("slipway-web", *ParseLogLevel(options.log_level));
  KeepFreedMemory();
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  absl::Status status = GuardProcess();
  if (status.ok()) status = FollowParent();
  if (status.ok()) status = Serve(options, stop_signals);
  return status.ok() ? 0 : Report(status, kFailed);
}

}  // namespace
}  // namespace slipway::web

int main(int argc, char** argv) { return slipway::web::Main(argc, argv); }
