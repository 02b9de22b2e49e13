#include "device_agent/agent.h"

#include <unistd.h>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_file.h"
#include "core/rpc/caller_proof.h"
#include "core/target/target.h"
#include "core/wire/device_attributes_proto.h"
#include "core/wire/digest_proto.h"
#include "device_agent/accelerators/accelerators.h"
#include "device_agent/agent_cache.h"
#include "device_agent/agent_identity.h"
#include "device_agent/grpc_agent_transport.h"
#include "device_agent/inventory.h"
#include "device_agent/measure/machine_state.h"
#include "device_agent/own_device.h"
#include "device_agent/own_door.h"
#include "device_agent/session/server_session.h"
#include "device_agent/update/update_supervisor.h"

namespace slipway {

namespace {

// To reach a device, and to bring the bare runner there.
constexpr absl::Duration kTimeToReach = absl::Minutes(10);
constexpr absl::Duration kReadMachineEvery = absl::Seconds(1);

std::optional<AttachedDevice> AttachedOf(const AgentOptions& options) {
  if (options.exec_prefix.empty()) return std::nullopt;
  return AttachedDevice{.exec_prefix = options.exec_prefix, .folder = options.exec_folder};
}

// Where vendors' libraries may write; empty where there are to be none.
std::string AcceleratorFolder(const AgentOptions& options) {
  return options.accelerators.empty() ? "" : JoinPath(options.cache_dir, "accelerator");
}

// The first device of each kind that is asked for.
absl::StatusOr<std::vector<FoundAccelerator>> FindAccelerators(const AgentOptions& options,
                                                               const std::string& executable) {
  std::vector<FoundAccelerator> found;
  const std::string folder = AcceleratorFolder(options);
  if (!folder.empty()) SLIPWAY_RETURN_IF_ERROR_WITH(MakeOwnFolder(folder), "--cache-dir");
  for (const std::string& kind : options.accelerators) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(found.emplace_back(), FindAccelerator(kind, executable, folder),
                                  absl::StrCat("--accelerator ", kind));
    Log(LogLevel::kInfo, "programs may use an accelerator",
        {{"target", found.back().target}, {"name", found.back().name}});
    for (size_t i = 0; i < found.back().inventory.size(); ++i) {
      Log(LogLevel::kInfo, "this machine has a GPU",
          {{"is", found.back().inventory[i]}, {"state", found.back().states[i]}});
    }
  }
  return found;
}

// Without id and labels; with the caches of an attached device.
absl::StatusOr<AttachedDescription> DescribeDevice(const std::optional<AttachedDevice>& attached,
                                                   const AgentOptions& options) {
  if (attached.has_value() && options.require_confinement) {
    // Its runners are of this machine, and confined by it.
    SLIPWAY_RETURN_IF_ERROR(DescribeThisMachine(options.cache_dir, /*accelerator_folder=*/"",
                                                /*require_confinement=*/true)
                                .status());
  }
  AttachedDescription described;
  if (attached.has_value()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(described,
                                  DescribeAttached(*attached, options.require_confinement,
                                                   SystemClock().Monotonic() + kTimeToReach),
                                  "--exec-prefix");
  } else {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(described.device,
                                  DescribeThisMachine(options.cache_dir, AcceleratorFolder(options),
                                                      options.require_confinement),
                                  "this machine");
  }
  for (const std::string& missing : described.device.confinement().missing()) {
    Log(LogLevel::kWarning, "programs are not wholly confined", {{"lacks", missing}});
  }
  return described;
}

// The host's target with those of its accelerators, as targets are written.
absl::StatusOr<std::string> TargetWith(std::string target,
                                       const std::vector<FoundAccelerator>& accelerators) {
  for (const FoundAccelerator& accelerator : accelerators) {
    absl::StrAppend(&target, ",", accelerator.target);
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Target parsed, ParseTarget(target), "--accelerator");
  return parsed.ToString();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Agent>> Agent::Create(const AgentOptions& options,
                                                     std::unique_ptr<AgentTransport> transport,
                                                     std::string executable) {
  SLIPWAY_RETURN_IF_ERROR_WITH(MakeOwnFolder(options.state_dir), "--state-dir");
  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      FileLock lock,
      FileLock::TryAcquire(JoinPath(options.state_dir, "lock"), absl::StrCat("pid ", getpid()),
                           FileLock::kTimeToLetGo),
      "another agent uses this state folder; give each one its own --state-dir");
  CallerProof proof;
  std::optional<std::string> joined_name;
  if (transport == nullptr && !options.server.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(proof, FindProof(options.server, Role::kAgent,
                                              {.identity_file = options.identity,
                                               .authority_file = options.authority,
                                               .insecure = options.insecure}));
    SLIPWAY_ASSIGN_OR_RETURN(joined_name, JoinedName(proof));
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::string id,
      KeepAgentId(options.state_dir, options.id.empty() ? joined_name.value_or("") : options.id));
  SLIPWAY_RETURN_IF_ERROR_WITH(MakeFolders(options.cache_dir), "--cache-dir");
  const std::optional<AttachedDevice> attached = AttachedOf(options);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<FoundAccelerator> accelerators,
                           FindAccelerators(options, executable));
  // It forks: before there are gRPC's threads.
  SLIPWAY_ASSIGN_OR_RETURN(AttachedDescription found, DescribeDevice(attached, options));
  v1::DeviceDescription& described = found.device;
  std::unique_ptr<Renewal> renewal;
  if (transport == nullptr && !options.server.empty()) {
    transport = MakeGrpcAgentTransport(options.server, proof);
    renewal = Renewal::Start(options.server, proof);
  }
  std::unique_ptr<Agent> agent(new Agent(options, std::move(lock), std::move(transport)));
  agent->renewal_ = std::move(renewal);
  // What somebody else has given names no authority of the server's that could vouch for programs.
  if (!proof.identity_file.empty() && proof.authority_file.empty()) {
    agent->identity_file_ = proof.identity_file;
    SLIPWAY_ASSIGN_OR_RETURN(const Identity identity, ReadIdentity(proof.identity_file));
    SLIPWAY_ASSIGN_OR_RETURN(
        agent->gate_, ProgramGate::Create(identity.authority,
                                          /*compiled_only=*/options.programs == kCompiledPrograms));
    if (options.accept_updates) {
      SLIPWAY_ASSIGN_OR_RETURN_WITH(
          agent->updates_,
          UpdateTaker::Create(options.state_dir, identity.authority, IsSupervised()),
          "--accept-updates");
    }
  }

