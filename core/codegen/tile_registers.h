// Sums of products in tile registers (AMX: Intel's Software Developer's Manual, volume 1, chapter 18), which Halide 14 has instructions but no
// schedule for.
#ifndef SLIPWAY_CORE_CODEGEN_TILE_REGISTERS_H_
#define SLIPWAY_CORE_CODEGEN_TILE_REGISTERS_H_

#include <halide14/Halide.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"

namespace slipway {

// A register: so many rows of so many bytes, which are 16 sums of f32, or 16 pairs of bf16.
inline constexpr int kTileRows = 16;
inline constexpr int kTileColumns = 16;
// Products of bf16 that a register's row adds at once; the depth of a product in tiles is a multiple.
inline constexpr int kTileDepth = 32;

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
