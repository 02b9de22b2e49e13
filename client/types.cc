#include "client/types.h"

#include "core/base/check.h"

namespace slipway {

absl::string_view Name(JobState state) {
  switch (state) {
    case JobState::kQueued:
      return "queued";
    case JobState::kAssigned:
      return "assigned";
    case JobState::kRunning:
      return "running";
    case JobState::kSucceeded:
      return "succeeded";
    case JobState::kFailed:
      return "failed";
    case JobState::kCancelled:
      return "cancelled";
  }
  SLIPWAY_CHECK(false, "no such state");
  return "";
}

absl::string_view Name(JobKind kind) {
  switch (kind) {
    case JobKind::kCompilation:
      return "compilation";
    case JobKind::kRun:
      return "run";
    case JobKind::kBenchmark:
      return "benchmark";
    case JobKind::kSession:
      return "session";
  }
  SLIPWAY_CHECK(false, "no such kind");
  return "";
}

absl::string_view Name(ScenarioKind kind) {
  switch (kind) {
    case ScenarioKind::kSingleStream:
      return "single-stream";
    case ScenarioKind::kMultiStream:
      return "multi-stream";
    case ScenarioKind::kOffline:
      return "offline";
    case ScenarioKind::kServer:
      break;
  }
  return "server";
}

absl::string_view Name(DeviceState state) {
  switch (state) {
    case DeviceState::kIdle:
      return "idle";
    case DeviceState::kBusy:
      return "busy";
    case DeviceState::kLost:
      return "lost";
  }
  SLIPWAY_CHECK(false, "no such state");
  return "";
}

absl::string_view Name(WaitKind kind) {
  switch (kind) {
    case WaitKind::kUnknown:
      return "unknown";
    case WaitKind::kNext:
      return "next";
    case WaitKind::kPauses:
      return "pauses";
    case WaitKind::kHeld:
      return "held";
    case WaitKind::kReserved:
      return "reserved";
    case WaitKind::kTooLong:
      return "too long";
    case WaitKind::kQuarantined:
      return "quarantined";
    case WaitKind::kDrained:
      return "drained";
    case WaitKind::kLost:
      return "lost";
    case WaitKind::kNoDevice:
      return "no device";
    case WaitKind::kWorkersBusy:
      return "workers busy";
    case WaitKind::kNoWorker:
      return "no worker";
  }
  SLIPWAY_CHECK(false, "no such kind");
  return "";
}

absl::string_view Name(AvailabilityState state) {
  switch (state) {
    case AvailabilityState::kUnknown:
      return "unknown";
    case AvailabilityState::kAvailable:
      return "available";
    case AvailabilityState::kReserved:
      return "reserved";
    case AvailabilityState::kDraining:
      return "draining";
    case AvailabilityState::kDrained:
      return "drained";
    case AvailabilityState::kQuarantined:
      return "quarantined";
  }
  SLIPWAY_CHECK(false, "no such state");
  return "";
}

absl::string_view Name(PowerSource source) {
  switch (source) {
    case PowerSource::kUnknown:
      return "unknown";
    case PowerSource::kMains:
      return "mains";
    case PowerSource::kBattery:
      return "battery";
  }
  SLIPWAY_CHECK(false, "no such source of power");
  return "";
}

absl::string_view Name(MachineKind kind) {
  switch (kind) {
    case MachineKind::kUnknown:
      return "unknown";
    case MachineKind::kPhysical:
      return "physical";
    case MachineKind::kVirtual:
      return "virtual";
  }
  SLIPWAY_CHECK(false, "no such kind of machine");
  return "";
}

}  // namespace slipway