  SLIPWAY_ASSIGN_OR_RETURN_WITH(
      agent->cache_, OpenAgentCache(options.cache_dir, options.cache_quota_bytes, agent->pinned_),
      "--cache-dir");

  RunnerOptions runner;
  runner.executable = std::move(executable);
  runner.cache_folder = options.cache_dir;
  // Half: long before a machine is out of memory it is slow, and then it kills what it likes.
  const int64_t memory =
      options.runner_memory_bytes > 0 ? options.runner_memory_bytes : described.memory_bytes() / 2;
  runner.memory_bytes = memory;
  if (options.log_level == "debug") runner.log_level = options.log_level;
  runner.require_confinement = options.require_confinement;
  runner.attached = attached;
  runner.accelerator_folder = AcceleratorFolder(options);
  runner.vendor_libraries = options.vendor_libraries;
  runner.limits_data_alone = absl::c_linear_search(options.accelerators, kCudaAccelerator);
  agent->runners_.emplace(runner);

  AgentLoopOptions loop;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Labels labels, ParseLabels(options.labels), "--label");
  ToProto(labels, described.mutable_labels());
  loop.identity = MakeIdentity(id, std::move(described));
  v1::DeviceDescription& device = *loop.identity.mutable_devices(0);
  SLIPWAY_ASSIGN_OR_RETURN(const std::string target, TargetWith(device.target(), accelerators));
  device.set_target(target);
  for (const FoundAccelerator& accelerator : accelerators) {
    if (!accelerator.inventory.empty()) agent->gpus_ = accelerator.inventory;
  }
  if (!attached.has_value()) NameGpus(agent->gpus_, *device.mutable_inventory());
  if (options.measure) {
    const std::string key = PeaksKey(device, agent->gpus_);
    // One for each sort of attached device, beside this machine's, whose agent may have the same folder.
    const std::string file = attached.has_value()
                                 ? absl::StrCat("peaks-", Digest::Of(key).hex().substr(0, 16))
                                 : "peaks";
    agent->peaks_.emplace(JoinPath(options.cache_dir, file), key);
    *device.mutable_peaks() = agent->peaks_->Get();
  }
  device.set_compiled_only(options.programs == kCompiledPrograms);
  agent->is_attached_ = attached.has_value();
  if (attached.has_value()) agent->attached_caches_ = found.caches;
  agent->Describe([&device](v1::DeviceDescription& described) { described = device; });
  agent->tools_ = {.transport = agent->transport_.get(),
                   .cache = agent->cache_.get(),
                   .runners = &*agent->runners_,
                   .pinned = &agent->pinned_,
                   .gate = agent->gate_.get(),
                   .device_id = id,
                   .device_target = device.target(),
                   .peaks = agent->peaks_.has_value() ? &*agent->peaks_ : nullptr,
                   .memory_bytes = memory};
  if (agent->transport_ != nullptr) agent->WorkForServer(std::move(loop));
  if (!options.listen.empty()) SLIPWAY_RETURN_IF_ERROR(agent->Listen());
  if (!options.metrics_listen.empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(agent->ServeMetrics(), "--metrics-listen");
  }
  return agent;
}

