// Numbers of f32 as bf16, exactly or as instructions have it.
#ifndef SLIPWAY_CORE_CODEGEN_BFLOAT16_H_
#define SLIPWAY_CORE_CODEGEN_BFLOAT16_H_

#include <halide14/Halide.h>

namespace slipway {

// The nearest bf16, of two the even one. NaN stays NaN. By bits, so that subnormal numbers stay, whatever the machine has.
Halide::Expr NearestBfloat16(const Halide::Expr& x);

// The same, or 0 for a subnormal number: what products read (slipway.RoundToBfloat16). Only in pipelines that WriteOutRounding is a
// pass of.
Halide::Expr RoundedToBfloat16(const Halide::Expr& x);

// The lowering pass that makes an instruction of each such call where there is one (vcvtneps2bf16, which takes subnormal numbers for 0),
// and else arithmetic on bits.
class WriteOutRounding : public Halide::Internal::IRMutator {
 public:
  explicit WriteOutRounding(bool has_instruction) : has_instruction_(has_instruction) {}

 protected:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* call) override;

 private:
  const bool has_instruction_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_BFLOAT16_H_
