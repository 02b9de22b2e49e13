// What Halide's generators for devices need before they take the loops of a device out of a lowered pipeline, and what they do not tell.
#ifndef SLIPWAY_CORE_CODEGEN_DEVICE_LOWERING_H_
#define SLIPWAY_CORE_CODEGEN_DEVICE_LOWERING_H_

#include <halide14/Halide.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace slipway {

// By launch, in the order of the pipeline: the buffers that it writes.
using DeviceStores = std::vector<std::set<std::string>>;

// A lowering pass behind all others, for one pipeline.
// - Constants that were moved out of a device's loops go back into them: each would be a parameter that is no tensor.
// - Remainders by 2^31 and more become shifts: Halide 14 writes them with a mask of 32 bits.
// - What each launch writes is noted in `stores`.
class LowerForDevice : public Halide::Internal::IRMutator {
 public:
  explicit LowerForDevice(std::shared_ptr<DeviceStores> stores) : stores_(std::move(stores)) {}

 protected:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Mod* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Store* op) override;

 private:
  const std::shared_ptr<DeviceStores> stores_;
  bool is_on_device_ = false;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_DEVICE_LOWERING_H_
