// What Halide's generator of OpenCL C needs before it takes the loops of a device out of a lowered pipeline.
#ifndef SLIPWAY_CORE_CODEGEN_OPENCL_LOWERING_H_
#define SLIPWAY_CORE_CODEGEN_OPENCL_LOWERING_H_

#include <halide14/Halide.h>

namespace slipway {

// A lowering pass behind all others.
// - Constants that were moved out of a device's loops go back into them: each would be a parameter that is no tensor.
// - Remainders by 2^31 and more become shifts: Halide 14 writes them with a mask of 32 bits.
class LowerForOpenCl : public Halide::Internal::IRMutator {
 protected:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Mod* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override;

 private:
  bool is_on_device_ = false;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_OPENCL_LOWERING_H_
