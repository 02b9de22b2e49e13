#include "client/convert.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/agent_offers.h"
#include "core/base/status_macros.h"
#include "core/schedules/kernel_schedule.h"
#include "core/wire/digest_proto.h"
#include "core/wire/precision_proto.h"
#include "core/wire/status_proto.h"
#include "core/wire/tensor_proto.h"

namespace slipway {

absl::Time TimeFromNs(int64_t ns) {
  return ns == 0 ? absl::InfinitePast() : absl::FromUnixNanos(ns);
}

AttemptTimings TimingsFromProto(const v1::AttemptTimings& proto) {
  return {.fetch = absl::Nanoseconds(proto.fetch_ns()),
          .spawn = absl::Nanoseconds(proto.spawn_ns()),
          .load = absl::Nanoseconds(proto.load_ns()),
          .run = absl::Nanoseconds(proto.run_ns()),
          .upload = absl::Nanoseconds(proto.upload_ns())};
}

namespace {

// For showing alone: whatever a server says is shown as unknown unless it is a range.
VersionRange RangeFromProto(int32_t lowest, int32_t highest) {
  if (lowest < 1 || highest < lowest) return {};
  return {static_cast<uint32_t>(lowest), static_cast<uint32_t>(highest)};
}

template <typename Times>
std::vector<StageTime> StagesFromProto(const Times& times) {
  std::vector<StageTime> stages;
  for (const v1::StageTime& time : times) {
    stages.push_back({.name = time.name(),
                      .duration = absl::Nanoseconds(time.duration_ns()),
                      .nodes_after = time.nodes_after(),
                      .notes = {time.notes().begin(), time.notes().end()}});
  }
  return stages;
}

// Of a kernel, as records have it, which go into files and back to servers; nothing for what is none.
std::optional<std::string> ScheduleOf(const std::string& kernel, const std::string& text) {
  const absl::StatusOr<ScheduleRecords> records =
      ParseScheduleRecords(absl::StrCat(kernel, " ", text));
  if (!records.ok() || records->size() != 1 || records->begin()->first != kernel) {
    return std::nullopt;
  }
  return ToString(records->begin()->second.schedule);
}

absl::StatusOr<Compilation> CompilationFromProto(const v1::CompilationResult& proto) {
  const v1::CompileReport& report = proto.report();
  Compilation compilation = {.compile_key = proto.compile_key(),
                             .cached = proto.cached(),
                             .artifact_bytes = proto.artifact_bytes(),
                             .stages = StagesFromProto(report.stages()),
                             .passes = StagesFromProto(report.passes()),
                             .kernels = report.kernels(),
                             .kernels_compiled = report.kernels_compiled(),
                             .kernels_cached = report.kernels_cached(),
                             .code_bytes = report.code_bytes(),
                             .constant_bytes = report.constant_bytes(),
                             .arena_bytes = report.arena_bytes(),
                             .printed_graph = report.printed_graph(),
                             .integer_products = report.integer_products(),
                             .float_products = {},
                             .precision = std::nullopt,
                             .printed_schedules = report.printed_schedules(),
                             .candidates = {},
                             .records = report.records()};
  if (const absl::StatusOr<Precision> known = FromProto(report.precision()); known.ok()) {
    compilation.precision = *known;
  }
  for (const v1::FloatProduct& product : report.float_products()) {
    compilation.float_products.push_back({product.node(), product.reason()});
  }
  for (const v1::KernelCandidates& kernel : report.candidates()) {
    const std::optional<std::string> schedule = ScheduleOf(kernel.kernel(), kernel.schedule());
    if (!schedule.has_value()) continue;
    KernelCandidates& known = compilation.candidates.emplace_back();
    known.kernel = kernel.kernel();
    known.schedule = *schedule;
    for (const std::string& text : kernel.candidates()) {
      const std::optional<std::string> candidate = ScheduleOf(kernel.kernel(), text);
      if (candidate.has_value()) known.candidates.push_back(*candidate);
    }
    known.steps = {kernel.steps().begin(), kernel.steps().end()};
  }
  if (report.has_kernels_recorded()) compilation.kernels_recorded = report.kernels_recorded();
  SLIPWAY_ASSIGN_OR_RETURN_WITH(compilation.artifact, FromProto(proto.manifest()), "manifest");
  return compilation;
}

absl::StatusOr<RunResult> RunFromProto(const v1::RunResult& proto) {
  RunResult result = {.timings = TimingsFromProto(proto.timings()),
                      .device = proto.device(),
                      .clock_resolution_ns = std::max<int64_t>(0, proto.clock_resolution_ns())};
  for (const v1::Tensor& tensor : proto.outputs()) {
    Output output = {.name = tensor.name()};
    SLIPWAY_ASSIGN_OR_RETURN_WITH(output.type, FromProto(tensor.type()),
                                  absl::StrCat("output \"", tensor.name(), "\""));
    // Lists of jobs leave the content out.
    if (tensor.has_blob()) {
      SLIPWAY_ASSIGN_OR_RETURN(output.blob, FromProto(tensor.blob()));
    } else if (tensor.has_inline_data()) {
      SLIPWAY_ASSIGN_OR_RETURN(output.tensor,
                               FromProto(tensor, [](const Digest&) -> absl::StatusOr<Blob> {
                                 return absl::InternalError("the content is not inline");
                               }));
    }
    result.outputs.push_back(std::move(output));
  }
  return result;
}

absl::StatusOr<JobState> StateFromProto(v1::Job::State state) {
  switch (state) {
    case v1::Job::QUEUED:
      return JobState::kQueued;
    case v1::Job::ASSIGNED:
      return JobState::kAssigned;
    case v1::Job::RUNNING:
      return JobState::kRunning;
    case v1::Job::SUCCEEDED:
      return JobState::kSucceeded;
    case v1::Job::FAILED:
      return JobState::kFailed;
    case v1::Job::CANCELLED:
      return JobState::kCancelled;
    default:
      return absl::InternalError(absl::StrCat("unknown state ", static_cast<int>(state)));
  }
}

std::optional<JobKind> KindFromProto(v1::Lease::Kind kind) {
  switch (kind) {
    case v1::Lease::RUN:
      return JobKind::kRun;
    case v1::Lease::BENCHMARK:
      return JobKind::kBenchmark;
    case v1::Lease::SESSION:
      return JobKind::kSession;
    case v1::Lease::COMPILATION:
      return JobKind::kCompilation;
    default:
      return std::nullopt;
  }
}

DeviceLease LeaseFromProto(const v1::Lease& proto) {
  DeviceLease lease = {.job_id = proto.job_id(),
                       .kind = KindFromProto(proto.kind()),
                       .purpose = proto.purpose(),
                       .owner = proto.owner(),
                       .since = TimeFromNs(proto.since_ns()),
                       .until = TimeFromNs(proto.until_ns()),
                       .idle = absl::Nanoseconds(proto.idle_ns())};
  if (proto.idle_until_ns() > 0) lease.idle_until = TimeFromNs(proto.idle_until_ns());
  return lease;
}

WaitKind KindFromProto(v1::WaitReason::Kind kind) {
  switch (kind) {
    case v1::WaitReason::NEXT:
      return WaitKind::kNext;
    case v1::WaitReason::PAUSES:
      return WaitKind::kPauses;
    case v1::WaitReason::HELD:
      return WaitKind::kHeld;
    case v1::WaitReason::RESERVED:
      return WaitKind::kReserved;
    case v1::WaitReason::TOO_LONG:
      return WaitKind::kTooLong;
    case v1::WaitReason::QUARANTINED:
      return WaitKind::kQuarantined;
    case v1::WaitReason::DRAINED:
      return WaitKind::kDrained;
    case v1::WaitReason::LOST:
      return WaitKind::kLost;
    case v1::WaitReason::NO_DEVICE:
      return WaitKind::kNoDevice;
    case v1::WaitReason::WORKERS_BUSY:
      return WaitKind::kWorkersBusy;
    case v1::WaitReason::NO_WORKER:
      return WaitKind::kNoWorker;
    default:
      return WaitKind::kUnknown;
  }
}

// For showing alone.
absl::StatusOr<WaitReason> WaitReasonFromProto(const v1::WaitReason& proto) {
  WaitReason reason = {.kind = KindFromProto(proto.kind()),
                       .device = proto.device(),
                       .until = TimeFromNs(proto.until_ns()),
                       .since = TimeFromNs(proto.since_ns()),
                       .detail = proto.detail(),
                       .fitting = proto.fitting()};
  if (proto.has_lease()) reason.lease = LeaseFromProto(proto.lease());
  if (proto.has_reservation()) {
    SLIPWAY_ASSIGN_OR_RETURN(reason.reservation, ReservationFromProto(proto.reservation()));
  }
  return reason;
}

AvailabilityState StateFromProto(v1::Availability::State state) {
  switch (state) {
    case v1::Availability::AVAILABLE:
      return AvailabilityState::kAvailable;
    case v1::Availability::RESERVED:
      return AvailabilityState::kReserved;
    case v1::Availability::DRAINING:
      return AvailabilityState::kDraining;
    case v1::Availability::DRAINED:
      return AvailabilityState::kDrained;
    case v1::Availability::QUARANTINED:
      return AvailabilityState::kQuarantined;
    default:
      return AvailabilityState::kUnknown;
  }
}

absl::StatusOr<DeviceAvailability> AvailabilityFromProto(const v1::Availability& proto) {
  DeviceAvailability availability = {.state = StateFromProto(proto.state()),
                                     .reason = proto.reason(),
                                     .by = proto.by(),
                                     .since = TimeFromNs(proto.since_ns())};
  if (proto.has_reservation()) {
    SLIPWAY_ASSIGN_OR_RETURN(availability.reservation, ReservationFromProto(proto.reservation()));
  }
  return availability;
}

absl::Status SpecFromProto(const v1::Job& proto, Job& job) {
  const v1::RunSpec* run = nullptr;
  switch (proto.spec_case()) {
    case v1::Job::kCompilation:
      job.kind = JobKind::kCompilation;
      job.model = proto.compilation().model().display_name();
      job.target = proto.compilation().target().name();
      return absl::OkStatus();
    case v1::Job::kRun:
      job.kind = JobKind::kRun;
      run = &proto.run();
      break;
    case v1::Job::kBenchmark:
      job.kind = JobKind::kBenchmark;
      run = &proto.benchmark().run();
      break;
    case v1::Job::kSession:
      job.kind = JobKind::kSession;
      job.device = proto.session().device();
      job.target = proto.session().target();
      job.purpose = proto.session().purpose();
      return absl::OkStatus();
    case v1::Job::SPEC_NOT_SET:
      return absl::InternalError("the job has no specification");
  }
  job.device = run->device();
  SLIPWAY_ASSIGN_OR_RETURN(job.artifact, FromProto(run->manifest()));
  return absl::OkStatus();
}

// For showing, whatever they are.
std::vector<Tag> TagsFromProto(const google::protobuf::RepeatedPtrField<v1::Tag>& protos) {
  std::vector<Tag> tags;
  for (const v1::Tag& tag : protos) tags.push_back({.key = tag.key(), .value = tag.value()});
  return tags;
}

absl::StatusOr<Job> UncheckedJobFromProto(const v1::Job& proto) {
  Job job = {
      .id = proto.id(),
      .owner = proto.owner(),
      .request_id = proto.request_id(),
      .revision = proto.revision(),
      .subject = proto.subject(),
      .tags = TagsFromProto(proto.tags()),
      .attempts = proto.attempts(),
      .priority = proto.priority(),
      .ahead = std::max<int64_t>(0, proto.queue_position() - 1),
      .assignee = proto.assignee(),
      .create_time = TimeFromNs(proto.create_time_ns()),
      .start_time = TimeFromNs(proto.start_time_ns()),
      .end_time = TimeFromNs(proto.end_time_ns()),
      .progress = {.stage = proto.progress().stage(),
                   .done = proto.progress().done(),
                   .total = proto.progress().total()},
  };
  SLIPWAY_ASSIGN_OR_RETURN(job.state, StateFromProto(proto.state()));
  SLIPWAY_RETURN_IF_ERROR(SpecFromProto(proto, job));
  if (proto.has_wait_reason()) {
    SLIPWAY_ASSIGN_OR_RETURN(job.waits, WaitReasonFromProto(proto.wait_reason()));
  }
  if (job.state == JobState::kFailed) {
    job.error = FromProto(proto.error());
    job.error_log = proto.error().log_tail();
  }
  if (job.state != JobState::kSucceeded) return job;

  const absl::Status wrong_result =
      absl::InternalError("the result is not of the kind of the specification");
  switch (job.kind) {
    case JobKind::kCompilation: {
      if (!proto.has_compilation_result()) return wrong_result;
      SLIPWAY_ASSIGN_OR_RETURN(job.compilation, CompilationFromProto(proto.compilation_result()));
      break;
    }
    case JobKind::kRun: {
      if (!proto.has_run_result()) return wrong_result;
      SLIPWAY_ASSIGN_OR_RETURN(job.run, RunFromProto(proto.run_result()));
      break;
    }
    case JobKind::kSession:
      if (!proto.has_session_result()) return wrong_result;
      break;
    case JobKind::kBenchmark: {
      if (!proto.has_benchmark_result()) return wrong_result;
      SLIPWAY_ASSIGN_OR_RETURN(job.benchmark, BenchmarkFromProto(proto.benchmark_result()));
      break;
    }
  }
  return job;
}

}  // namespace

AcceleratorState AcceleratorFromProto(const v1::AcceleratorState& proto) {
  return {.name = proto.name(),
          .clock_hz = proto.clock_hz(),
          .memory_clock_hz = proto.memory_clock_hz(),
          .power_milliwatts = proto.power_milliwatts(),
          .temperature_millicelsius = proto.temperature_millicelsius(),
          .memory_free_bytes = proto.memory_free_bytes(),
          .throttled = proto.throttled()};
}

MachineState MachineFromProto(const v1::MachineState& proto) {
  MachineState machine = {.cpu_frequency_hz = proto.cpu_frequency_hz(),
                          .governor = proto.governor(),
                          .temperature_millicelsius = proto.temperature_millicelsius(),
                          .load_millis = proto.load_millis()};
  for (const v1::AcceleratorState& state : proto.accelerators()) {
    machine.accelerators.push_back(AcceleratorFromProto(state));
  }
  return machine;
}

namespace {

SampleSummary SummaryFromProto(const v1::SampleSummary& proto) {
  return {.count = proto.count(),
          .min_ns = proto.min_ns(),
          .p50_ns = proto.p50_ns(),
          .p90_ns = proto.p90_ns(),
          .max_ns = proto.max_ns()};
}

absl::Status CheckSummary(const SampleSummary& summary) {
  for (const double time : {summary.min_ns, summary.p50_ns, summary.p90_ns, summary.max_ns}) {
    if (std::isfinite(time) && time > 0) continue;
    return absl::InternalError(absl::StrCat("its summary has a time of ", time, " ns"));
  }
  return absl::OkStatus();
}

absl::StatusOr<HistoryEntry> UncheckedHistoryEntryFromProto(const v1::HistoryEntry& proto) {
  const v1::DeviceDescription& device = proto.device();
  HistoryEntry entry = {.id = proto.id(),
                        .owner = proto.owner(),
                        .model = proto.model(),
                        .tags = TagsFromProto(proto.tags()),
                        .target = proto.target(),
                        .compile_key = proto.compile_key(),
                        .tools = {proto.tools().begin(), proto.tools().end()},
                        .device = {.id = device.id(),
                                   .target = device.target(),
                                   .model = device.model(),
                                   .os = device.os(),
                                   .cores = device.cores(),
                                   .memory_bytes = device.memory_bytes()},
                        .agent_version = proto.agent_version(),
                        .server_version = proto.server_version(),
                        .conditions = proto.conditions(),
                        .summary = SummaryFromProto(proto.summary()),
                        .create_time = TimeFromNs(proto.create_time_ns()),
                        .end_time = TimeFromNs(proto.end_time_ns())};
  SLIPWAY_ASSIGN_OR_RETURN_WITH(entry.artifact, FromProto(proto.manifest()), "manifest");
  SLIPWAY_RETURN_IF_ERROR(CheckSummary(entry.summary));
  SLIPWAY_ASSIGN_OR_RETURN(entry.result, UncheckedBenchmarkFromProto(proto.result()));
  return entry;
}

}  // namespace

absl::StatusOr<HistoryEntry> HistoryEntryFromProto(const v1::HistoryEntry& proto) {
  absl::StatusOr<HistoryEntry> entry = UncheckedHistoryEntryFromProto(proto);
  if (!entry.ok()) {
    return absl::InternalError(absl::StrCat(
        "entry \"", proto.id(), "\" of the history is malformed: ", entry.status().message()));
  }
  return entry;
}

v1::Job::State ToProto(JobState state) {
  switch (state) {
    case JobState::kQueued:
      return v1::Job::QUEUED;
    case JobState::kAssigned:
      return v1::Job::ASSIGNED;
    case JobState::kRunning:
      return v1::Job::RUNNING;
    case JobState::kSucceeded:
      return v1::Job::SUCCEEDED;
    case JobState::kFailed:
      return v1::Job::FAILED;
    case JobState::kCancelled:
      return v1::Job::CANCELLED;
  }
  return v1::Job::STATE_UNSPECIFIED;
}

v1::Job::Kind ToProto(JobKind kind) {
  switch (kind) {
    case JobKind::kCompilation:
      return v1::Job::COMPILATION;
    case JobKind::kRun:
      return v1::Job::RUN;
    case JobKind::kBenchmark:
      return v1::Job::BENCHMARK;
    case JobKind::kSession:
      return v1::Job::SESSION;
  }
  return v1::Job::KIND_UNSPECIFIED;
}

absl::StatusOr<Job> JobFromProto(const v1::Job& proto) {
  absl::StatusOr<Job> job = UncheckedJobFromProto(proto);
  if (!job.ok()) {
    // Whatever the code was, the server broke the protocol.
    return absl::InternalError(absl::StrCat("the server's answer on job \"", proto.id(),
                                            "\" is malformed: ", job.status().message()));
  }
  return job;
}

namespace {

DeviceInventory InventoryFromProto(const v1::DeviceInventory& proto) {
  DeviceInventory inventory = {.kernel = proto.kernel(),
                               .storage_bytes = proto.storage_bytes(),
                               .storage_free_bytes = proto.storage_free_bytes()};
  for (const v1::DeviceInventory::CoreKind& kind : proto.core_kinds()) {
    inventory.core_kinds.push_back({.cores = kind.cores(),
                                    .capacity = kind.capacity(),
                                    .max_frequency_hz = kind.max_frequency_hz()});
  }
  if (proto.power() == v1::DeviceInventory::MAINS) inventory.power = PowerSource::kMains;
  if (proto.power() == v1::DeviceInventory::BATTERY) inventory.power = PowerSource::kBattery;
  if (proto.has_charge_percent()) inventory.charge_percent = proto.charge_percent();
  if (proto.machine() == v1::DeviceInventory::PHYSICAL) inventory.machine = MachineKind::kPhysical;
  if (proto.machine() == v1::DeviceInventory::VIRTUAL) inventory.machine = MachineKind::kVirtual;
  inventory.accelerators.assign(proto.accelerators().begin(), proto.accelerators().end());
  return inventory;
}

// Administrators go before.
std::vector<DeviceLabel> LabelsFromProto(const v1::Device& proto) {
  std::map<std::string, DeviceLabel> labels;
  for (const v1::Label& label : proto.description().labels()) {
    labels[label.key()] = {.key = label.key(), .value = label.value()};
  }
  for (const v1::Label& label : proto.labels()) {
    labels[label.key()] = {.key = label.key(), .value = label.value(), .by_administrator = true};
  }
  std::vector<DeviceLabel> sorted;
  for (auto& [key, label] : labels) sorted.push_back(std::move(label));
  return sorted;
}

}  // namespace

absl::StatusOr<Device> DeviceFromProto(const v1::Device& proto) {
  const v1::DeviceDescription& description = proto.description();
  Device device = {.id = description.id(),
                   .target = description.target(),
                   .model = description.model(),
                   .os = description.os(),
                   .cores = description.cores(),
                   .memory_bytes = description.memory_bytes(),
                   .peaks = PeaksFromProto(description.peaks()),
                   .accelerator_peaks = AcceleratorPeaksFromProto(description.peaks()),
                   .job_id = proto.job_id(),
                   .last_seen = TimeFromNs(proto.last_seen_ns()),
                   .agent_version = proto.agent_version(),
                   .abis = RangeFromProto(proto.min_abi(), proto.max_abi()),
                   .formats = RangeFromProto(proto.min_format(), proto.max_format()),
                   .warning = proto.warning()};
  if (proto.has_machine()) device.machine = MachineFromProto(proto.machine());
  device.is_compiled_only = description.compiled_only();
  if (description.has_inventory()) {
    device.inventory = InventoryFromProto(description.inventory());
  }
  device.labels = LabelsFromProto(proto);
  if (description.has_confinement()) {
    const auto& missing = description.confinement().missing();
    device.confinement = DeviceConfinement{{missing.begin(), missing.end()}};
  }
  if (proto.has_lease()) device.lease = LeaseFromProto(proto.lease());
  if (proto.has_availability()) {
    SLIPWAY_ASSIGN_OR_RETURN(device.availability, AvailabilityFromProto(proto.availability()));
  }
  if (proto.has_health()) {
    device.health = DeviceHealth{.failures = proto.health().failures(),
                                 .passes = proto.health().passes(),
                                 .probe_end = TimeFromNs(proto.health().probe_end_ns()),
                                 .probe_error = proto.health().probe_error(),
                                 .probe_call = absl::Nanoseconds(proto.health().probe_call_ns()),
                                 .usual_call = absl::Nanoseconds(proto.health().usual_call_ns())};
  }
  SLIPWAY_ASSIGN_OR_RETURN(device.update, AgentUpdateFromProto(proto));
  device.offered_version = proto.offered_version();
  switch (proto.state()) {
    case v1::Device::IDLE:
      device.state = DeviceState::kIdle;
      return device;
    case v1::Device::BUSY:
      device.state = DeviceState::kBusy;
      return device;
    case v1::Device::LOST:
      device.state = DeviceState::kLost;
      return device;
    default:
      return absl::InternalError(absl::StrCat("the server's answer on device \"", device.id,
                                              "\" has an unknown state ", proto.state()));
  }
}

namespace {

std::vector<std::pair<std::string, int64_t>> CountersFromProto(const v1::ServerCounters& counters) {
  return {{"jobs_accepted", counters.jobs_accepted()},
          {"artifact_cache_hits", counters.artifact_cache_hits()},
          {"artifact_cache_misses", counters.artifact_cache_misses()},
          {"compilations_coalesced", counters.compilations_coalesced()},
          {"attempts_lost", counters.attempts_lost()},
          {"blobs_evicted", counters.blobs_evicted()},
          {"kernels_compiled", counters.kernels_compiled()},
          {"kernels_cached", counters.kernels_cached()}};
}

std::string CauseFromProto(v1::ServerRefusal::Cause cause) {
  if (cause == v1::ServerRefusal::CAUSE_UNSPECIFIED || !v1::ServerRefusal::Cause_IsValid(cause)) {
    return "unknown";
  }
  return absl::AsciiStrToLower(v1::ServerRefusal::Cause_Name(cause));
}

WaitsFor NeedFromProto(v1::WaitingSum::Need need) {
  switch (need) {
    case v1::WaitingSum::WORKER:
      return WaitsFor::kWorker;
    case v1::WaitingSum::NAMED_DEVICE:
      return WaitsFor::kNamedDevice;
    case v1::WaitingSum::ANY_DEVICE:
      return WaitsFor::kAnyDevice;
    default:
      return WaitsFor::kUnknown;
  }
}

}  // namespace

absl::StatusOr<Reservation> ReservationFromProto(const v1::Reservation& proto) {
  if (proto.from_ns() < 0 || proto.until_ns() <= proto.from_ns()) {
    return absl::InternalError(absl::StrCat("the server's answer on device \"", proto.device(),
                                            "\" has a reservation that ends before it begins"));
  }
  return Reservation{.id = proto.id(),
                     .device = proto.device(),
                     .owner = proto.owner(),
                     .purpose = proto.purpose(),
                     .from = TimeFromNs(proto.from_ns()),
                     .until = TimeFromNs(proto.until_ns())};
}

absl::StatusOr<Queue> QueueFromProto(const v1::ListQueueResponse& proto) {
  Queue queue = {.jobs = {}, .waiting = proto.waiting()};
  for (const v1::QueuedJob& job : proto.jobs()) {
    QueuedJob& read =
        queue.jobs.emplace_back(QueuedJob{.job_id = job.job_id(),
                                          .kind = KindFromProto(job.kind()),
                                          .owner = job.owner(),
                                          .subject = job.subject(),
                                          .device = job.device(),
                                          .target = job.target(),
                                          .priority = job.priority(),
                                          .ahead = std::max<int64_t>(0, job.queue_position() - 1),
                                          .since = TimeFromNs(job.since_ns()),
                                          .until = TimeFromNs(job.until_ns()),
                                          .waits = {}});
    SLIPWAY_ASSIGN_OR_RETURN(read.waits, WaitReasonFromProto(job.reason()));
  }
  return queue;
}

ServerInfo ServerInfoFromProto(const v1::ServerInfo& proto) {
  return {.version = proto.version(),
          .targets = {proto.targets().begin(), proto.targets().end()},
          .instance_id = proto.instance_id(),
          .max_blob_bytes = proto.limits().max_blob_bytes(),
          .max_model_bytes = proto.limits().max_model_bytes(),
          .max_input_bytes = proto.limits().max_input_bytes(),
          .counters = CountersFromProto(proto.counters())};
}

ServerStatus ServerStatusFromProto(const v1::ServerStatus& proto) {
  const auto sum = [](int64_t value) { return std::max<int64_t>(0, value); };
  ServerStatus status = {.version = proto.version(),
                         .uptime = absl::Nanoseconds(sum(proto.uptime_ns())),
                         .log_level = proto.log_level(),
                         .refusals = {},
                         .jobs = {},
                         .waiting = {},
                         .max_queued_jobs = sum(proto.max_queued_jobs()),
                         .devices_idle = sum(proto.devices_idle()),
                         .devices_busy = sum(proto.devices_busy()),
                         .devices_lost = sum(proto.devices_lost()),
                         .workers_present = sum(proto.workers_present()),
                         .workers_lost = sum(proto.workers_lost()),
                         .worker_places = sum(proto.worker_places()),
                         .worker_places_taken = sum(proto.worker_places_taken()),
                         .memory_bytes = sum(proto.memory_bytes()),
                         .memory_limit_bytes = sum(proto.memory_limit_bytes()),
                         .descriptors = sum(proto.descriptors()),
                         .max_descriptors = sum(proto.max_descriptors()),
                         .connections = sum(proto.connections()),
                         .max_connections = sum(proto.max_connections()),
                         .waiting_calls = sum(proto.waiting_calls()),
                         .blob_bytes = sum(proto.blob_bytes()),
                         .blob_quota_bytes = sum(proto.blob_quota_bytes()),
                         .disk_free_bytes = sum(proto.disk_free_bytes()),
                         .counters = CountersFromProto(proto.counters())};
  for (const v1::ServerRefusal& refusal : proto.refusals()) {
    status.refusals.push_back({CauseFromProto(refusal.cause()), refusal.message()});
  }
  for (const v1::JobSum& jobs : proto.jobs()) {
    status.jobs.push_back({jobs.kind(), absl::AsciiStrToLower(jobs.state()), sum(jobs.count())});
  }
  for (const v1::WaitingSum& waiting : proto.waiting()) {
    status.waiting.push_back({NeedFromProto(waiting.need()), sum(waiting.count()),
                              absl::Nanoseconds(sum(waiting.longest_ns()))});
  }
  return status;
}

}  // namespace slipway
