// Stamps: what state the machine was in while samples were taken, a stamp for samples that follow each other.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_STAMPS_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_STAMPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/types/span.h"
#include "device_agent/measure/accelerator_watch.h"
#include "device_agent/measure/energy.h"
#include "device_agent/measure/machine_state.h"
#include "proto/slipway/v1/run.pb.h"

namespace slipway {

inline constexpr size_t kMaxStamps = 2'048;

// Stamps by the moments at which they end. Of more than `kMaxStamps` two neighbours become one, again and again. Pure.
class StampSeries {
 public:
  // Samples that have been taken since the stamp before, 0 where they are counted later (CountSamples).
  void Add(int64_t end_ns, v1::SampleStamp stamp);
  // What was found out about the last `stamps` ones: others' share of the processors, throttling, and the state then.
  void Fill(size_t stamps, const v1::SampleStamp& found);
  size_t size() const { return stamps_.size(); }

  // Counts moments, which rise: each belongs to the first stamp that ends then or later, and those after all to the last.
  void CountSamples(absl::Span<const int64_t> moments_ns);
  // Those that have samples.
  void Take(v1::BenchmarkResult& result);

 private:
  struct Ended {
    int64_t end_ns;
    v1::SampleStamp stamp;
  };
  std::vector<Ended> stamps_;
};

// The two rules for what is too much of others: in nanoseconds of a time, and as a share of all processors, thousandths.
bool WaitedTooMuch(int64_t waited_ns, int64_t wall_ns);
bool IsForeignTooMuch(int64_t foreign_millis, int64_t wall_ns, int processors);

// Looks at the machine from time to time. The thread that takes samples calls `Sampled` after each one, which mostly looks at
// nothing: every 10 ms it asks for how long the thread was kept waiting, every 100 ms for all else, energy too. Not thread-safe.
class MachineWatch {
 public:
  // Below `root`; empty for this machine. `accelerators` are looked at, too, and outlive this; null: there are none. Begins.
  explicit MachineWatch(int64_t now_ns, const std::string& root = "",
                        AcceleratorWatch* accelerators = nullptr);

  void Sampled(int64_t now_ns) {
    ++samples_;
    if (now_ns >= next_ns_) Look(now_ns);
  }
  // Where others take samples: looks at all, for a stamp that counts none yet.
  void LookAt(int64_t now_ns);
  // Ends; sets `disturbed` and `disturbed_millis` (neither where the machine does not count), `stamps` and `energy`.
  void Finish(int64_t now_ns, v1::BenchmarkResult& result);
  // The series, to count what has been sampled.
  StampSeries& series() { return series_; }

 private:
  void Look(int64_t now_ns);
  void EndBlock(int64_t now_ns, std::optional<int64_t> waited_ns);
  void EndWindow(int64_t now_ns);
  std::vector<AcceleratorReading> ReadAccelerators();

  const std::string root_;
  AcceleratorWatch* const accelerators_;
  const int64_t begin_ns_;
  const std::optional<CpuTimes> begin_times_;
  StampSeries series_;
  EnergyMeter energy_;
  int64_t samples_ = 0;  // Since the last stamp.
  int64_t next_ns_;      // When it looks next.
  int64_t block_ns_;     // When the stamp that is to come began.
  std::optional<int64_t> waited_ns_;
  // Since the last look at all.
  int64_t window_ns_;
  size_t stamps_in_window_ = 0;
  std::optional<CpuTimes> times_;
  int cpu_ = 0;
  int64_t throttle_count_ = 0;
  const std::vector<std::string> cooling_;
};

// A MachineWatch on a thread of its own, for as long as it lives, while several threads take samples: it looks while calls are made.
class WatchingThread {
 public:
  // `accelerators` as those of MachineWatch, which this thread alone looks at meanwhile.
  explicit WatchingThread(AcceleratorWatch* accelerators = nullptr);
  ~WatchingThread();
  // Ends. `moments_ns`, on the monotonic clock, are those of samples, and rise.
  void Finish(absl::Span<const int64_t> moments_ns, v1::BenchmarkResult& result);

 private:
  MachineWatch watch_;
  absl::Notification ended_;
  std::thread thread_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_STAMPS_H_
