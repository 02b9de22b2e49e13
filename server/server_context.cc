#include "server/server_context.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/descriptor_limit.h"
#include "core/base/kept_memory.h"
#include "core/base/log.h"
#include "core/base/machine_memory.h"
#include "core/base/own_files.h"
#include "core/base/own_process.h"
#include "core/base/status_macros.h"
#include "core/identity/given_certificate.h"
#include "core/identity/identity_file.h"
#include "core/metrics/metric.h"
#include "core/rpc/listen_address.h"
#include "core/rpc/token.h"
#include "core/store/file_blob_store.h"
#include "core/store/quota_blob_store.h"
#include "server/artifacts/counting_blob_store.h"
#include "server/handlers/status.h"
#include "server/identities/own_identities.h"
#include "server/metrics/server_metrics.h"

namespace slipway::server {
namespace {

// Zero is none.
absl::Duration LimitOf(absl::Duration time) {
  return time > absl::ZeroDuration() ? time : absl::InfiniteDuration();
}

HandlerLimits LimitsOf(const ServerOptions& options) {
  return {.max_blob_bytes = options.max_blob_bytes,
          .max_model_bytes = options.max_model_bytes,
          .max_input_bytes = options.max_input_bytes,
          .max_queued_jobs = options.max_queued_jobs,
          .blob_quota_bytes = options.blob_quota_bytes,
          .job_retention = options.job_retention,
          .queue_deadline = options.queue_deadline,
          .run_deadline = options.run_deadline,
          .total_deadline = options.total_deadline,
          .max_user_priority = options.max_user_priority,
          .max_reservation = options.max_reservation};
}

}  // namespace

ServerContext::ServerContext(ServerOptions options, std::function<void()> when_deaf)
    : options_(std::move(options)),
      when_deaf_(std::move(when_deaf)),
      ids_(SystemRandom),
      memory_(
          options_.memory_limit_bytes,
          {.read = OwnMemoryBytes, .give_back = GiveBackFreedMemory, .clock = &machine_clock_}) {}

absl::StatusOr<std::unique_ptr<ServerContext>> ServerContext::Create(
    const ServerOptions& options, std::function<void()> when_deaf) {
  std::unique_ptr<ServerContext> context(new ServerContext(options, std::move(when_deaf)));
  SLIPWAY_RETURN_IF_ERROR(context->Open());
  return context;
}

absl::Status ServerContext::Open() {
  SLIPWAY_RETURN_IF_ERROR(OpenStores());
  SLIPWAY_RETURN_IF_ERROR(OpenIdentities());
  artifacts_ = std::make_unique<ArtifactLibrary>(
      blobs_.get(), compile_cache_.get(),
      ArtifactLibrary::Vouching{.key = statement_key_.get(), .clock = &clock_});
  compiler_ = std::make_unique<CompilerIdentity>(options_.worker, options_.cache_dir);
  timers_ = std::make_unique<TimerQueue>();
  if (options_.probe_every > absl::ZeroDuration()) {
    SLIPWAY_ASSIGN_OR_RETURN(probes_, ProbePrograms::Create());
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(agent_offers_,
                                AgentOffers::Open(JoinPath(options_.data_dir, kAgentOffersName)),
                                "--data-dir");
  SLIPWAY_RETURN_IF_ERROR(StartDispatcher());
  agent_offers_->Follow(
      [this](const std::vector<AgentOfferRecord>& offers) { dispatcher_->SetOffers(offers); });
  // Once those of jobs are known to stay.
  const absl::Status put = probes_.has_value() ? probes_->PutInto(*blobs_) : absl::OkStatus();
  if (!put.ok()) Log(LogLevel::kWarning, "devices are not probed", {{"why", put.ToString()}});
  env_ = {.jobs = store_.get(),
          .history = store_.get(),
          .dispatcher = dispatcher_.get(),
          .blobs = blobs_.get(),
          .uploads = &uploads_,
          .downloads = &downloads_,
          .artifacts = artifacts_.get(),
          .identities = identities_.get(),
          .agent_offers = agent_offers_.get(),
          .statement_key = statement_key_.get(),
          .clock = &clock_,
          .ids = &ids_,
          .memory = &memory_,
          .fingerprint = [this](const Target& target) { return Fingerprint(target); },
          .compiler_families =
              [this] {
                std::vector<std::string> families;
                for (const auto& [family, fingerprint] : Compilers()) families.push_back(family);
                return families;
              },
          .blobs_evicted = &evicted_,
          .blob_bytes = [this] { return blobs_->UsedBytes(); },
          .blob_dir = options_.blob_dir,
          .limits = LimitsOf(options_),
          .instance_id = ids_.Next(clock_.Now()),
          .began = clock_.Monotonic(),
          .log_level = *ParseLogLevel(options_.log_level)};
  pool_ = std::make_unique<WorkPool>(kHandlerThreads, kMaxWaitingCalls);
  peer_pool_ = std::make_unique<WorkPool>(kPeerThreads, kMaxWaitingCalls);
  GrpcServer::Options listening{
      .listen = options_.listen,
      .listener =
          ListenerOptionsFor(RaiseDescriptorLimit(), static_cast<int>(options_.max_connections))};
  listening.listener.may_take = [this] { return memory_.MayConnect(); };
  if (options_.max_identity_connections > 0) {
    listening.listener.most_of_identity = static_cast<int>(options_.max_identity_connections);
  }
  if (!options_.proxied_listen.empty()) {
    listening.listener.proxied_address = options_.proxied_listen;
    SLIPWAY_ASSIGN_OR_RETURN(listening.listener.proxies, ProxyMachines(options_));
  }
  SLIPWAY_ASSIGN_OR_RETURN(listening.own_worker, MakeWorkerToken());
  if (IsOverTls(options_)) {
    SLIPWAY_RETURN_IF_ERROR_WITH(KeepIdentities(), "--data-dir");
    listening.identity_file = JoinPath(options_.data_dir, kServerIdentityName);
    listening.takes_tokens = options_.accept_tokens;
    SLIPWAY_RETURN_IF_ERROR(CheckGivenFiles());
    listening.given = {.certificate = options_.certificate,
                       .key = options_.key,
                       .authorities = options_.client_authority};
  }
  SLIPWAY_ASSIGN_OR_RETURN(grpc_, GrpcServer::Start({.env = &env_,
                                                     .hub = &hub_,
                                                     .timers = timers_.get(),
                                                     .pool = pool_.get(),
                                                     .peer_pool = peer_pool_.get(),
                                                     .audit = audit_.get()},
                                                    listening));
  address_ = grpc_->address();
  if (IsOverTls(options_)) {
    identities_->WhenRevoked([grpc = grpc_.get()] { grpc->EndUnwelcome(); });
    KeepUsersIdentities();
    KeepIdentitiesDaily();
  }
  SLIPWAY_RETURN_IF_ERROR_WITH(StartMetrics(), "--metrics-listen");
  StartWorkers();
  ticked_ = dispatcher_.get();
  TickAfter(dispatcher_->Tick());
  KeepTime();
  TidyUploads();
  if (when_deaf_ != nullptr) {
    absl::MutexLock lock(&told_mu_);
    listener_check_.emplace(
        kMaxUnansweredKnocks,
        ListenerCheck::Parts{.accepted = [grpc = grpc_.get()] { return grpc->accepted(); },
                             .knock = [grpc = grpc_.get()] { grpc->Knock(); }});
    CheckListener();
  }
  return absl::OkStatus();
}

absl::Status ServerContext::OpenStores() {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      folder_,
      OpenDataFolder(options_.data_dir, absl::StrCat("slipwayd --listen ", options_.listen),
                     clock_.Now()),
      "--data-dir");
  SLIPWAY_RETURN_IF_ERROR_WITH(MakeOwnFolder(options_.cache_dir), "--cache-dir");
  SLIPWAY_ASSIGN_OR_RETURN(store_, SqliteStore::Open(JoinPath(options_.data_dir, kDatabaseName)));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      std::unique_ptr<FileBlobStore> files,
      FileBlobStore::Create({.folder = options_.blob_dir, .abandoned_after = kUnfinishedRetention}),
      "--blob-dir");
  blobs_ = std::make_unique<QuotaBlobStore>(
      std::make_unique<CountingBlobStore>(std::move(files), &evicted_),
      QuotaBlobStore::Options{.quota_bytes = options_.blob_quota_bytes,
                              .pinned = [this] { return PinnedBlobs(); }});
  SLIPWAY_ASSIGN_OR_RETURN_WITH(compile_cache_, FileCompileCache::Create(options_.blob_dir),
                                "--blob-dir");
  return absl::OkStatus();
}

