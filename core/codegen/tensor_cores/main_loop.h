// The loop over the depth: from two factors to sums of products.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_MAIN_LOOP_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_MAIN_LOOP_H_

#include <string>
#include <vector>

#include "core/codegen/tensor_cores/factor_loader.h"
#include "core/codegen/tensor_cores/kernel_frame.h"

namespace slipway {

// A factor's steps in shared memory, one slot behind the other and around.
class Slots {
 public:
  Slots(PtxWriter& w, const SharedLayout& layout) : w_(w), layout_(layout) {}

  std::string At(int slot) const { return Number(int64_t{slot} * layout_.slot_bytes()); }
  // A register that goes around, from this slot on.
  std::string From(int slot) { return w_.Word("mov.u32", {At(slot)}); }
  void GoOn(const std::string& slot) {
    w_.Do("add.u32", {slot, slot, At(1)});
    const std::string is_behind =
        w_.Make(PtxWriter::Kind::kPredicate, "setp.eq.u32", {slot, At(layout_.slots)});
    w_.DoIf(is_behind, "mov.u32", {slot, "0"});
  }

 private:
  PtxWriter& w_;
  const SharedLayout& layout_;
};

// A factor, and where the text stands with it.
struct FactorSide {
  FactorLoader& loader;
  std::string begin = {};  // What an instance reads, in the first slot.
  std::string read = {};   // The slot that is multiplied,
  std::string write = {};  // and the next one that is filled.
};

// A register with the steps that the group goes through: at least one.
std::string StepsOfGroup(KernelFrame& frame);

// Has both sides begin with their slots. How many steps ahead copies are on their way at the top of the loop, 0 where neither is copied; the first of these
// are begun, as far as there are so many steps.
int BeginSlots(KernelFrame& frame, const std::vector<FactorSide*>& sides, const std::string& steps);

// Writes all of the loop, and what is before it. An instance's sums, by row, column and place of the mma: as WriteResult wants them. Each warp multiplies for itself
// by mma.sync, or four of them together by wgmma: as the frame's tile says.
std::vector<std::string> MultiplyByWarps(KernelFrame& frame, FactorLoader& a, FactorLoader& b);
std::vector<std::string> MultiplyByWarpGroups(KernelFrame& frame, FactorLoader& a, FactorLoader& b);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_MAIN_LOOP_H_
