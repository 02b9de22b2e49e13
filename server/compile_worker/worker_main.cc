#include "server/compile_worker/worker_main.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/base/control_group.h"
#include "core/base/files.h"
#include "core/base/flags.h"
#include "core/base/lifeline.h"
#include "core/base/log.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/confinement/confinement.h"
#include "core/confinement/guard.h"
#include "core/confinement/profiles.h"
#include "core/rpc/caller_proof.h"
#include "core/rpc/join.h"
#include "core/rpc/renewal.h"
#include "core/rpc/token.h"
#include "core/store/file_blob_store.h"
#include "core/store/quota_blob_store.h"
#include "server/compile_worker/abandoned_folders.h"
#include "server/compile_worker/child_main.h"
#include "server/compile_worker/compile_child.h"
#include "server/compile_worker/grpc_worker_transport.h"
#include "server/compile_worker/worker_loop.h"
#include "server/compile_worker/worker_options.h"

namespace slipway::worker {
namespace {

constexpr char kName[] = "slipway-compile-worker";
constexpr int kFailed = 1;
constexpr int kWrongCall = 2;

int Report(const absl::Status& status, int exit_code) {
  fprintf(stderr, "%s: %s\n", kName, std::string(status.message()).c_str());
  return exit_code;
}

absl::StatusOr<std::unique_ptr<BlobStore>> OpenStore(const WorkerOptions& options,
                                                     const std::string& folder, bool durable) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<BlobStore> store,
                           FileBlobStore::Create({.folder = folder, .durable = durable}));
  // A shared store is the server's to keep within bounds.
  if (durable) return store;
  return std::make_unique<QuotaBlobStore>(
      std::move(store), QuotaBlobStore::Options{.quota_bytes = options.blob_quota_bytes});
}

// Those of workers that were killed. One that has just been made may not be held yet.
void RemoveLeftFolders() {
  const char* const parent = getenv("TMPDIR");
  const int removed =
      RemoveAbandonedFolders(parent != nullptr && *parent != '\0' ? parent : "/tmp",
                             absl::StrCat(kFolderPrefix, "."), absl::Now() - absl::Minutes(1));
  if (removed > 0) Log(LogLevel::kInfo, "removed what killed workers left", {{"folders", removed}});
}

absl::Status CheckConfinement(const WorkerOptions& options, const ControlGroups& groups) {
  Confinement confinement = CompileConfinement({options.cache_dir}, ProgramFolders());
  confinement.has_task_group = groups.limits_tasks();
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const MissingParts missing, ProbeConfinement(confinement),
                                "confining the compiler");
  if (options.require_confinement) return RequireWhole("the compiler", missing);
  for (const MissingPart& part : missing) {
    Log(LogLevel::kWarning, "compilations are not wholly confined",
        {{"lacks", Name(part.part)}, {"why", part.why}});
  }
  return absl::OkStatus();
}

