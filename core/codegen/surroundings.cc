#include "core/codegen/surroundings.h"

namespace slipway {

using Halide::Expr;
namespace ir = Halide::Internal;

Expr WithoutLets(const LetsAround& lets, Expr value) {
  for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
    value = ir::substitute((*let)->name, (*let)->value, value);
  }
  return value;
}

Expr PlaceOf(const ir::For* loop) { return ir::Variable::make(Halide::Int(32), loop->name); }

std::optional<int64_t> ExtentOf(const ir::For* loop) {
  const int64_t* const extent = ir::as_const_int(loop->extent);
  return extent == nullptr ? std::nullopt : std::optional(*extent);
}

int64_t IterationsOf(const LoopsAround& loops) {
  int64_t iterations = 1;
  for (const ir::For* loop : loops) iterations *= ExtentOf(loop).value_or(1);
  return iterations;
}

Expr CountOf(const LoopsAround& loops) {
  Expr count = 0;
  int64_t each = 1;
  for (const ir::For* loop : loops) {
    count += (PlaceOf(loop) - loop->min) * static_cast<int>(each);
    each *= ExtentOf(loop).value();
  }
  return ir::simplify(count);
}

ir::Stmt LooksAround::visit(const ir::LetStmt* op) {
  lets_.push_back(op);
  ir::Stmt visited = ir::IRMutator::visit(op);
  lets_.pop_back();
  return visited;
}

}  // namespace slipway
