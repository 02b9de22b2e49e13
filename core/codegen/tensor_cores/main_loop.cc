#include "core/codegen/tensor_cores/main_loop.h"

#include <algorithm>

namespace slipway {

using Kind = PtxWriter::Kind;

std::string StepsOfGroup(KernelFrame& frame) {
  PtxWriter& w = frame.w;
  const std::string steps = w.Word("mov.u32", {Number(frame.steps_of_part())});
  if (frame.parts == 1) return steps;
  const std::string left = w.Word("sub.u32", {Number(frame.steps()), frame.first_step});
  return w.Word("min.u32", {left, steps});
}

int BeginSlots(KernelFrame& frame, const std::vector<FactorSide*>& sides,
               const std::string& steps) {
  PtxWriter& w = frame.w;
  int ahead = 0;
  for (FactorSide* side : sides) {
    const SharedLayout& layout = side->loader.layout;
    Slots slots(w, layout);
    side->read = slots.From(0);
    if (side->loader.is_copied()) {
      ahead = layout.slots - frame.tile.steps_at_once();
      side->write = slots.From(ahead);
    } else {
      side->write = slots.From(1);
    }
  }
  for (int step = 0; step < ahead; ++step) {
    const std::string is_there = w.Make(Kind::kPredicate, "setp.gt.u32", {steps, Number(step)});
    for (const FactorSide* side : sides) {
      if (!side->loader.is_copied()) continue;
      if (step > 0) side->loader.GoOn();
      side->loader.Copy(Slots(w, side->loader.layout).At(step), is_there);
    }
    w.Do("cp.async.commit_group", {});
  }
  return ahead;
}

}  // namespace slipway
