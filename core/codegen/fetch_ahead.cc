#include "core/codegen/fetch_ahead.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/codegen/surroundings.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Internal::Stmt;
namespace ir = Halide::Internal;

constexpr int kLineBytes = 64;
// Less than that is soon in a cache of the core, and asking for it again costs more than waiting for it once.
constexpr int64_t kLeastBytes = 256 << 10;

class FindLoops : public ir::IRVisitor {
 public:
  bool found = false;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::For*) override { found = true; }
};

// Where vectors begin that lie together.
class FindVectors : public ir::IRVisitor {
 public:
  std::map<std::string, std::vector<Expr>> found;  // By the buffer.
  std::map<std::string, Halide::Type> types;

 private:
  using ir::IRVisitor::visit;
  void visit(const ir::Load* op) override {
    ir::IRVisitor::visit(op);
    const auto* const ramp = op->index.as<ir::Ramp>();
    if (ramp == nullptr || !ramp->base.type().is_scalar() || !ir::is_const_one(ramp->stride))
      return;
    found[op->name].push_back(ramp->base);
    types[op->name] = op->type.element_of();
  }
};

// How an index moves with the loops around it, innermost first.
struct Walk {
  LoopsAround steps;   // Which read one piece, in the order in which it lies.
  LoopsAround rounds;  // Which read it again.
  LoopsAround pieces;  // Which go on to another.
  int64_t stride = 0;  // Of a step, in elements.
};

std::optional<int64_t> StrideOf(const Expr& index, const ir::For* loop) {
  const Expr stride = ir::simplify(ir::substitute(loop->name, PlaceOf(loop) + 1, index) - index);
  const int64_t* const known = ir::as_const_int(stride);
  return known == nullptr ? std::nullopt : std::optional(*known);
}

// `loops` are outermost first.
std::optional<Walk> WalkOf(const Expr& index, const LoopsAround& loops) {
  Walk walk;
  auto loop = loops.rbegin();
  int64_t length = 0;
  for (; loop != loops.rend() && ir::expr_uses_var(index, (*loop)->name); ++loop) {
    const std::optional<int64_t> stride = StrideOf(index, *loop);
    const std::optional<int64_t> extent = ExtentOf(*loop);
    if (!stride.has_value() || !extent.has_value() || (*loop)->is_parallel()) return std::nullopt;
    if (walk.steps.empty()) walk.stride = length = *stride;
    if (*stride != length) return std::nullopt;
    length *= *extent;
    walk.steps.push_back(*loop);
  }
  for (; loop != loops.rend() && !ir::expr_uses_var(index, (*loop)->name); ++loop) {
    if ((*loop)->is_parallel() || !ExtentOf(*loop).has_value()) break;
    walk.rounds.push_back(*loop);
  }
  for (; loop != loops.rend(); ++loop) {
    if (ir::expr_uses_var(index, (*loop)->name)) walk.pieces.push_back(*loop);
  }
  if (walk.steps.empty() || walk.stride <= 0 || walk.rounds.empty() || walk.pieces.empty()) {
    return std::nullopt;
  }
  return walk;
}

// Where the next piece begins.
Expr NextPiece(const Walk& walk, Expr index) {
  for (const ir::For* loop : walk.steps) index = ir::substitute(loop->name, loop->min, index);
  const ir::For* const inner = walk.pieces[0];
  const Expr next = ir::substitute(inner->name, PlaceOf(inner) + 1, index);
  if (walk.pieces.size() == 1) return ir::simplify(next);
  const ir::For* const outer = walk.pieces[1];
  const Expr first = ir::substitute(outer->name, PlaceOf(outer) + 1,
                                    ir::substitute(inner->name, inner->min, index));
  return ir::simplify(Halide::select(PlaceOf(inner) + 1 < inner->min + inner->extent, next, first));
}