absl::Status Work(const WorkerOptions& options, const Compiler& compiler,
                  const ControlGroups& groups, const sigset_t& stop_signals) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string token, ReadToken(options.token_file));
  SLIPWAY_ASSIGN_OR_RETURN(const CallerProof proof, FindProof(options.server, Role::kWorker,
                                                              {.identity_file = options.identity,
                                                               .authority_file = options.authority,
                                                               .token = token,
                                                               .insecure = options.insecure}));
  GrpcWorkerTransport transport(options.server, proof);
  const std::unique_ptr<Renewal> renewal = Renewal::Start(options.server, proof);
  const bool is_shared = !options.blob_dir.empty();
  AttemptEnvironment env;
  env.transport = &transport;
  env.store_folder = is_shared ? options.blob_dir : JoinPath(options.cache_dir, "worker-blobs");
  env.store_is_durable = is_shared;
  env.kernel_cache_folder = JoinPath(options.cache_dir, "kernels");
  env.child_command = {kOwnExecutable};
  env.memory_bytes = options.compile_memory_bytes;
  env.groups = &groups;
  env.require_confinement = options.require_confinement;
  SLIPWAY_RETURN_IF_ERROR_WITH(MakeOwnFolder(env.kernel_cache_folder), "--cache-dir");
  RemoveLeftFolders();
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const std::unique_ptr<BlobStore> store,
                                OpenStore(options, env.store_folder, is_shared), "--blob-dir");
  env.store = store.get();
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::vector<CompilerTarget> targets, compiler.targets(),
                                "what the compiler is");
  absl::BitGen random;
  SLIPWAY_ASSIGN_OR_RETURN(const auto joined_name, JoinedName(proof));
  WorkerLoop loop(
      {.worker_id = options.worker_id.empty() ? DefaultWorkerId(joined_name) : options.worker_id,
       .instance_id = absl::StrCat(absl::Hex(random(), absl::kZeroPad16)),
       .targets = std::move(targets),
       .capacity = static_cast<int>(options.capacity)},
      &env);
  std::thread worker([&loop] { loop.Run(); });
  int signal = 0;
  sigwait(&stop_signals, &signal);
  Log(LogLevel::kInfo, "ending", {{"signal", signal}});
  loop.Stop();
  worker.join();
  return absl::OkStatus();
}

}  // namespace

int WorkerMain(int argc, char** argv, const Compiler& compiler) {
  // What the tail of a child's log says must not be cut off by buffers.
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc == 3 && strcmp(argv[1], kCompileSubcommand) == 0) {
    // The thread that starts a child waits for its end, so this fires when the worker ends. The child must not
    // have threads of its own (core/compiler), which a lifeline would need.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return RunCompileChild(argv[2], compiler.compile);
  }
  setenv("GRPC_VERBOSITY", "NONE", 0);
  umask(S_IRWXG | S_IRWXO);
  if (argc > 1 && strcmp(argv[1], "join") == 0) {
    return JoinMain(kName, Role::kWorker, argc - 1, argv + 1);
  }
  WorkerOptions given;
  FlagSet flags(absl::StrCat(kName, " [flags]"),
                "Compiles for a server, which `slipway-compile-worker join` makes know it.");
  AddFlags(flags, &given);
  const absl::StatusOr<std::vector<std::string>> rest = flags.Parse(argc, argv);
  if (!rest.ok()) return Report(rest.status(), kWrongCall);
  if (!rest->empty()) {
    return Report(absl::InvalidArgumentError(rest->front() + " is no flag"), kWrongCall);
  }
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    fputs(text.c_str(), stdout);
    return 0;
  }
  if (given.print_targets) {
    const auto targets = compiler.targets();
    if (!targets.ok()) return Report(targets.status(), kFailed);
    for (const CompilerTarget& target : *targets) {
      printf("%s %s\n", target.family.c_str(), target.fingerprint.c_str());
    }
    return 0;
  }
  const absl::StatusOr<WorkerOptions> options = Complete(given);
  if (!options.ok()) return Report(options.status(), kWrongCall);
  // Taken by sigwait alone, and so blocked in every thread.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGINT);
  sigaddset(&stop_signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  InitLog(kName, *ParseLogLevel(options->log_level));
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (options->exit_with_parent && getenv(kLifelineVariable) == nullptr) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
  }
  absl::Status status = GuardProcess();
  const ControlGroups groups = ControlGroups::Prepare();
  if (!groups.why_not().empty()) {
    Log(LogLevel::kInfo, "compilations are held to limits process by process",
        {{"no_groups", groups.why_not()}});
  }
  if (status.ok()) status = CheckConfinement(*options, groups);
  if (status.ok()) status = FollowParent();
  if (status.ok()) status = Work(*options, compiler, groups, stop_signals);
  return status.ok() ? 0 : Report(status, kFailed);
}

}  // namespace slipway::worker