void Agent::WorkForServer(AgentLoopOptions loop) {
  if (updates_ != nullptr) {
    *loop.identity.mutable_update() = updates_->Told();
    loop.fetch_offer = [this](const v1::OfferedAgent& offer, std::stop_token stop) {
      return updates_->Fetch(offer, *cache_, [this, &stop](const Digest& binary) {
        return transport_->FetchBlob(binary, *cache_,
                                     {.retry_for = absl::InfiniteDuration(), .stop = stop});
      });
    };
    loop.take_offer = [this](const v1::OfferedAgent& offer) { return updates_->Take(offer); };
  }
  loop.on_ready = [this] {
    TellReported();
    Log(LogLevel::kInfo, "connected to the server",
        {{"server", options_.server}, {"id", tools_.device_id}});
    TellReady(listener_ == nullptr ? "ready" : listener_->address());
    FindPeaks();
  };
  loop.on_synced = [this](const absl::Status& status) {
    tally_.Synced(status, clock_.Monotonic());
  };
  loop.after_attempt = [this] { runners_->Refill(); };
  // Of an attached device's machine no more is known than what it said of itself.
  if (!is_attached_) {
    loop.read_machine = [this, next = absl::ZeroDuration()]() mutable {
      const absl::Duration now = clock_.Monotonic();
      if (now < next) return std::optional<v1::MachineState>();
      next = now + kReadMachineEvery;
      return std::make_optional(ReadMachineState());
    };
  }
  loop_.emplace(
      *transport_,
      [this](const v1::RunAssignment& assignment, const AttemptObserver& observer,
             std::stop_token stop) { return RunOne(assignment, observer, std::move(stop)); },
      std::move(loop));
}

absl::Status Agent::ServeMetrics() {
  SLIPWAY_ASSIGN_OR_RETURN(
      metrics_, MetricsEndpoint::Start({.listen = options_.metrics_listen}, &clock_, [this] {
        return RenderMetrics(AgentMetrics(tally_, clock_.Monotonic()));
      }));
  Log(LogLevel::kInfo, "metrics are served to everybody who reaches this address",
      {{"address", metrics_->address()}});
  return absl::OkStatus();
}

