#include "core/passes/arena_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace slipway {
namespace {

constexpr int64_t kMaxArenaBytes = int64_t{1} << 62;
constexpr int kBarColumns = 64;

bool Overlap(const Interval& a, const Interval& b) {
  return a.first <= b.last && b.first <= a.last;
}

int64_t RoundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

int64_t LowerBound(const std::vector<Interval>& intervals, const std::vector<int64_t>& sizes) {
  std::map<int64_t, int64_t> change;  // By step; an interval's bytes go the step after its last.
  for (size_t i = 0; i < intervals.size(); ++i) {
    change[intervals[i].first] += sizes[i];
    change[int64_t{intervals[i].last} + 1] -= sizes[i];
  }
  int64_t alive = 0;
  int64_t most = 0;
  for (const auto& [step, bytes] : change) {
    alive += bytes;
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace

absl::StatusOr<ArenaPlan> PlanArena(const std::vector<Interval>& intervals, int64_t alignment) {
  std::vector<int64_t> sizes;
  sizes.reserve(intervals.size());
  int64_t total = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const Interval& interval = intervals[i];
    if (interval.bytes < 0 || interval.last < interval.first) {
      return absl::InvalidArgumentError(absl::StrCat("interval ", i, " has ", interval.bytes,
                                                     " bytes and lasts from step ", interval.first,
                                                     " to ", interval.last));
    }
    if (interval.bytes > kMaxArenaBytes - alignment ||
        total > kMaxArenaBytes - RoundUp(interval.bytes, alignment)) {
      return absl::ResourceExhaustedError("the arena exceeds 2^62 bytes");
    }
    sizes.push_back(RoundUp(interval.bytes, alignment));
    total += sizes.back();
  }

  std::vector<int> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&sizes](int a, int b) { return sizes[a] > sizes[b]; });

  ArenaPlan plan;
  plan.offsets.assign(intervals.size(), 0);
  std::vector<int> placed;  // In the order of offsets.
  placed.reserve(intervals.size());
  for (const int i : order) {
    int64_t best_offset = -1;
    int64_t best_gap = 0;
    int64_t end = 0;  // Of all pieces looked at so far that are alive with this one.
    for (const int other : placed) {
      if (!Overlap(intervals[i], intervals[other])) continue;
      const int64_t gap = plan.offsets[other] - end;
      if (gap >= sizes[i] && (best_offset < 0 || gap < best_gap)) {
        best_offset = end;
        best_gap = gap;
      }
      end = std::max(end, plan.offsets[other] + sizes[other]);
    }
    plan.offsets[i] = best_offset < 0 ? end : best_offset;
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offsets[i] + sizes[i]);
    const auto position = std::upper_bound(placed.begin(), placed.end(), i, [&plan](int a, int b) {
      return plan.offsets[a] < plan.offsets[b];
    });
    placed.insert(position, i);
  }
  plan.lower_bound_bytes = LowerBound(intervals, sizes);
  return plan;
}

std::string DumpArena(const std::vector<Interval>& intervals, const ArenaPlan& plan) {
  std::vector<int> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&plan](int a, int b) { return plan.offsets[a] < plan.offsets[b]; });
  int64_t steps = 0;
  for (const Interval& interval : intervals) {
    steps = std::max(steps, int64_t{interval.last} + 1);
  }
  const int64_t columns = std::min<int64_t>(steps, kBarColumns);
  std::string text =
      absl::StrFormat("arena %d bytes, lower bound %d\n", plan.arena_bytes, plan.lower_bound_bytes);
  for (const int i : order) {
    std::string bar(columns, '.');
    const int64_t from = intervals[i].first * columns / steps;
    const int64_t to = intervals[i].last * columns / steps;
    for (int64_t column = from; column <= to; ++column) bar[column] = '#';
    absl::StrAppendFormat(&text, "[%8d, %8d) %d..%d |%s|\n", plan.offsets[i],
                          plan.offsets[i] + intervals[i].bytes, intervals[i].first,
                          intervals[i].last, bar);
  }
  return text;
}

}  // namespace slipway
