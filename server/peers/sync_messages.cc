#include "server/peers/sync_messages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/wire/device_attributes_proto.h"
#include "core/wire/digest_proto.h"
#include "core/wire/peaks_proto.h"
#include "core/wire/status_proto.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/peers/bounds.h"
#include "server/peers/protocol.h"
#include "server/workers/target_fingerprints.h"

namespace slipway::server {
namespace {

// Of AgentUpdate.failure.
constexpr size_t kMaxUpdateFailureBytes = 1024;
constexpr size_t kMaxGovernorBytes = 64;

// For people, and no part of it is followed: its beginning says most.
std::string Clip(const std::string& text, size_t most) {
  return std::string(Utf8Prefix(text, most));
}

// A result that is more than a result may be fails its attempt and nothing else: the peer goes on.
absl::Status CheckResult(const google::protobuf::Message& result) {
  SLIPWAY_RETURN_IF_ERROR(CheckBounds(result));
  const auto bytes = static_cast<int64_t>(result.ByteSizeLong());
  if (bytes <= kMaxResultBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the result has ", bytes, " bytes; at most ", kMaxResultBytes));
}

template <typename Result>
void TakeResult(const Result& result, LeaseReport& lease) {
  const absl::Status status = CheckResult(result);
  if (status.ok()) {
    lease.result = result;
  } else {
    lease.stage = LeaseReport::Stage::kFailed;
    lease.error = ToProto(
        absl::InternalError(absl::StrCat("what was reported is refused: ", status.message())), "");
    lease.retriable = false;
  }
}

template <typename State>
absl::Status CheckHeader(const State& state) {
  return CheckReportHeader({.instance_id = state.instance_id(),
                            .version = state.version(),
                            .applied_version = state.applied_version(),
                            .min_protocol = state.min_protocol(),
                            .max_protocol = state.max_protocol(),
                            .attempts = state.attempts_size(),
                            .park_ns = state.park_ns()});
}

template <typename State>
absl::Status CheckAttemptIds(const State& state) {
  for (const auto& attempt : state.attempts()) {
    if (attempt.attempt_id().size() <= kMaxAttemptIdBytes) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "an attempt_id has ", attempt.attempt_id().size(), " bytes; at most ", kMaxAttemptIdBytes));
  }
  return absl::OkStatus();
}

template <typename State>
Report ReadHeader(const State& state, std::string peer, absl::string_view address) {
  return {.call = {.peer = std::move(peer),
                   .instance_id = state.instance_id(),
                   .sequence = state.sequence(),
                   .address = std::string(address)},
          .version = state.version(),
          .applied_version = state.applied_version()};
}

// What attempts of both kinds have alike.
template <typename Attempt>
LeaseReport ReadLease(const Attempt& attempt, LeaseReport::Stage stage) {
  LeaseReport lease{.id = attempt.attempt_id(), .stage = stage};
  if (attempt.has_progress()) {
    lease.progress = attempt.progress();
    lease.progress->set_stage(Clip(attempt.progress().stage(), kMaxStageBytes));
  }
  lease.error = ToProto(FromProto(attempt.error()), attempt.error().log_tail());
  lease.error.set_message(Clip(lease.error.message(), kMaxErrorMessageBytes));
  lease.retriable = attempt.retriable();
  return lease;
}

LeaseReport::Stage StageOf(v1::RunAttemptState::State state) {
  switch (state) {
    case v1::RunAttemptState::PREPARING:
      return LeaseReport::Stage::kPreparing;
    case v1::RunAttemptState::RUNNING:
      return LeaseReport::Stage::kRunning;
    case v1::RunAttemptState::SUCCEEDED:
      return LeaseReport::Stage::kSucceeded;
    case v1::RunAttemptState::FAILED:
      return LeaseReport::Stage::kFailed;
    case v1::RunAttemptState::STOPPED:
      return LeaseReport::Stage::kStopped;
    default:
      return LeaseReport::Stage::kUnknown;
  }
}

LeaseReport::Stage StageOf(v1::CompileAttemptState::State state) {
  switch (state) {
    case v1::CompileAttemptState::RUNNING:
      return LeaseReport::Stage::kRunning;
    case v1::CompileAttemptState::SUCCEEDED:
      return LeaseReport::Stage::kSucceeded;
    case v1::CompileAttemptState::FAILED:
      return LeaseReport::Stage::kFailed;
    case v1::CompileAttemptState::STOPPED:
      return LeaseReport::Stage::kStopped;
    default:
      return LeaseReport::Stage::kUnknown;
  }
}

absl::Status CheckDescription(const v1::DeviceDescription& description) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("device id", description.id()));
  if (description.model().size() > kMaxDescriptionBytes ||
      description.os().size() > kMaxDescriptionBytes) {
    return absl::InvalidArgumentError(absl::StrCat("device '", description.id(),
                                                   "' describes itself in more than ",
                                                   kMaxDescriptionBytes, " bytes"));
  }
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckBounds(description),
                               absl::StrCat("device '", description.id(), "'"));
  SLIPWAY_RETURN_IF_ERROR_WITH(CheckInventory(description.inventory()),
                               absl::StrCat("device '", description.id(), "'"));
  SLIPWAY_RETURN_IF_ERROR_WITH(FromProto(description.labels()).status(),
                               absl::StrCat("device '", description.id(), "'"));
  SLIPWAY_RETURN_IF_ERROR_WITH(FromProto(description.peaks()).status(),
                               absl::StrCat("device '", description.id(), "'"));
  return absl::OkStatus();
}