absl::flat_hash_set<Digest> ServerContext::PinnedBlobs() {
  absl::flat_hash_set<Digest> pinned = dispatcher_->NeededBlobs();
  if (probes_.has_value()) pinned.insert(probes_->digests().begin(), probes_->digests().end());
  for (Digest& binary : agent_offers_->Binaries()) pinned.insert(std::move(binary));
  return pinned;
}

absl::Status ServerContext::OpenIdentities() {
  SLIPWAY_ASSIGN_OR_RETURN(identities_,
                           Identities::Create(store_.get(), folder_->authority.get(), &clock_));
  // Only agents that are called over TLS know an authority to check statements against.
  if (IsOverTls(options_)) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(
        statement_key_,
        StatementKey::Open(folder_->authority.get(),
                           JoinPath(options_.data_dir, kSignerIdentityName), clock_.Now()),
        "--data-dir");
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      audit_, AuditLog::Open(JoinPath(options_.data_dir, kAuditFolderName), {}, &machine_clock_),
      "--data-dir");
  return absl::OkStatus();
}

absl::Status ServerContext::StartDispatcher() {
  SLIPWAY_ASSIGN_OR_RETURN(
      dispatcher_,
      Dispatcher::Create(
          {.jobs = store_.get(),
           .devices = store_.get(),
           .history = store_.get(),
           .artifacts = artifacts_.get(),
           .clock = &clock_,
           .ids = &ids_,
           .hub = &hub_,
           .probes = probes_.has_value() ? &*probes_ : nullptr,
           .wake = [this](absl::Duration wait) { TickAfter(wait); },
           .local_targets =
               [this](const TargetFingerprints& targets) { compiler_->Correct(targets); },
           .demand = [this] { TellDemand(); }},
          {.silence = options_.silence,
           .job_retention = options_.job_retention,
           .max_queued_jobs = options_.max_queued_jobs,
           .compile_time_of_owner = LimitOf(options_.compile_time_per_day),
           .device_time_of_owner = LimitOf(options_.device_time_per_day),
           .max_reservations_of_owner = options_.max_reservations,
           .probe_every = LimitOf(options_.probe_every),
           .quarantine_after = static_cast<int>(options_.quarantine_after)}));
  return absl::OkStatus();
}

