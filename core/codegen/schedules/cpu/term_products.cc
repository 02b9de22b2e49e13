#include "core/codegen/schedules/cpu/term_products.h"

namespace slipway {
namespace {

bool IsOfFloats(Halide::Func accumulator) { return accumulator.output_types()[0].is_float(); }

}  // namespace

bool AddsApart(const MachineDescription& machine, Halide::Func accumulator, int terms) {
  if (terms == 1) return false;
  if (machine.arch != Arch::kX86_64) return true;
  return !(IsOfFloats(accumulator) ? machine.has_bf16 : machine.has_int8);
}

bool HasTileRegistersFor(const MachineDescription& machine, Halide::Func accumulator, int terms) {
  const bool is_float = IsOfFloats(accumulator);
  // Two integers are of 16 bits.
  return terms == (is_float ? 2 : 4) &&
         (is_float ? machine.has_bf16_tiles : machine.has_int8_tiles);
}

}  // namespace slipway
