#include "core/codegen/fetch_ahead.h"

#include <halide14/Halide.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::TailStrategy;
using Halide::Var;
namespace ir = Halide::Internal;

constexpr int kLanes = 16;
constexpr int kLineElements = 16;
constexpr char kWeights[] = "weights";

// Which lines of the weights are read and fetched, in the order of what a kernel does.
class Follow : public ir::IRMutator {
 public:
  explicit Follow(std::vector<std::pair<bool, int64_t>>* lines) : lines_(lines) {}

 private:
  using IRMutator::visit;
  ir::Stmt visit(const ir::For* op) override {
    const int64_t first = Value(op->min), extent = Value(op->extent);
    for (int64_t i = first; i < first + extent; ++i) {
      at_[op->name] = static_cast<int>(i);
      mutate(op->body);
    }
    return op;
  }
  ir::Stmt visit(const ir::LetStmt* op) override {
    if (op->value.type() == Halide::Int(32)) at_[op->name] = ir::simplify(Known(op->value));
    mutate(op->body);
    return op;
  }
  Expr visit(const ir::Load* op) override {
    const auto* const ramp = op->index.as<ir::Ramp>();
    if (op->name == kWeights && ramp != nullptr) {
      lines_->emplace_back(false, Value(ramp->base) / kLineElements);
    }
    return IRMutator::visit(op);
  }
  Expr visit(const ir::Call* op) override {
    if (op->is_intrinsic(ir::Call::prefetch)) {
      lines_->emplace_back(true, Value(op->args[1]) / kLineElements);
    }
    return IRMutator::visit(op);
  }

  Expr Known(Expr expr) const { return ir::substitute(at_, std::move(expr)); }
  int64_t Value(const Expr& expr) const {
    const Expr value = ir::simplify(Known(expr));
    const int64_t* const known = ir::as_const_int(value);
    EXPECT_NE(known, nullptr) << value;
    return known == nullptr ? 0 : *known;
  }

  std::vector<std::pair<bool, int64_t>>* const lines_;
  std::map<std::string, Expr> at_;
};

// A product of `rows` rows and as many panels of 16 columns, in tiles of 4 rows by so many panels.
struct Product {
  int rows = 64;
  int steps = 64;
  int panels = 64;
  int panels_of_tile = 1;
};

std::vector<std::pair<bool, int64_t>> LinesOf(const Product& product) {
  Halide::ImageParam left(Halide::Float(32), 2, "left"), right(Halide::Float(32), 3, kWeights);
  const int columns = product.panels * kLanes;
  left.dim(0).set_bounds(0, product.steps);
  left.dim(1).set_bounds(0, product.rows).set_stride(product.steps);
  right.dim(0).set_bounds(0, kLanes);
  right.dim(1).set_bounds(0, product.steps).set_stride(kLanes);
  right.dim(2).set_bounds(0, product.panels).set_stride(kLanes * product.steps);
  const Halide::RDom k(0, product.steps, "k");
  Var column("column"), row("row"), inner("inner"), inner_row("inner_row"), lane("lane");
  Halide::Func sums("sums"), result("result");
  sums(column, row) = 0.0f;
  sums(column, row) += left(k, row) * right(column % kLanes, k, column / kLanes);
  result(column, row) = sums(column, row);
  result.output_buffer().dim(0).set_bounds(0, columns);
  result.output_buffer().dim(1).set_bounds(0, product.rows).set_stride(columns);
  result.split(column, column, inner, kLanes * product.panels_of_tile, TailStrategy::RoundUp)
      .split(inner, inner, lane, kLanes, TailStrategy::RoundUp)
      .split(row, row, inner_row, 4, TailStrategy::RoundUp)
      .reorder({lane, inner, inner_row, row, column})
      .vectorize(lane)
      .unroll(inner)
      .unroll(inner_row);
  sums.compute_at(result, row).vectorize(column, kLanes).unroll(column).unroll(row);
  Var sum_lane("sum_lane");
  sums.update()
      .split(column, column, sum_lane, kLanes, TailStrategy::RoundUp)
      .reorder({sum_lane, column, row, Halide::RVar(k.x)})
      .vectorize(sum_lane)
      .unroll(column)
      .unroll(row);
  std::vector<std::pair<bool, int64_t>> lines;
  result.add_custom_lowering_pass(new FetchAhead());
  result.add_custom_lowering_pass(new Follow(&lines));
  const Halide::Target target("x86-64-linux-avx512_skylake-no_asserts-no_bounds_query-no_runtime");
  result.compile_to_module({left, right}, "product", target);
  return lines;
}

TEST(FetchAheadTest, WhatTheNextPieceReadsIsFetchedInThisOne) {
  for (const int panels_of_tile : {1, 2, 4}) {
    for (const int rows : {8, 12, 16, 64, 128}) {
      const Product product = {.rows = rows, .panels_of_tile = panels_of_tile};
      const auto lines = LinesOf(product);
      const int64_t of_piece = int64_t{product.steps} * panels_of_tile;
      std::map<int64_t, std::set<int64_t>> read, fetched;  // By the piece.
      int64_t piece = 0;
      for (const auto& [is_fetch, line] : lines) {
        if (!is_fetch) piece = line / of_piece;
        (is_fetch ? fetched : read)[piece].insert(line);
      }
      const int64_t pieces = product.panels / panels_of_tile;
      ASSERT_EQ(static_cast<int64_t>(read.size()), pieces);
      for (int64_t i = 0; i + 1 < pieces; ++i) {
        EXPECT_THAT(fetched[i], testing::IsSupersetOf(read[i + 1]))
            << rows << " " << panels_of_tile;
        EXPECT_LE(static_cast<int64_t>(fetched[i].size()), of_piece + 1);
      }
    }
  }
}

TEST(FetchAheadTest, NoRoundFetchesAllAtOnce) {
  const Product product = {.rows = 64, .panels_of_tile = 2};  // 16 rounds.
  int64_t most = 0;
  int reads = 0;
  std::set<int64_t> lines;
  for (const auto& [is_fetch, line] : LinesOf(product)) {
    if (is_fetch) lines.insert(line);
    // What a round reads, 4 rows of 2 panels.
    if (!is_fetch && ++reads % (product.steps * 4 * 2) == 0) {
      most = std::max(most, static_cast<int64_t>(lines.size()));
      lines.clear();
    }
  }
  EXPECT_GT(most, 0);
  EXPECT_LE(most, product.steps * 2 / 16 + 2);
}

TEST(FetchAheadTest, NothingIsFetchedThatIsReadOnceOrSmall) {
  const auto fetches = [](const Product& product) {
    int count = 0;
    for (const auto& [is_fetch, line] : LinesOf(product)) count += is_fetch ? 1 : 0;
    return count;
  };
  EXPECT_GT(fetches({}), 0);
  EXPECT_EQ(fetches({.rows = 4}), 0);    // One tile.
  EXPECT_EQ(fetches({.panels = 8}), 0);  // 32 KiB.
  EXPECT_EQ(fetches({.panels = 1}), 0);  // No next one.
}

}  // namespace
}  // namespace slipway