std::string ServerContext::WorkerTokenPath() const {
  return JoinPath(options_.data_dir, kWorkerTokenName);
}

// For this start alone, in a file, since others may read command lines.
absl::StatusOr<std::string> ServerContext::MakeWorkerToken() const {
  if (options_.workers == 0) return "";
  const std::string token = NewSecret();
  SLIPWAY_RETURN_IF_ERROR_WITH(
      WriteFileAtomically(WorkerTokenPath(), token, /*durable=*/false, 0600), "--data-dir");
  return token;
}

absl::Status ServerContext::KeepIdentities() {
  const absl::Time now = clock_.Now();
  SLIPWAY_RETURN_IF_ERROR(KeepServerIdentityIn(options_.data_dir, *folder_->authority, now));
  return KeepOwnIdentity(*folder_->authority, *identities_, Role::kWorker,
                         JoinPath(options_.data_dir, kWorkerIdentityName), now);
}

absl::Status ServerContext::CheckGivenFiles() const {
  const absl::Time now = clock_.Now();
  if (!options_.certificate.empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(
        ReadGivenCertificate(options_.certificate, options_.key, CertificateUse::kServer, now)
            .status(),
        "--certificate");
  }
  if (options_.client_authority.empty()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR_WITH(ReadGivenAuthorities(options_.client_authority, now).status(),
                               "--client-authority");
  return absl::OkStatus();
}

void ServerContext::KeepUsersIdentities() {
  for (const Role role : {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin}) {
    const absl::StatusOr<std::string> path = IdentityPath(LocalAddress(address_), role);
    const absl::Status status =
        path.ok() ? KeepOwnIdentity(*folder_->authority, *identities_, role, *path, clock_.Now())
                  : path.status();
    // The server serves others all the same.
    if (!status.ok()) {
      Log(LogLevel::kWarning, "this user's own commands cannot call the server",
          {{"as", RoleName(role)}, {"why", status.message()}});
    }
  }
}

void ServerContext::KeepIdentitiesDaily() {
  timers_->After(absl::Hours(24), [this] {
    for (const absl::Status& status : {KeepIdentities(), statement_key_->Renew(clock_.Now())}) {
      if (status.ok()) continue;
      Log(LogLevel::kError, "the server's identity is not renewed", {{"why", status.message()}});
    }
    if (const absl::Status given = CheckGivenFiles(); !given.ok()) {
      Log(LogLevel::kError, "callers cannot be let in by what was given",
          {{"why", given.message()}});
    }
    KeepUsersIdentities();
    KeepIdentitiesDaily();
  });
}

void ServerContext::StartWorkers() {
  if (options_.workers == 0) return;
  std::vector<std::string> command = {
      options_.worker,    "--server",         LocalAddress(address()),
      "--blob-dir",       options_.blob_dir,  "--cache-dir",
      options_.cache_dir, "--compile-memory", absl::StrCat(options_.compile_memory_bytes),
      "--log-level",      options_.log_level, "--token-file",
      WorkerTokenPath()};
  if (IsOverTls(options_)) {
    command.insert(command.end(), {"--identity", JoinPath(options_.data_dir, kWorkerIdentityName)});
  }
  if (options_.insecure) command.push_back("--insecure");
  if (options_.require_confinement) command.push_back("--require-confinement");
  workers_ = std::make_unique<LocalWorkers>(
      LocalWorkers::Options{.count = static_cast<int>(options_.workers),
                            .idle = options_.worker_idle,
                            .command = std::move(command)},
      timers_.get(),
      [this](absl::string_view id, absl::string_view why, absl::string_view last_words,
             bool counted) { dispatcher_->LocalWorkerEnded(id, why, last_words, counted); });
  {
    absl::MutexLock lock(&told_mu_);
    told_workers_ = workers_.get();
  }
  TellDemand();
}

absl::Status ServerContext::StartMetrics() {
  if (options_.metrics_listen.empty()) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(
      metrics_, MetricsEndpoint::Start({.listen = options_.metrics_listen}, &machine_clock_,
                                       [this] { return MetricsText(); }));
  SLIPWAY_ASSIGN_OR_RETURN(const ListenAddress listening, ParseListenAddress(metrics_address()));
  const bool is_own = listening.host.empty() || listening.is_loopback;
  Log(is_own ? LogLevel::kInfo : LogLevel::kWarning,
      is_own ? "metrics are served"
             : "metrics are served to everybody who reaches this address, and nobody is asked who "
               "he is",
      {{"address", metrics_address()}});
  return absl::OkStatus();
}

std::string ServerContext::metrics_address() const {
  return metrics_ == nullptr ? "" : metrics_->address();
}

std::string ServerContext::MetricsText() const {
  v1::ServerStatus status;
  const FrontSums front = grpc_->Front();
  if (const absl::Status read = GetServerStatus(env_, front, &status); !read.ok()) {
    Log(LogLevel::kWarning, "metrics lack something", {{"why", read.message()}});
  }
  return RenderMetrics(ServerMetrics({.status = &status,
                                      .connections = &front.connections,
                                      .calls = &grpc_->calls(),
                                      .jobs = &dispatcher_->tally(),
                                      .store = &dispatcher_->StoreTally(),
                                      .processor_time = OwnProcessorTime()}));
}

void ServerContext::TellDemand() {
  absl::MutexLock lock(&told_mu_);
  if (told_workers_ == nullptr) return;
  // Read anew, since two changes may be told in either order.
  told_workers_->SetDemand(dispatcher_->CompilationsWanted());
}

void ServerContext::TickAfter(absl::Duration wait) {
  timers_->After(wait, [this] { Tick(); });
}

void ServerContext::Tick() {
  // Open calls the first, whatever came before it.
  Dispatcher* const dispatcher = ticked_;
  // What was reported while this process was asleep is read before anybody is blamed, or his deadline passes.
  if (dispatcher != nullptr && !clock_.is_catching_up()) dispatcher->Tick();
}

// Time that stood still makes ticks late: they come by this.
void ServerContext::KeepTime() {
  timers_->After(AwakeClock::kReadEvery, [this] {
    Tick();
    audit_->TellLeftOut();
    KeepTime();
  });
}

void ServerContext::CheckListener() {
  timers_->After(kListenerCheckEvery, [this] {
    {
      absl::MutexLock lock(&told_mu_);
      if (!listener_check_.has_value()) return;
      if (listener_check_->Knock()) return CheckListener();
    }
    when_deaf_();
  });
}

void ServerContext::TidyUploads() {
  timers_->After(kUploadIdle, [this] {
    uploads_.CloseIdle();
    blobs_->DropUnfinished(kUnfinishedRetention);
    TidyUploads();
  });
}

TargetFingerprints ServerContext::Compilers() {
  TargetFingerprints all;
  if (options_.workers > 0) {
    absl::StatusOr<TargetFingerprints> own = compiler_->Targets();
    if (own.ok()) all = *std::move(own);
  }
  TargetFingerprints others = dispatcher_->WorkersTargets();
  all.insert(others.begin(), others.end());
  return all;
}

absl::StatusOr<std::string> ServerContext::Fingerprint(const Target& target) {
  const std::string family = FamilyOf(target);
  const TargetFingerprints compilers = Compilers();
  if (const auto found = compilers.find(family); found != compilers.end()) return found->second;
  const std::string remedy =
      absl::StrCat("start a slipway-compile-worker with --server ", address());
  if (!compilers.empty()) {
    return absl::UnimplementedError(absl::StrCat(
        "no compiler of this server compiles for '", target.ToString(),
        "'; there are compilers for ",
        absl::StrJoin(compilers, "; ",
                      [](std::string* out, const auto& entry) { out->append(entry.first); }),
        ": choose a target of these, or ", remedy, " that compiles for ", family));
  }
  if (options_.workers > 0) return compiler_->Targets().status();
  return absl::UnavailableError(absl::StrCat("there is no compiler: ", remedy));
}

// A smart pointer is null while what it held is being destroyed, and the objects here call each other through
// them: each is first stopped, and destroyed when nobody calls it any more.
ServerContext::~ServerContext() {
  {
    absl::MutexLock lock(&told_mu_);
    told_workers_ = nullptr;
    listener_check_.reset();
  }
  metrics_.reset();
  workers_.reset();
  hub_.Close();
  grpc_.reset();
  pool_.reset();
  peer_pool_.reset();
  // Not reset at once: a tick that runs now still asks for the next one.
  if (timers_ != nullptr) timers_->Stop();
  dispatcher_.reset();
}

}  // namespace slipway::server
