// Sums of products in tile registers (AMX: Intel's Software Developer's Manual, volume 1, chapter 18), which Halide 14 has instructions but no
// schedule for.
#ifndef SLIPWAY_CORE_CODEGEN_TILE_REGISTERS_H_
#define SLIPWAY_CORE_CODEGEN_TILE_REGISTERS_H_

#include <halide14/Halide.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "core/codegen/tile_instructions.h"

namespace slipway {

// A register's row is so many sums of f32,
inline constexpr int kTileColumns = kTileRowBytes / 4;
// or so many factors of bf16, whose products are added at once; the depth of a product in tiles is a multiple.
inline constexpr int kTileDepth = kTileRowBytes / 2;

// Has the sums of products be made in tile registers. `sums` is (column, row, ...) in f32, each column and row in a loop of its own from
// 0 to an extent that is known, columns a multiple of kTileColumns. Its one update adds products of two bf16, `term` and `step` those of
// the reduction: a pair and the pairs. The left factor's pairs of a row, the right one's pairs of 16 columns, and the columns
// of sums must lie together in memory.
//
// REQUIRES: the pipeline has a UseTileRegisters.
void MarkForTileRegisters(Halide::Func sums, const Halide::RVar& term, const Halide::RVar& step);

// The lowering pass that does so. `status` becomes INTERNAL where what was marked cannot be.
class UseTileRegisters : public Halide::Internal::IRMutator {
 public:
  explicit UseTileRegisters(std::shared_ptr<absl::Status> status) : status_(std::move(status)) {}

 protected:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer* op) override;

 private:
  const std::shared_ptr<absl::Status> status_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TILE_REGISTERS_H_
