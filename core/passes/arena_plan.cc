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

bool Overlap(const ArenaPiece& a, const ArenaPiece& b) {
  return a.first <= b.last && b.first <= a.last;
}

int64_t RoundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

int64_t LowerBound(const std::vector<ArenaPiece>& pieces, const std::vector<int64_t>& sizes) {
  std::map<int64_t, int64_t> change;  // By step; a piece's bytes go the step after its last.
  for (size_t i = 0; i < pieces.size(); ++i) {
    change[pieces[i].first] += sizes[i];
    change[int64_t{pieces[i].last} + 1] -= sizes[i];
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

absl::StatusOr<ArenaPlan> PlanArena(const std::vector<ArenaPiece>& pieces, int64_t alignment) {
  std::vector<int64_t> sizes;
  sizes.reserve(pieces.size());
  int64_t total = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const ArenaPiece& piece = pieces[i];
    if (piece.bytes < 0 || piece.last < piece.first) {
      return absl::InvalidArgumentError(absl::StrCat("piece ", i, " has ", piece.bytes,
                                                     " bytes and lasts from step ", piece.first,
                                                     " to ", piece.last));
    }
    if (piece.bytes > kMaxArenaBytes - alignment ||
        total > kMaxArenaBytes - RoundUp(piece.bytes, alignment)) {
      return absl::ResourceExhaustedError("the arena exceeds 2^62 bytes");
    }
    sizes.push_back(RoundUp(piece.bytes, alignment));
    total += sizes.back();
  }

  std::vector<int> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&sizes](int a, int b) { return sizes[a] > sizes[b]; });

  ArenaPlan plan;
  plan.offsets.assign(pieces.size(), 0);
  std::vector<int> placed;  // In the order of offsets.
  placed.reserve(pieces.size());
  for (const int i : order) {
    int64_t best_offset = -1;
    int64_t best_gap = 0;
    int64_t end = 0;  // Of all pieces looked at so far that are alive with this one.
    for (const int other : placed) {
      if (!Overlap(pieces[i], pieces[other])) continue;
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
  plan.lower_bound_bytes = LowerBound(pieces, sizes);
  return plan;
}

std::string DumpArena(const std::vector<ArenaPiece>& pieces, const ArenaPlan& plan) {
  std::vector<int> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&plan](int a, int b) { return plan.offsets[a] < plan.offsets[b]; });
  int64_t steps = 0;
  for (const ArenaPiece& piece : pieces) {
    steps = std::max(steps, int64_t{piece.last} + 1);
  }
  const int64_t columns = std::min<int64_t>(steps, kBarColumns);
  std::string text =
      absl::StrFormat("arena %d bytes, lower bound %d\n", plan.arena_bytes, plan.lower_bound_bytes);
  for (const int i : order) {
    std::string bar(columns, '.');
    const int64_t from = pieces[i].first * columns / steps;
    const int64_t to = pieces[i].last * columns / steps;
    for (int64_t column = from; column <= to; ++column) bar[column] = '#';
    absl::StrAppendFormat(&text, "[%8d, %8d) %d..%d |%s|\n", plan.offsets[i],
                          plan.offsets[i] + pieces[i].bytes, pieces[i].first, pieces[i].last, bar);
  }
  return text;
}

}  // namespace slipway
