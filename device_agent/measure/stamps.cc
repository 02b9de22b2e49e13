#include "device_agent/measure/stamps.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/clock.h"

namespace slipway {
namespace {

constexpr int64_t kBlockNs = 10'000'000;
constexpr int64_t kWindowNs = 100'000'000;
// More of others than this is too much; both, since the system counts the time of others in ticks of 10 ms, and being kept
// waiting by the microsecond.
constexpr int64_t kMostMillis = 50;
constexpr int64_t kMostForeignNs = 30'000'000;
constexpr int64_t kMostWaitedNs = 100'000;

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

// Where 0 is unknown.
int64_t Least(int64_t a, int64_t b) { return a == 0 || b == 0 ? a + b : std::min(a, b); }

void MergeInto(const v1::AcceleratorState& more, v1::AcceleratorState& state) {
  state.set_clock_hz(Least(more.clock_hz(), state.clock_hz()));
  state.set_memory_clock_hz(Least(more.memory_clock_hz(), state.memory_clock_hz()));
  state.set_power_milliwatts(std::max(more.power_milliwatts(), state.power_milliwatts()));
  state.set_temperature_millicelsius(
      std::max(more.temperature_millicelsius(), state.temperature_millicelsius()));
  state.set_throttled(more.throttled() || state.throttled());
}

// Of both together; times are not known here, so that samples weigh, or both alike where there are none yet.
v1::SampleStamp Merge(const v1::SampleStamp& a, const v1::SampleStamp& b) {
  v1::SampleStamp both = b;
  const int64_t of_a = a.samples();
  const int64_t of_b = b.samples();
  const auto mean = [&](int32_t x, int32_t y) {
    if (of_a + of_b == 0) return static_cast<int32_t>((int64_t{x} + y) / 2);
    return static_cast<int32_t>((x * of_a + y * of_b) / (of_a + of_b));
  };
  both.set_samples(static_cast<int32_t>(of_a + of_b));
  both.set_waited_millis(mean(a.waited_millis(), b.waited_millis()));
  both.set_foreign_millis(mean(a.foreign_millis(), b.foreign_millis()));
  both.set_disturbed(a.disturbed() || b.disturbed());
  both.set_throttled(a.throttled() || b.throttled());
  if (a.cpu_frequency_hz() > 0 && b.cpu_frequency_hz() > 0) {
    both.set_cpu_frequency_hz(std::min(a.cpu_frequency_hz(), b.cpu_frequency_hz()));
  }
  both.set_temperature_millicelsius(
      std::max(a.temperature_millicelsius(), b.temperature_millicelsius()));
  for (int i = 0; i < std::min(a.accelerators_size(), b.accelerators_size()); ++i) {
    MergeInto(a.accelerators(i), *both.mutable_accelerators(i));
  }
  return both;
}

}  // namespace

bool WaitedTooMuch(int64_t waited_ns, int64_t wall_ns) {
  return waited_ns > kMostWaitedNs && waited_ns > wall_ns / 1000 * kMostMillis;
}

bool IsForeignTooMuch(int64_t foreign_millis, int64_t wall_ns, int processors) {
  return foreign_millis > kMostMillis &&
         foreign_millis * (wall_ns / 1000) * processors > kMostForeignNs;
}

void StampSeries::Add(int64_t end_ns, v1::SampleStamp stamp) {
  stamps_.push_back({end_ns, std::move(stamp)});
}

void StampSeries::Fill(size_t stamps, const v1::SampleStamp& found) {
  for (size_t i = stamps_.size() - std::min(stamps, stamps_.size()); i < stamps_.size(); ++i) {
    v1::SampleStamp& stamp = stamps_[i].stamp;
    stamp.set_foreign_millis(found.foreign_millis());
    stamp.set_disturbed(stamp.disturbed() || found.disturbed());
    stamp.set_throttled(found.throttled());
    stamp.set_cpu_frequency_hz(found.cpu_frequency_hz());
    stamp.set_temperature_millicelsius(found.temperature_millicelsius());
    stamp.set_governor(found.governor());
    *stamp.mutable_accelerators() = found.accelerators();
  }
  if (stamps_.size() <= kMaxStamps) return;
  std::vector<Ended> halved;
  for (size_t i = 0; i < stamps_.size(); i += 2) {
    halved.push_back(i + 1 < stamps_.size() ? Ended{stamps_[i + 1].end_ns,
                                                    Merge(stamps_[i].stamp, stamps_[i + 1].stamp)}
                                            : stamps_[i]);
  }
  stamps_ = std::move(halved);
}

void StampSeries::CountSamples(absl::Span<const int64_t> moments_ns) {
  if (stamps_.empty()) return;
  size_t at = 0;
  for (const int64_t moment : moments_ns) {
    while (at + 1 < stamps_.size() && moment > stamps_[at].end_ns) ++at;
    stamps_[at].stamp.set_samples(stamps_[at].stamp.samples() + 1);
  }
}

void StampSeries::Take(v1::BenchmarkResult& result) {
  result.clear_stamps();
  for (Ended& ended : stamps_) {
    if (ended.stamp.samples() > 0) *result.add_stamps() = std::move(ended.stamp);
  }
  stamps_.clear();
}

MachineWatch::MachineWatch(int64_t now_ns, const std::string& root, AcceleratorWatch* accelerators)
    : root_(root),
      accelerators_(accelerators),
      begin_ns_(now_ns),
      begin_times_(ReadCpuTimes(root)),
      energy_(root),
      next_ns_(now_ns + kBlockNs),
      block_ns_(now_ns),
      waited_ns_(ReadWaitedNs(root)),
      window_ns_(now_ns),
      times_(begin_times_),
      cpu_(std::max(0, sched_getcpu())),
      throttle_count_(ReadThrottleCount(cpu_, root)),
      cooling_(FindProcessorCooling(root)) {
  energy_.Read(now_ns, ReadAccelerators());
}

std::vector<AcceleratorReading> MachineWatch::ReadAccelerators() {
  return accelerators_ == nullptr ? std::vector<AcceleratorReading>() : accelerators_->Read();
}

void MachineWatch::Look(int64_t now_ns) {
  EndBlock(now_ns, ReadWaitedNs(root_));
  if (now_ns - window_ns_ >= kWindowNs) EndWindow(now_ns);
  next_ns_ = now_ns + kBlockNs;
}

void MachineWatch::LookAt(int64_t now_ns) {
  EndBlock(now_ns, std::nullopt);
  EndWindow(now_ns);
}

void MachineWatch::EndBlock(int64_t now_ns, std::optional<int64_t> waited_ns) {
  v1::SampleStamp stamp;
  stamp.set_samples(static_cast<int32_t>(samples_));
  const int64_t wall_ns = now_ns - block_ns_;
  if (waited_ns.has_value() && waited_ns_.has_value() && wall_ns > 0) {
    const int64_t more = *waited_ns - *waited_ns_;
    const double share = static_cast<double>(more) * 1000 / static_cast<double>(wall_ns);
    stamp.set_waited_millis(static_cast<int32_t>(std::clamp(share, 0.0, 1000.0)));
    stamp.set_disturbed(WaitedTooMuch(more, wall_ns));
  }
  waited_ns_ = waited_ns;
  block_ns_ = now_ns;
  samples_ = 0;
  series_.Add(now_ns, std::move(stamp));
  ++stamps_in_window_;
}

void MachineWatch::EndWindow(int64_t now_ns) {
  const int64_t wall_ns = now_ns - window_ns_;
  const std::optional<CpuTimes> times = ReadCpuTimes(root_);
  v1::SampleStamp found;
  if (times.has_value() && times_.has_value()) {
    const int64_t share = ForeignShareMillis(*times_, *times, wall_ns);
    found.set_foreign_millis(static_cast<int32_t>(share));
    found.set_disturbed(IsForeignTooMuch(share, wall_ns, times->processors));
  }
  const v1::MachineState state = ReadCpuState(cpu_, root_);
  found.set_cpu_frequency_hz(state.cpu_frequency_hz());
  found.set_temperature_millicelsius(static_cast<int32_t>(state.temperature_millicelsius()));
  found.set_governor(state.governor());
  const int64_t throttle_count = ReadThrottleCount(cpu_, root_);
  found.set_throttled(throttle_count > throttle_count_ || IsCooling(cooling_));
  const std::vector<AcceleratorReading> accelerators = ReadAccelerators();
  for (const AcceleratorReading& reading : accelerators) {
    found.set_throttled(found.throttled() || reading.state.throttled());
    *found.add_accelerators() = reading.state;
  }
  // The thread may have moved; the counts of another CPU are compared from here on.
  cpu_ = std::max(0, sched_getcpu());
  throttle_count_ = ReadThrottleCount(cpu_, root_);
  series_.Fill(stamps_in_window_, found);
  energy_.Read(now_ns, accelerators);
  times_ = times;
  window_ns_ = now_ns;
  stamps_in_window_ = 0;
}

void MachineWatch::Finish(int64_t now_ns, v1::BenchmarkResult& result) {
  if (samples_ > 0) EndBlock(now_ns, ReadWaitedNs(root_));
  if (stamps_in_window_ > 0) EndWindow(now_ns);
  if (const std::optional<CpuTimes> times = ReadCpuTimes(root_);
      times.has_value() && begin_times_.has_value()) {
    const int64_t wall_ns = now_ns - begin_ns_;
    const int64_t share = ForeignShareMillis(*begin_times_, *times, wall_ns);
    result.set_disturbed_millis(share);
    result.set_disturbed(IsForeignTooMuch(share, wall_ns, times->processors));
  }
  energy_.Finish(result);
  series_.Take(result);
}

WatchingThread::WatchingThread(AcceleratorWatch* accelerators)
    : watch_(NowNs(), "", accelerators), thread_([this] {
        while (!ended_.WaitForNotificationWithTimeout(absl::Nanoseconds(kWindowNs))) {
          watch_.LookAt(NowNs());
        }
      }) {}

WatchingThread::~WatchingThread() {
  if (!ended_.HasBeenNotified()) ended_.Notify();
  if (thread_.joinable()) thread_.join();
}

void WatchingThread::Finish(absl::Span<const int64_t> moments_ns, v1::BenchmarkResult& result) {
  ended_.Notify();
  thread_.join();
  watch_.LookAt(NowNs());
  watch_.series().CountSamples(moments_ns);
  watch_.Finish(NowNs(), result);
}

}  // namespace slipway