absl::Status Agent::Listen() {
  const bool has_own_door = HasOwnDoor(options_);
  if (has_own_door) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(
        identity_file_, KeepAgentIdentity(options_.state_dir, clock_.Now()), "--state-dir");
  }
  SLIPWAY_ASSIGN_OR_RETURN(listener_, SessionListener::Start({.address = options_.listen,
                                                              .identity_file = identity_file_}));
  if (has_own_door) {
    const absl::StatusOr<std::string> path =
        KeepUserIdentity(options_.state_dir, listener_->address(), clock_.Now());
    if (path.ok()) {
      Log(LogLevel::kInfo, "may be called by who has this file", {{"identity", *path}});
    } else {
      Log(LogLevel::kWarning, "this user's own commands cannot call the agent",
          {{"why", path.status().message()}});
    }
  }
  if (transport_ != nullptr) return absl::OkStatus();
  sessions_.emplace(
      LocalSessions::Options{.device = tools_.device_id,
                             .target = tools_.device_target,
                             .tools = MakeSessionTools(),
                             .attributes = [this] { return AttributesOf(Description(), {}); }});
  return absl::OkStatus();
}

SessionTools Agent::MakeSessionTools() {
  SessionTools tools;
  tools.start_runner = [this] {
    absl::StatusOr<std::unique_ptr<RunnerProcess>> runner = runners_->Take();
    runners_->Refill();
    return runner;
  };
  tools.blobs = {.cache = cache_.get(), .pinned = &pinned_, .fetch = nullptr};
  if (transport_ != nullptr) {
    tools.blobs.fetch = [this](const Digest& digest, absl::Time until, std::stop_token stop) {
      return transport_->FetchBlob(
          digest, *cache_,
          {.retry_for = absl::InfiniteDuration(), .until = until, .stop = std::move(stop)});
    };
  }
  tools.memory_bytes = tools_.memory_bytes;
  tools.clock = &clock_;
  tools.peaks = tools_.peaks;
  tools.is_attached = runners_->is_attached();
  return tools;
}

SessionTools Agent::MakeSessionTools(const v1::RunAssignment& assignment) {
  SessionTools tools = MakeSessionTools();
  tools.start_runner = [start = std::move(tools.start_runner), request = assignment.request_id()] {
    absl::StatusOr<std::unique_ptr<RunnerProcess>> runner = start();
    if (runner.ok()) (*runner)->WorkFor(request);
    return runner;
  };
  if (gate_ == nullptr) return tools;
  const v1::SessionLease& lease = assignment.session();
  tools.blobs.let_in = [this, lease](const CheckedManifest& program, absl::Time until,
                                     std::stop_token stop) {
    return LetIn(lease, program, until, std::move(stop));
  };
  return tools;
}

// Programs of a session come from its client, perhaps without the server: it is asked.
absl::Status Agent::LetIn(const v1::SessionLease& lease, const CheckedManifest& program,
                          absl::Time until, std::stop_token stop) {
  if (gate_->HasLetIn(program.digest())) return absl::OkStatus();
  v1::VouchRequest request;
  request.set_session(lease.session());
  request.set_ticket(lease.ticket());
  *request.mutable_manifest() = ToProto(program.digest());
  request.set_target(program.target().ToString());
  request.set_compile_key(program.proto().compile_key());
  const absl::StatusOr<v1::SignedStatement> statement = transport_->Vouch(
      request, {.retry_for = absl::InfiniteDuration(), .until = until, .stop = std::move(stop)});
  if (absl::IsUnimplemented(statement.status())) return NotVouchedFor(program.digest());
  SLIPWAY_RETURN_IF_ERROR_WITH(statement.status(), "asking the server for its word on the program");
  return gate_->LetIn(program, *statement);
}

