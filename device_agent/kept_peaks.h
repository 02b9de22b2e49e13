// What this machine does at most: measured once, and kept for as long as the machine is the same.
#ifndef SLIPWAY_DEVICE_AGENT_KEPT_PEAKS_H_
#define SLIPWAY_DEVICE_AGENT_KEPT_PEAKS_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "core/target/measure_machine.h"
#include "device_agent/runner/runner_pool.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/peaks.pb.h"

namespace slipway {

// What peaks depend on, in one line: processor, features, cores, accelerators as their vendor names them, and what measures.
std::string PeaksKey(const v1::DeviceDescription& device,
                     absl::Span<const std::string> accelerators = {});

struct MeasuredPeaks {
  v1::DevicePeaks peaks;
  // Of an accelerator they could not be measured: they are told, but not kept.
  bool is_whole = true;
};

// Thread-safe.
class KeptPeaks {
 public:
  // CANCELLED soon after `stop`.
  using Measure = std::function<absl::StatusOr<MeasuredPeaks>(std::stop_token stop)>;

  // Knows at once what `file` keeps for `key`.
  KeptPeaks(std::string file, std::string key);
  // Ends.
  ~KeptPeaks();
  KeptPeaks(const KeptPeaks&) = delete;
  KeptPeaks& operator=(const KeptPeaks&) = delete;

  // Without entries where they are not known, or not yet.
  v1::DevicePeaks Get() const;

  // Unless they are known: has a thread of its own measure them, keep them in the file and then call `known`. What goes wrong
  // is a warning in the log. Called once.
  void Find(Measure measure, std::function<void()> known);
  // Stops measuring; `known` is not called any more.
  void End();

 private:
  void Work(const Measure& measure, const std::function<void()>& known);

  const std::string file_;
  const std::string key_;
  mutable absl::Mutex mutex_;
  v1::DevicePeaks peaks_ ABSL_GUARDED_BY(mutex_);
  std::stop_source stop_;
  std::thread thread_;
};

// Of one thread, and of the device's cores together, and of the accelerators that its target names, each measured by a runner, whose memory ends with
// it: of this machine, or of the one that is attached, which has `attached_caches`. What goes wrong with an accelerator is a warning in the log. Waits until this machine is free of compilations and benchmarks (core/base/machine_lock.h), and holds them off meanwhile. Errors of
// the lock and of RunnerProcess; CANCELLED after `stop`, unless it has begun.
absl::StatusOr<MeasuredPeaks> MeasurePeaks(const v1::DeviceDescription& device,
                                           const std::optional<CacheSizes>& attached_caches,
                                           RunnerPool& runners, std::stop_token stop);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_KEPT_PEAKS_H_
