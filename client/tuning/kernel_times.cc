#include "client/tuning/kernel_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/string_view.h"
#include "core/base/check.h"

namespace slipway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double Least(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

// How far apart the least ones of every second value and of the others are.
double Noise(const std::vector<double>& values) {
  double least[2] = {kNever, kNever};
  for (size_t i = 0; i < values.size(); ++i) least[i % 2] = std::min(least[i % 2], values[i]);
  const double low = std::min(least[0], least[1]);
  if (low <= 0 || values.size() < 2) return 0;
  return std::max(least[0], least[1]) / low - 1;
}

// "NAME" of "NAME, 2 of 3".
absl::string_view NameOfLaunches(absl::string_view step) {
  const size_t comma = step.rfind(", ");
  if (comma == absl::string_view::npos) return step;
  const absl::string_view end = step.substr(comma + 2);
  const bool counts = end.find(" of ") != absl::string_view::npos &&
                      end.find_first_not_of("0123456789 of") == absl::string_view::npos;
  return counts ? step.substr(0, comma) : step;
}

}  // namespace

KernelOfStep::KernelOfStep(const std::vector<KernelCandidates>& kernels) {
  for (const KernelCandidates& kernel : kernels) {
    for (const std::string& step : kernel.steps) {
      const auto [entry, is_new] = kernel_of_.emplace(step, kernel.kernel);
      if (!is_new && entry->second != kernel.kernel) entry->second.clear();
    }
  }
}

const std::string* KernelOfStep::Find(const std::string& step) const {
  auto found = kernel_of_.find(step);
  if (found == kernel_of_.end()) found = kernel_of_.find(std::string(NameOfLaunches(step)));
  return found == kernel_of_.end() || found->second.empty() ? nullptr : &found->second;
}

bool IsBetter(const KernelTimes& times, double least_gain) {
  const double margin = std::max(least_gain, times.noise);
  return times.is_less_in_each_round && times.b_ns * (1 + margin) < times.a_ns;
}

void TimesInTurns::AddRound(absl::Span<const Side> order,
                            const std::vector<std::vector<StepTime>>& blocks,
                            const KernelOfStep& kernel_of) {
  SLIPWAY_CHECK(blocks.size() == order.size(), "the steps of a call for each");
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool is_a = order[i] == Side::kA;
    std::map<std::string, double> sums;
    std::vector<double>& least = is_a ? steps_a_ : steps_b_;
    least.resize(std::max(least.size(), blocks[i].size()), kNever);
    for (size_t step = 0; step < blocks[i].size(); ++step) {
      const auto ns = static_cast<double>(blocks[i][step].duration_ns);
      least[step] = std::min(least[step], ns);
      const std::string* kernel = kernel_of.Find(blocks[i][step].name);
      if (kernel != nullptr) sums[*kernel] += ns;
    }
    for (const auto& [kernel, ns] : sums) {
      Blocks& of_side = is_a ? kernels_[kernel].a : kernels_[kernel].b;
      of_side.ns.push_back(ns);
      of_side.round.push_back(rounds_);
    }
  }
  ++rounds_;
}

KernelTimes TimesInTurns::Of(const std::string& kernel) const {
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end()) return {};
  const auto& [a, b] = found->second;
  std::vector<double> round_a(rounds_, kNever), round_b(rounds_, kNever);
  for (size_t i = 0; i < a.ns.size(); ++i) {
    round_a[a.round[i]] = std::min(round_a[a.round[i]], a.ns[i]);
  }
  for (size_t i = 0; i < b.ns.size(); ++i) {
    round_b[b.round[i]] = std::min(round_b[b.round[i]], b.ns[i]);
  }
  KernelTimes times{.a_ns = Least(a.ns),
                    .b_ns = Least(b.ns),
                    .noise = std::max(Noise(a.ns), Noise(b.ns)),
                    .is_less_in_each_round = rounds_ > 0};
  for (size_t round = 0; round < rounds_; ++round) {
    if (!(round_b[round] < round_a[round])) times.is_less_in_each_round = false;
  }
  return times;
}

double TimesInTurns::WholeNs(Side side) const {
  const std::vector<double>& steps = side == Side::kA ? steps_a_ : steps_b_;
  return std::accumulate(steps.begin(), steps.end(), 0.0);
}

}  // namespace slipway
