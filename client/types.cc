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

}  // namespace slipway
