#include "client/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/statistics/autocorrelation.h"
#include "core/statistics/centre.h"
#include "core/statistics/median.h"

namespace slipway {
namespace {

constexpr Side kA = Side::kA;
constexpr Side kB = Side::kB;
constexpr std::array<Side, 4> kRounds[] = {{kA, kB, kB, kA}, {kB, kA, kA, kB}};

constexpr int64_t kBlockNs = 20'000'000;
constexpr int kMaxSamples = 20;
// Below it there is no interval at kComparisonConfidence.
constexpr int64_t kMinCycles = 8;
// What EstimateCentre does after each is then still little beside a cycle.
constexpr int64_t kMaxCycles = 1000;

// Of a sample, nanoseconds.
double SampleMedian(const BenchmarkResult& block) {
  return std::max(1.0, Median({block.samples_ns.begin(), block.samples_ns.end()}));
}

class Comparing {
 public:
  Comparing(TimeBlocks time_blocks, const ComparisonOptions& options)
      : time_blocks_(time_blocks), log_margin_(std::log1p(options.margin)) {}

  // Finds out how long samples are, and wakes the machine up.
  absl::Status Begin() {
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<BenchmarkResult> blocks,
                             time_blocks_(kRounds[0], 1));
    double longest = 1;
    for (const BenchmarkResult& block : blocks) longest = std::max(longest, SampleMedian(block));
    samples_ = static_cast<int>(std::clamp<double>(kBlockNs / longest, 1, kMaxSamples));
    return absl::OkStatus();
  }

  absl::Status Cycle() {
    double log_ratio = 0;
    for (const std::array<Side, 4>& order : kRounds) {
      SLIPWAY_ASSIGN_OR_RETURN(const std::vector<BenchmarkResult> blocks,
                               time_blocks_(order, samples_));
      SLIPWAY_CHECK(blocks.size() == order.size(), "one result for each");
      for (size_t i = 0; i < order.size(); ++i) {
        const double call_ns =
            SampleMedian(blocks[i]) / static_cast<double>(blocks[i].iterations_per_sample);
        log_ratio += (order[i] == kB ? std::log(call_ns) : -std::log(call_ns)) / 4;
        (order[i] == kB ? b_ns_ : a_ns_).push_back(call_ns);
      }
    }
    log_ratios_.push_back(log_ratio);
    return absl::OkStatus();
  }

  int64_t cycles() const { return static_cast<int64_t>(log_ratios_.size()); }

  Comparison Result() const {
    const Estimate estimate = EstimateCentre(log_ratios_, kComparisonConfidence);
    Comparison result;
    result.ratio.value = std::exp(estimate.value);
    if (estimate.interval.has_value()) {
      const auto [low, high] = *estimate.interval;
      result.ratio.interval = {std::exp(low), std::exp(high)};
      if (low > log_margin_) result.verdict = Verdict::kWorse;
      if (high < -log_margin_) result.verdict = Verdict::kBetter;
      result.is_certain =
          result.verdict != Verdict::kSame || (-log_margin_ <= low && high <= log_margin_);
    }
    result.a_ns = Median(a_ns_);
    result.b_ns = Median(b_ns_);
    result.cycles = cycles();
    result.lag1_autocorrelation = Lag1Autocorrelation(log_ratios_);
    return result;
  }

 private:
  const TimeBlocks time_blocks_;
  const double log_margin_;
  int samples_ = 1;
  std::vector<double> log_ratios_;
  std::vector<double> a_ns_;
  std::vector<double> b_ns_;
};

}  // namespace

absl::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return "same";
    case Verdict::kBetter:
      return "better";
    case Verdict::kWorse:
      return "worse";
  }
  return "";
}

absl::StatusOr<Comparison> ComparePrograms(TimeBlocks time_blocks, const ComparisonOptions& options,
                                           const Clock& clock) {
  SLIPWAY_CHECK(options.margin > 0 && options.margin < 1, "the margin is a share");
  const absl::Duration end = clock.Monotonic() + options.limit;
  Comparing comparing(time_blocks, options);
  SLIPWAY_RETURN_IF_ERROR(comparing.Begin());
  while (true) {
    SLIPWAY_RETURN_IF_ERROR(comparing.Cycle());
    if (comparing.cycles() < kMinCycles) continue;
    const Comparison result = comparing.Result();
    if (result.is_certain || comparing.cycles() == kMaxCycles || clock.Monotonic() >= end) {
      return result;
    }
  }
}

}  // namespace slipway