// As it is kept.
absl::StatusOr<v1::AgentUpdate> ReadUpdate(const v1::AgentUpdate& reported) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("platform", reported.platform()));
  SLIPWAY_RETURN_IF_ERROR(FromProto(reported.binary()).status());
  v1::AgentUpdate update;
  update.set_platform(reported.platform());
  *update.mutable_binary() = reported.binary();
  update.mutable_binary()->DiscardUnknownFields();
  // Ids of this server's own making; others are of another server, and mean nothing here.
  if (CheckJobId(reported.taking()).ok()) update.set_taking(reported.taking());
  if (CheckJobId(reported.failed()).ok()) {
    update.set_failed(reported.failed());
    update.set_failure(Clip(ToUtf8(reported.failure()), kMaxUpdateFailureBytes));
  }
  return update;
}

// As it is shown.
absl::StatusOr<v1::MachineState> ReadMachine(const v1::MachineState& reported) {
  v1::MachineState machine;
  if (reported.cpu_frequency_hz() < 0 || reported.load_millis() < 0) {
    return absl::InvalidArgumentError("machine: a frequency or load is negative");
  }
  machine.set_cpu_frequency_hz(reported.cpu_frequency_hz());
  machine.set_governor(Clip(ToUtf8(reported.governor()), kMaxGovernorBytes));
  machine.set_temperature_millicelsius(reported.temperature_millicelsius());
  machine.set_load_millis(reported.load_millis());
  return machine;
}

// `proto` has the ranges of versions.
template <typename Proto>
absl::StatusOr<DeviceSupply> ReadDevice(const v1::DeviceDescription& description,
                                        const Proto& proto) {
  DeviceSupply supply{.device = description.id(), .offer = {}};
  SLIPWAY_ASSIGN_OR_RETURN(supply.offer.target, ParseTarget(description.target()));
  SLIPWAY_ASSIGN_OR_RETURN(supply.offer.abis,
                           ReadVersionRange(proto.min_abi(), proto.max_abi(), "kernel ABIs"));
  SLIPWAY_ASSIGN_OR_RETURN(
      supply.offer.formats,
      ReadVersionRange(proto.min_format(), proto.max_format(), "manifest formats"));
  supply.offer.max_session = proto.max_session();
  supply.offer.max_benchmark = proto.max_benchmark();
  supply.offer.is_compiled_only = description.compiled_only();
  return supply;
}

}  // namespace

