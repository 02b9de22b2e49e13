#include "device_agent/kept_peaks.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/machine_lock.h"
#include "core/base/status_macros.h"
#include "core/target/machine_peaks.h"
#include "core/target/target.h"
#include "core/wire/peaks_proto.h"
#include "device_agent/runner/runner.pb.h"
#include "device_agent/runner/runner_process.h"

namespace slipway {
namespace {

constexpr int64_t kMaxFileBytes = 1 << 20;

// It takes less than a second where the machine is not lent to others meanwhile.
constexpr absl::Duration kMostToMeasure = absl::Minutes(1);

// Raised when peaks are measured in another way.
constexpr int kMethod = 1;

// Without entries where the file does not have them.
v1::DevicePeaks ReadPeaks(const std::string& file, const std::string& key) {
  const absl::StatusOr<std::string> text = ReadFile(file, kMaxFileBytes);
  if (!text.ok()) return {};
  absl::string_view bytes = *text;
  if (!absl::ConsumePrefix(&bytes, absl::StrCat(key, "\n"))) return {};
  v1::DevicePeaks proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  const bool is_good = FromProto(proto).ok() && AcceleratorsFromProto(proto).ok();
  return is_good ? proto : v1::DevicePeaks();
}

// How many accelerators programs for the device may use that peaks are measured of.
int CountAccelerators(const v1::DeviceDescription& device) {
  const absl::StatusOr<Target> target = ParseTarget(device.target());
  if (!target.ok()) return 0;
  return static_cast<int>(absl::c_count_if(
      target->devices, [](const DeviceTarget& each) { return each.arch == Arch::kCuda; }));
}

absl::StatusOr<std::vector<AcceleratorPeaks>> MeasureAccelerators(int count, RunnerPool& runners) {
  std::vector<AcceleratorPeaks> all;
  for (int number = 0; number < count; ++number) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<RunnerProcess> runner, runners.Take());
    runner::Request request;
    request.mutable_measure_accelerator_peaks()->set_number(number);
    SLIPWAY_ASSIGN_OR_RETURN(const runner::Response response,
                             runner->Ask(request, SystemClock().Monotonic() + kMostToMeasure));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<AcceleratorPeaks> measured,
                             AcceleratorsFromProto(response.peaks()));
    all.insert(all.end(), measured.begin(), measured.end());
  }
  return all;
}

}  // namespace

std::string PeaksKey(const v1::DeviceDescription& device,
                     absl::Span<const std::string> accelerators) {
  std::string key = absl::StrCat("slipway peaks ", kMethod, ", ", device.model(), ", ",
                                 device.target(), ", ", device.cores(), " cores");
  for (const std::string& accelerator : accelerators) absl::StrAppend(&key, ", ", accelerator);
  return key;
}

KeptPeaks::KeptPeaks(std::string file, std::string key)
    : file_(std::move(file)), key_(std::move(key)), peaks_(ReadPeaks(file_, key_)) {}

KeptPeaks::~KeptPeaks() { End(); }

void KeptPeaks::End() {
  stop_.request_stop();
  if (thread_.joinable()) thread_.join();
}

v1::DevicePeaks KeptPeaks::Get() const {
  absl::MutexLock lock(&mutex_);
  return peaks_;
}

void KeptPeaks::Find(Measure measure, std::function<void()> known) {
  if (Get().on_threads_size() > 0) return;
  thread_ = std::thread(
      [this, measure = std::move(measure), known = std::move(known)] { Work(measure, known); });
}

void KeptPeaks::Work(const Measure& measure, const std::function<void()>& known) {
  absl::StatusOr<MeasuredPeaks> measured = measure(stop_.get_token());
  if (!measured.ok()) {
    if (stop_.stop_requested()) return;
    Log(LogLevel::kWarning, "cannot measure what the machine does at most",
        {{"error", measured.status().message()}});
    return;
  }
  if (measured->is_whole) {
    const absl::Status written = WriteFileAtomically(
        file_, absl::StrCat(key_, "\n", measured->peaks.SerializeAsString()), /*durable=*/false);
    if (!written.ok()) {
      Log(LogLevel::kWarning, "cannot keep what the machine does at most; it is measured again",
          {{"error", written.message()}});
    }
  }
  {
    absl::MutexLock lock(&mutex_);
    peaks_ = std::move(measured->peaks);
  }
  known();
}

absl::StatusOr<MeasuredPeaks> MeasurePeaks(const v1::DeviceDescription& device,
                                           const std::optional<CacheSizes>& attached_caches,
                                           RunnerPool& runners, std::stop_token stop) {
  SLIPWAY_ASSIGN_OR_RETURN(
      const MachineLock alone,
      MachineLock::Acquire(MachineLock::Mode::kExclusive, absl::InfiniteDuration(),
                           [&stop] { return stop.stop_requested(); }));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<RunnerProcess> runner, runners.Take());
  std::vector<MachinePeaks> peaks;
  for (const int threads : {1, device.cores()}) {
    if (!peaks.empty() && threads == 1) break;
    runner::Request request;
    request.mutable_measure_peaks()->set_threads(threads);
    if (attached_caches.has_value()) {
      for (const CacheSize& cache :
           {attached_caches->l1, attached_caches->l2, attached_caches->l3}) {
        runner::MeasurePeaks::Cache& told = *request.mutable_measure_peaks()->add_caches();
        told.set_bytes(cache.bytes);
        told.set_processors(cache.processors);
      }
    }
    SLIPWAY_ASSIGN_OR_RETURN(const runner::Response response,
                             runner->Ask(request, SystemClock().Monotonic() + kMostToMeasure));
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<MachinePeaks> measured, FromProto(response.peaks()));
    peaks.insert(peaks.end(), measured.begin(), measured.end());
  }
  const absl::StatusOr<std::vector<AcceleratorPeaks>> accelerators =
      MeasureAccelerators(CountAccelerators(device), runners);
  if (accelerators.ok()) return MeasuredPeaks{ToProto(peaks, *accelerators)};
  Log(LogLevel::kWarning, "cannot measure what the machine's accelerators do at most",
      {{"error", accelerators.status().message()}});
  return MeasuredPeaks{ToProto(peaks), /*is_whole=*/false};
}

}  // namespace slipway
