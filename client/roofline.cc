#include "client/roofline.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace slipway {
namespace {

constexpr double kNanoseconds = 1e9;

double Between(double low, double high, double share) { return low + (high - low) * share; }

// What one device does at most: a number of threads together, or an accelerator.
struct Peaks {
  absl::Span<const ArithmeticPeak> arithmetic;
  absl::Span<const ReadingPeak> reading;
  const AcceleratorPeaks* accelerator = nullptr;
};

const ReadingPeak& LevelOf(const Peaks& peaks, int64_t bytes) {
  for (const ReadingPeak& level : peaks.reading) {
    if (level.bytes >= bytes) return level;
  }
  return peaks.reading.back();
}

// As peaks are called.
absl::string_view TypeOf(const StepWork& work) {
  if (work.product_precision != Precision::kFloat32) return Name(work.product_precision);
  const bool is_byte =
      work.product_type == DataType::kUint8 || work.product_type == DataType::kInt8;
  return is_byte ? "int8" : work.product_type == DataType::kBfloat16 ? "bf16" : "f32";
}

const ArithmeticPeak& ArithmeticOf(const Peaks& peaks, absl::string_view type) {
  for (const ArithmeticPeak& arithmetic : peaks.arithmetic) {
    if (arithmetic.type == type) return arithmetic;
  }
  return peaks.arithmetic.front();
}

StepLimit LimitOf(const StepTime& step, const Peaks& peaks, int64_t bytes_of_a_call) {
  const StepWork& work = *step.work;
  if (peaks.accelerator != nullptr && step.copied != CopiedBetween::kNone) {
    const bool from_host = step.copied == CopiedBetween::kFromHost;
    // Each byte is read once and written once.
    const double rate = from_host ? peaks.accelerator->from_host_bytes_per_second
                                  : peaks.accelerator->to_host_bytes_per_second;
    return {static_cast<double>(work.bytes) / 2 / rate * kNanoseconds,
            from_host ? "from host" : "to host"};
  }
  const ArithmeticPeak& arithmetic = ArithmeticOf(peaks, TypeOf(work));
  const ReadingPeak& near = LevelOf(peaks, work.bytes);
  const ReadingPeak& far = LevelOf(peaks, bytes_of_a_call);
  const double operations_ns =
      static_cast<double>(work.flops) / arithmetic.operations_per_second * kNanoseconds;
  const double data_ns =
      static_cast<double>(work.bytes - work.constant_bytes) / near.bytes_per_second * kNanoseconds;
  const double constants_ns =
      static_cast<double>(work.constant_bytes) / far.bytes_per_second * kNanoseconds;
  if (operations_ns >= data_ns + constants_ns) return {operations_ns, arithmetic.type};
  return {data_ns + constants_ns, data_ns >= constants_ns ? near.level : far.level};
}

// Of the steps of one device.
void AddLimits(absl::Span<const StepTime> steps, int device, const Peaks& peaks,
               Roofline& roofline) {
  double constants = 0;
  double largest = 0;
  for (const StepTime& step : steps) {
    if (step.device != device || !step.work.has_value()) continue;
    constants += static_cast<double>(step.work->constant_bytes);
    largest = std::max(largest, static_cast<double>(step.work->bytes - step.work->constant_bytes));
  }
  const auto bytes_of_a_call = static_cast<int64_t>(std::min(constants + largest, 1e18));
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].device != device || !steps[i].work.has_value()) continue;
    roofline.steps[i] = LimitOf(steps[i], peaks, bytes_of_a_call);
    roofline.limit_ns += roofline.steps[i]->ns;
    roofline.measured_ns += static_cast<double>(steps[i].duration_ns);
  }
}

}  // namespace

MachinePeaks PeaksOn(absl::Span<const MachinePeaks> peaks, int threads) {
  const auto above = std::find_if(peaks.begin(), peaks.end(), [threads](const MachinePeaks& each) {
    return each.threads >= threads;
  });
  if (above == peaks.end()) return peaks.back();
  if (above->threads == threads || above == peaks.begin()) return *above;
  const MachinePeaks& below = *(above - 1);
  const double share =
      static_cast<double>(threads - below.threads) / (above->threads - below.threads);
  MachinePeaks result = below;
  result.threads = threads;
  for (ArithmeticPeak& arithmetic : result.arithmetic) {
    for (const ArithmeticPeak& more : above->arithmetic) {
      if (more.type != arithmetic.type) continue;
      arithmetic.operations_per_second =
          Between(arithmetic.operations_per_second, more.operations_per_second, share);
    }
  }
  for (ReadingPeak& reading : result.reading) {
    for (const ReadingPeak& more : above->reading) {
      if (more.level != reading.level) continue;
      reading.bytes = static_cast<int64_t>(
          Between(static_cast<double>(reading.bytes), static_cast<double>(more.bytes), share));
      reading.bytes_per_second = Between(reading.bytes_per_second, more.bytes_per_second, share);
    }
  }
  return result;
}

Roofline FindLimits(absl::Span<const StepTime> steps, absl::Span<const MachinePeaks> peaks,
                    int threads, absl::Span<const AcceleratorPeaks> accelerators) {
  Roofline roofline;
  roofline.steps.resize(steps.size());
  if (peaks.empty() || threads < 1) return roofline;
  const MachinePeaks machine = PeaksOn(peaks, threads);
  AddLimits(steps, 0, {machine.arithmetic, machine.reading}, roofline);
  for (size_t i = 0; i < accelerators.size(); ++i) {
    AddLimits(steps, static_cast<int>(i) + 1,
              {accelerators[i].arithmetic, accelerators[i].reading, &accelerators[i]}, roofline);
  }
  return roofline;
}

}  // namespace slipway
