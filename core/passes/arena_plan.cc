#include "core/passes/arena_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/round_up.h"

namespace slipway {
namespace {

constexpr int64_t kMaxArenaBytes = int64_t{1} << 62;
constexpr int kBarColumns = 64;
// How often an order is improved on: as often as it takes to look at this many pairs of pieces, within these bounds.
constexpr int64_t kPairsLookedAt = int64_t{1} << 23;
constexpr int64_t kMaxRounds = 200;

struct Alive {
  int64_t from;  // The step since which it is so.
  int64_t bytes;
};

// By step, wherever it changes.
std::vector<Alive> AliveBytes(const std::vector<ArenaPiece>& pieces,
                              const std::vector<int64_t>& sizes) {
  std::map<int64_t, int64_t> change;  // A piece's bytes go the step after its last.
  for (size_t i = 0; i < pieces.size(); ++i) {
    change[pieces[i].first] += sizes[i];
    change[int64_t{pieces[i].last} + 1] -= sizes[i];
  }
  std::vector<Alive> alive;
  int64_t bytes = 0;
  for (const auto& [step, difference] : change) alive.push_back({step, bytes += difference});
  return alive;
}

int64_t LowerBound(const std::vector<Alive>& alive) {
  int64_t most = 0;
  for (const Alive& some : alive) most = std::max(most, some.bytes);
  return most;
}

using Order = std::vector<int>;  // Of pieces.

Order OrderBySize(const std::vector<int64_t>& sizes) {
  Order order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&sizes](int a, int b) { return sizes[a] > sizes[b]; });
  return order;
}

// Those first that are alive when most is; of these the longest, and then the largest.
Order OrderByBreadth(const std::vector<ArenaPiece>& pieces, const std::vector<int64_t>& sizes,
                     const std::vector<Alive>& alive) {
  std::vector<std::tuple<int64_t, int, int64_t>> rank;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& [first, last, unused] = pieces[i];
    auto some =
        std::lower_bound(alive.begin(), alive.end(), first,
                         [](const Alive& entry, int64_t step) { return entry.from < step; });
    int64_t breadth = 0;
    for (; some != alive.end() && some->from <= last; ++some) {
      breadth = std::max(breadth, some->bytes);
    }
    rank.emplace_back(breadth, last - first, sizes[i]);
  }
  Order order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&rank](int a, int b) { return rank[a] > rank[b]; });
  return order;
}

struct Layout {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

// Each piece into the lowest gap that holds it.
Layout PlaceInOrder(const std::vector<ArenaPiece>& pieces, const std::vector<int64_t>& sizes,
                    const Order& order) {
  struct Placed {
    int64_t begin;
    int64_t end;
    int first;
    int last;
  };
  Layout layout;
  layout.offsets.assign(pieces.size(), 0);
  std::vector<Placed> placed;  // By where they begin.
  placed.reserve(pieces.size());
  for (const int i : order) {
    int64_t begin = 0;  // The end of all looked at so far that are alive with this one.
    for (const Placed& other : placed) {
      if (other.last < pieces[i].first || pieces[i].last < other.first) continue;
      if (other.begin - begin >= sizes[i]) break;
      begin = std::max(begin, other.end);
    }
    const int64_t end = begin + sizes[i];
    layout.offsets[i] = begin;
    layout.bytes = std::max(layout.bytes, end);
    const auto position =
        std::upper_bound(placed.begin(), placed.end(), begin,
                         [](int64_t offset, const Placed& other) { return offset < other.begin; });
    placed.insert(position, {begin, end, pieces[i].first, pieces[i].last});
  }
  return layout;
}

// What lies above `limit` comes in half its place the next time.
Order Promote(const Order& order, const Layout& layout, const std::vector<int64_t>& sizes,
              int64_t limit) {
  std::vector<std::pair<int64_t, int>> keyed;
  keyed.reserve(order.size());
  for (size_t place = 0; place < order.size(); ++place) {
    const int i = order[place];
    const bool is_above = layout.offsets[i] + sizes[i] > limit;
    const int64_t twice = 2 * static_cast<int64_t>(place);
    keyed.emplace_back(is_above ? twice / 2 - 1 : twice, i);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Order promoted;
  promoted.reserve(order.size());
  for (const auto& [key, i] : keyed) promoted.push_back(i);
  return promoted;
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

  const std::vector<Alive> alive = AliveBytes(pieces, sizes);
  const int64_t lower_bound = LowerBound(alive);
  const int64_t count = static_cast<int64_t>(pieces.size());
  const int64_t rounds =
      std::clamp<int64_t>(kPairsLookedAt / std::max<int64_t>(count * count, 1), 1, kMaxRounds);
  Layout best{{}, INT64_MAX};
  const auto improve_on = [&](Order order) {
    for (int64_t round = 0; round < rounds && best.bytes > lower_bound; ++round) {
      Layout layout = PlaceInOrder(pieces, sizes, order);
      order = Promote(order, layout, sizes, lower_bound);
      if (layout.bytes < best.bytes) best = std::move(layout);
    }
  };
  improve_on(OrderBySize(sizes));
  if (best.bytes > lower_bound) improve_on(OrderByBreadth(pieces, sizes, alive));
  return ArenaPlan{std::move(best.offsets), best.bytes, lower_bound};
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