absl::StatusOr<Report> ReadReport(const v1::AgentState& state, absl::string_view address) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("agent_id", state.agent_id()));
  SLIPWAY_RETURN_IF_ERROR(CheckHeader(state));
  SLIPWAY_RETURN_IF_ERROR(CheckAttemptIds(state));
  if (state.devices_size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("agent '", state.agent_id(), "' has ",
                                                   state.devices_size(),
                                                   " devices; exactly one wanted"));
  }
  Report report = ReadHeader(state, AgentKey(state.agent_id()), address);
  report.description = state.devices(0);
  // What only a later protocol knows is not kept: nothing here has checked it.
  report.description.DiscardUnknownFields();
  SLIPWAY_RETURN_IF_ERROR(CheckDescription(report.description));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(report.supply, ReadDevice(report.description, state),
                                absl::StrCat("device '", report.description.id(), "'"));
  report.capacity = 1;  // A device does one thing at a time.
  report.is_leaving = state.leaving();
  if (state.has_update()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(report.update, ReadUpdate(state.update()),
                                  absl::StrCat("device '", report.description.id(), "'"));
  }
  if (state.has_machine()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(report.machine, ReadMachine(state.machine()),
                                  absl::StrCat("device '", report.description.id(), "'"));
  }
  for (const v1::RunAttemptState& attempt : state.attempts()) {
    LeaseReport& lease = report.leases.emplace_back(ReadLease(attempt, StageOf(attempt.state())));
    if (attempt.has_run_result()) TakeResult(attempt.run_result(), lease);
    if (attempt.has_benchmark_result()) TakeResult(attempt.benchmark_result(), lease);
    if (attempt.has_session_result()) TakeResult(attempt.session_result(), lease);
  }
  return report;
}

absl::StatusOr<Report> ReadReport(const v1::WorkerState& state, absl::string_view address) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("worker_id", state.worker_id()));
  SLIPWAY_RETURN_IF_ERROR(CheckHeader(state));
  SLIPWAY_RETURN_IF_ERROR(CheckAttemptIds(state));
  Report report = ReadHeader(state, WorkerKey(state.worker_id()), address);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(report.supply, TargetFingerprintsOf(state),
                                absl::StrCat("worker '", state.worker_id(), "'"));
  if (state.capacity() < 1 || state.capacity() > kMaxWorkerCapacity) {
    return absl::InvalidArgumentError(absl::StrCat("worker '", state.worker_id(), "' has capacity ",
                                                   state.capacity(), "; 1 to ", kMaxWorkerCapacity,
                                                   " wanted"));
  }
  report.capacity = state.capacity();
  for (const v1::CompileAttemptState& attempt : state.attempts()) {
    LeaseReport& lease = report.leases.emplace_back(ReadLease(attempt, StageOf(attempt.state())));
    TakeResult(attempt.result(), lease);
  }
  return report;
}

void WriteDesired(const DesiredState& desired, v1::DesiredAgentState* answer) {
  answer->set_version(desired.version);
  answer->set_silence_ns(absl::ToInt64Nanoseconds(desired.silence));
  answer->set_log_level(desired.log_level);
  answer->set_return_within_ns(absl::ToInt64Nanoseconds(desired.return_within));
  if (desired.offer != nullptr) {
    answer->mutable_offer()->set_id(desired.offer->offer().id());
    *answer->mutable_offer()->mutable_statement() = desired.offer->statement();
  }
  for (const auto& lease : desired.leases) {
    v1::RunAssignment& assignment = *answer->add_attempts();
    assignment = lease->along;
    assignment.set_attempt_id(lease->id);
    assignment.set_job_id(lease->job_id);
    assignment.set_request_id(lease->request_id);
    assignment.set_device(lease->assignee);
    assignment.set_deadline_ns(lease->deadline_ns);
    if (lease->spec.has_benchmark()) {
      *assignment.mutable_benchmark() = lease->spec.benchmark();
    } else if (lease->spec.has_run()) {
      *assignment.mutable_run() = lease->spec.run();
    }
  }
}

void WriteDesired(const DesiredState& desired, v1::DesiredWorkerState* answer) {
  answer->set_version(desired.version);
  answer->set_silence_ns(absl::ToInt64Nanoseconds(desired.silence));
  answer->set_log_level(desired.log_level);
  for (const auto& lease : desired.leases) {
    v1::CompileAssignment& assignment = *answer->add_attempts();
    assignment.set_attempt_id(lease->id);
    assignment.set_job_id(lease->job_id);
    assignment.set_request_id(lease->request_id);
    *assignment.mutable_spec() = lease->spec.compilation();
    assignment.set_compile_key(lease->compile_key);
    assignment.set_deadline_ns(lease->deadline_ns);
  }
}

absl::StatusOr<DeviceSupply> ReadSupply(const v1::Device& device) {
  return ReadDevice(device.description(), device);
}

}  // namespace slipway::server
