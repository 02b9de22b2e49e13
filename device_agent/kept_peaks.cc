#include "device_agent/kept_peaks.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/machine_lock.h"
#include "core/base/status_macros.h"
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
  return FromProto(proto).ok() ? proto : v1::DevicePeaks();
}

}  // namespace

std::string PeaksKey(const v1::DeviceDescription& device) {
  return absl::StrCat("slipway peaks ", kMethod, ", ", device.model(), ", ", device.target(), ", ",
                      device.cores(), " cores");
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
  const absl::StatusOr<std::vector<MachinePeaks>> measured = measure(stop_.get_token());
  if (!measured.ok()) {
    if (stop_.stop_requested()) return;
    Log(LogLevel::kWarning, "cannot measure what the machine does at most",
        {{"error", measured.status().message()}});
    return;
  }
  v1::DevicePeaks peaks = ToProto(*measured);
  const absl::Status written = WriteFileAtomically(
      file_, absl::StrCat(key_, "\n", peaks.SerializeAsString()), /*durable=*/false);
  if (!written.ok()) {
    Log(LogLevel::kWarning, "cannot keep what the machine does at most; it is measured again",
        {{"error", written.message()}});
  }
  {
    absl::MutexLock lock(&mutex_);
    peaks_ = std::move(peaks);
  }
  known();
}

absl::StatusOr<std::vector<MachinePeaks>> MeasurePeaks(
    int cores, const std::optional<CacheSizes>& attached_caches, RunnerPool& runners,
    std::stop_token stop) {
  SLIPWAY_ASSIGN_OR_RETURN(
      const MachineLock alone,
      MachineLock::Acquire(MachineLock::Mode::kExclusive, absl::InfiniteDuration(),
                           [&stop] { return stop.stop_requested(); }));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<RunnerProcess> runner, runners.Take());
  std::vector<MachinePeaks> peaks;
  for (const int threads : {1, cores}) {
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
  return peaks;
}

}  // namespace slipway
