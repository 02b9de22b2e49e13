// What is around a statement of a kernel that Halide has lowered: loops, and names of what was taken out of expressions.
#ifndef SLIPWAY_CORE_CODEGEN_SURROUNDINGS_H_
#define SLIPWAY_CORE_CODEGEN_SURROUNDINGS_H_

#include <halide14/Halide.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace slipway {

using LoopsAround = std::vector<const Halide::Internal::For*>;
using LetsAround = std::vector<const Halide::Internal::LetStmt*>;

// `value` without the names of `lets`, which are outermost first.
Halide::Expr WithoutLets(const LetsAround& lets, Halide::Expr value);

// Where a loop has come to.
Halide::Expr PlaceOf(const Halide::Internal::For* loop);

// Nothing where only running tells it.
std::optional<int64_t> ExtentOf(const Halide::Internal::For* loop);

// How many iterations loops within each other have; an open extent counts as one.
int64_t IterationsOf(const LoopsAround& loops);

// How many of them are over. `loops` are innermost first, and their extents known.
Halide::Expr CountOf(const LoopsAround& loops);

// A lowering pass that looks around what it changes. Loops are for it to add and to take off, where it visits them.
class LooksAround : public Halide::Internal::IRMutator {
 protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override;

  // Around what is visited, outermost first.
  LoopsAround loops_;
  LetsAround lets_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SURROUNDINGS_H_
