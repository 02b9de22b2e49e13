// Sums of products in tile registers (AMX: Intel's Software Developer's Manual, volume 1, chapter 18), which Halide 14 has instructions but no
// schedule for.
#ifndef SLIPWAY_CORE_CODEGEN_TILE_REGISTERS_H_
#define SLIPWAY_CORE_CODEGEN_TILE_REGISTERS_H_

#include <halide14/Halide.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/codegen/surroundings.h"

namespace slipway {

// The loops of sums, which have a column in their first dimension and a row in the second one.
struct TileLoops {
  Halide::RDom reduction;  // Its first dimension is the terms of a step: 2 of bf16, 4 of u8 by i8.
  Halide::RVar step;
  // Whether the third dimension is rows, too, that may stand below the others. All further ones are sums apart.
  bool has_lines = false;
};

// Has the sums of products, in f32 or i32, be made in tile registers. Columns and rows of `sums` are loops of their own from 0 to an
// extent that is known, columns a multiple of kTileColumns. The steps of the reduction's next loop count as steps, too, where they lie
// behind those of the first in both factors. Its one update adds products of two bf16, or of a u8 by an i8. The
// left factor's terms and steps of a row, the right one's terms of 16 columns, and the columns of sums must lie together in memory.
// What the next iteration of the innermost loop around that moves the right factor reads of that is fetched ahead, once: where the loops
// inside of that one begin.
//
// REQUIRES: the pipeline has a UseTileRegisters.
void MarkForTileRegisters(Halide::Func sums, const TileLoops& loops);

// The lowering pass that does so. `status` becomes INTERNAL where what was marked cannot be.
class UseTileRegisters : public LooksAround {
 public:
  explicit UseTileRegisters(std::shared_ptr<absl::Status> status) : status_(std::move(status)) {}

 protected:
  using LooksAround::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;

 private:
  const std::shared_ptr<absl::Status> status_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TILE_REGISTERS_H_