// The distances of the vectors from the first, in elements, of each line one.
std::optional<std::vector<int64_t>> LinesOf(const std::vector<Expr>& vectors, int line_elements) {
  std::vector<int64_t> distances;
  for (const Expr& vector : vectors) {
    const Expr from_first = ir::simplify(vector - vectors[0]);
    const int64_t* const distance = ir::as_const_int(from_first);
    if (distance == nullptr) return std::nullopt;
    distances.push_back(*distance);
  }
  absl::c_sort(distances);
  std::vector<int64_t> lines;
  for (const int64_t distance : distances) {
    if (lines.empty() || distance - lines.back() >= line_elements) lines.push_back(distance);
  }
  return lines;
}

// The distance of line `number`, of those that there are.
Expr DistanceOf(const std::vector<int64_t>& lines, const Expr& number) {
  Expr distance = static_cast<int>(lines.back());
  for (size_t i = lines.size() - 1; i-- > 0;) {
    distance =
        Halide::select(number <= static_cast<int>(i), Expr(static_cast<int>(lines[i])), distance);
  }
  return distance;
}

// The prefetches of a step, for vectors of one buffer.
std::vector<Stmt> FetchesOf(const std::string& buffer, Halide::Type type,
                            const std::vector<Expr>& vectors, const LoopsAround& loops) {
  const std::optional<Walk> walk = WalkOf(vectors[0], loops);
  const std::optional<std::vector<int64_t>> lines = LinesOf(vectors, kLineBytes / type.bytes());
  if (!walk.has_value() || !lines.has_value()) return {};
  const int64_t rounds = IterationsOf(walk->rounds), steps = IterationsOf(walk->steps);
  const auto count = static_cast<int64_t>(lines->size());
  const int64_t piece_bytes = steps * std::max(walk->stride * type.bytes(), count * kLineBytes);
  if (rounds < 2 || piece_bytes * IterationsOf(walk->pieces) < kLeastBytes) return {};
  // A line's piece is fetched in so many rounds, a power of two, or several lines' in each.
  int shift = 0;
  while (count << (shift + 1) <= rounds) ++shift;
  const int64_t at_once = (count + rounds - 1) / rounds;

  const Expr round = CountOf(walk->rounds);
  const Expr share = round & ((1 << shift) - 1);
  const Expr step = (share * static_cast<int>(steps) + CountOf(walk->steps)) >> shift;
  const Expr begin = NextPiece(*walk, vectors[0]);
  std::vector<Stmt> fetches;
  for (int64_t i = 0; i < at_once; ++i) {
    const Expr line = (round >> shift) * static_cast<int>(at_once) + static_cast<int>(i);
    const Expr index =
        ir::simplify(begin + DistanceOf(*lines, line) + step * static_cast<int>(walk->stride));
    const Expr base = ir::Variable::make(Halide::type_of<void*>(), buffer);
    fetches.push_back(ir::Evaluate::make(
        ir::Call::make(type, ir::Call::prefetch, {base, index, 1, 1}, ir::Call::Intrinsic)));
  }
  return fetches;
}

}  // namespace

Stmt FetchAhead::visit(const ir::For* op) {
  loops_.push_back(op);
  Stmt body = mutate(op->body);
  FindLoops inner;
  op->body.accept(&inner);
  if (!inner.found && !op->is_parallel()) {
    FindVectors vectors;
    ir::substitute_in_all_lets(op->body).accept(&vectors);
    for (auto& [buffer, found] : vectors.found) {
      if (absl::c_linear_search(scratch_, buffer)) continue;
      for (Expr& vector : found) vector = WithoutLets(lets_, vector);
      for (const Stmt& fetch : FetchesOf(buffer, vectors.types[buffer], found, loops_)) {
        body = ir::Block::make(body, fetch);
      }
    }
  }
  loops_.pop_back();
  if (body.same_as(op->body)) return op;
  return ir::For::make(op->name, op->min, op->extent, op->for_type, op->device_api, body);
}

Stmt FetchAhead::visit(const ir::Allocate* op) {
  scratch_.push_back(op->name);
  Stmt visited = ir::IRMutator::visit(op);
  scratch_.pop_back();
  return visited;
}

}  // namespace slipway