Agent::~Agent() {
  // Connections call the sessions until there are none.
  if (listener_ != nullptr) listener_->EndServing();
  // They tell the loop.
  inventory_.reset();
  if (peaks_.has_value()) peaks_->End();
}

v1::RunAttemptState Agent::RunOne(const v1::RunAssignment& assignment,
                                  const AttemptObserver& observer, std::stop_token stop) {
  const LogRequest named(assignment.request_id());
  SessionTerms place = {.device = tools_.device_id, .target = tools_.device_target};
  if (listener_ != nullptr) place.address = AddressForClients(options_, listener_->address());
  const absl::Duration begin = clock_.Monotonic();
  tally_.Begun();
  v1::RunAttemptState result =
      assignment.has_session()
          ? RunServerSession(assignment, place, MakeSessionTools(assignment), *transport_, leased_,
                             observer, std::move(stop), stop_)
          : RunAttempt(assignment, tools_, observer, std::move(stop));
  tally_.Ended(assignment, result.state(), clock_.Monotonic() - begin);
  Log(LogLevel::kInfo, "ended an attempt",
      {{"attempt", assignment.attempt_id()},
       {"job", assignment.job_id()},
       {"state", v1::RunAttemptState::State_Name(result.state())},
       {"error", result.error().message()}});
  return result;
}

void Agent::FindPeaks() {
  if (!peaks_.has_value()) return;
  peaks_->Find(
      [this](std::stop_token stop) {
        absl::StatusOr<MeasuredPeaks> peaks =
            MeasurePeaks(Description(), attached_caches_, *runners_, std::move(stop));
        runners_->Refill();
        return peaks;
      },
      [this] {
        Describe(
            [this](v1::DeviceDescription& device) { *device.mutable_peaks() = peaks_->Get(); });
      });
}

v1::DeviceInventory Agent::LookAtInventory() {
  v1::DeviceInventory inventory = TakeInventory(options_.cache_dir);
  NameGpus(gpus_, inventory);
  return inventory;
}

void Agent::Describe(absl::FunctionRef<void(v1::DeviceDescription&)> change) {
  absl::MutexLock lock(&mutex_);
  change(device_);
  if (loop_.has_value()) loop_->Describe(device_);
}

v1::DeviceDescription Agent::Description() {
  absl::MutexLock lock(&mutex_);
  return device_;
}

void Agent::TellReady(const std::string& what) {
  if (options_.ready_fd < 0) return;
  const int fd = static_cast<int>(options_.ready_fd);
  const std::string line = absl::StrCat(what, "\n");
  // Whoever waits sees the end of the file even if the line could not be written.
  if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    Log(LogLevel::kWarning, "nobody listens on the ready descriptor");
  }
  close(fd);
}

AgentEnd Agent::Run(std::stop_token stop) {
  stop_ = stop;
  runners_->Refill();
  if (!is_attached_) {
    inventory_.emplace(
        Description().inventory(), [this] { return LookAtInventory(); },
        [this](const v1::DeviceInventory& inventory) {
          Describe([&inventory](v1::DeviceDescription& device) {
            *device.mutable_inventory() = inventory;
          });
        });
  }
  if (listener_ != nullptr) {
    if (sessions_.has_value()) {
      listener_->Serve(&*sessions_);
    } else {
      listener_->Serve(&leased_);
    }
    Log(LogLevel::kInfo, "serves sessions",
        {{"address", listener_->address()}, {"id", tools_.device_id}});
  }
  if (loop_.has_value()) return loop_->Run(std::move(stop));
  TellReady(listener_->address());
  FindPeaks();
  absl::Notification stopped;
  const std::stop_callback on_stop(stop, [&stopped] { stopped.Notify(); });
  stopped.WaitForNotification();
  sessions_->End();
  return AgentEnd::kStopped;
}

}  // namespace slipway
