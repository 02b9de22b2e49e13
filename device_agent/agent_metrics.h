// The list of an agent's metrics, from what it counts.
#ifndef SLIPWAY_DEVICE_AGENT_AGENT_METRICS_H_
#define SLIPWAY_DEVICE_AGENT_AGENT_METRICS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/metrics/histogram.h"
#include "core/metrics/metric.h"
#include "proto/slipway/v1/agent.pb.h"

namespace slipway {

// What an agent counts since its process began. Thread-safe.
class AgentTally {
 public:
  // An attempt has begun; it has ended, after so long.
  void Begun();
  void Ended(const v1::RunAssignment& assignment, v1::RunAttemptState::State end,
             absl::Duration time);
  // A report has been answered, at a time of Clock::Monotonic; or not.
  void Synced(const absl::Status& status, absl::Duration now);

 private:
  friend std::vector<MetricFamily> AgentMetrics(const AgentTally& tally, absl::Duration now);

  static constexpr size_t kKinds = 3;  // Run, benchmark, session.
  static constexpr size_t kEnds = 3;   // Succeeded, failed, stopped.
  static constexpr size_t kCodes = 17;
  std::array<std::array<std::atomic<int64_t>, kEnds>, kKinds> ended_{};
  DurationHistogram times_[kKinds] = {DurationHistogram(kJobBounds), DurationHistogram(kJobBounds),
                                      DurationHistogram(kJobBounds)};
  std::array<std::atomic<int64_t>, kCodes> syncs_{};
  std::atomic<int64_t> answered_ns_ = -1;  // Monotonic; -1: not yet.
  std::atomic<bool> is_busy_ = false;
};

// No name of anybody or anything, and no series that a server could make.
std::vector<MetricFamily> AgentMetrics(const AgentTally& tally, absl::Duration now);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_AGENT_METRICS_H_
