// Weights on their way before they are needed: what a tile of a product or a convolution multiplies comes from memory just once, for its
// first rows, and waits there for each page anew, while the rows behind them have it in the second-level cache and ask memory for nothing.
#ifndef SLIPWAY_CORE_CODEGEN_FETCH_AHEAD_H_
#define SLIPWAY_CORE_CODEGEN_FETCH_AHEAD_H_

#include <halide14/Halide.h>

#include <string>
#include <vector>

#include "core/codegen/surroundings.h"

namespace slipway {

// A lowering pass. In an innermost loop of sums that loads vectors of an input, each of which is read again in loops around it that do
// not move them, those loads' next pieces are fetched: what they read when the loop around all of these moves on. The lines of the next
// pieces are spread over all rounds of the loops that read the same, about one a step, so that memory has as long for them as
// arithmetic has for these. A fetch is never wrong: it is for the cache alone, and what lies behind an input's end is ignored.
//
// Prefetches are Halide's, which WriteMachineCode has go to the second level of caches.
class FetchAhead : public LooksAround {
 protected:
  using LooksAround::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* op) override;

 private:
  std::vector<std::string> scratch_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_FETCH_AHEAD_H_
