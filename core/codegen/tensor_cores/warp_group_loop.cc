// MultiplyByWarpGroups of main_loop.h. Source of what a descriptor says, and of who waits for what: NVIDIA, "Parallel Thread Execution ISA", "Asynchronous
// warpgroup level matrix instructions".
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codegen/tensor_cores/main_loop.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;

// Of 128 bytes each, after which the order of their pieces begins anew.
constexpr int kPatternRows = 8;
constexpr int kPatternBytes = kPatternRows * SharedLayout::kColumnBytes;

// Offsets and addresses are said in 16 bytes.
int64_t Encoded(int64_t bytes) { return bytes / kVectorBytes; }

class WarpGroupLoop {
 public:
  WarpGroupLoop(KernelFrame& frame, FactorLoader& a, FactorLoader& b)
      : frame_(frame), w_(frame.w), tile_(frame.tile), a_{a}, b_{b} {}

  std::vector<std::string> Write() {
    const std::string group = w_.Word("shr.u32", {frame_.instance, "7"});
    const SharedLayout& layout = a_.loader.layout;
    const int rows_bytes =
        layout.depth_is_inner ? kWarpGroupRows * layout.pitch() : layout.column_bytes();
    static_assert(kWarpGroupRows * 2 ==
                  SharedLayout::kColumnBytes);  // A column, of narrow numbers.
    a_.begin = w_.Word("mad.lo.u32", {group, Number(Encoded(rows_bytes)), Begin(a_)});
    b_.begin = Begin(b_);
    // From eight rows to the next, and the order of pieces.
    constexpr int64_t kSwizzledBy128 = int64_t{1} << 30;
    upper_ = w_.Word("mov.u32", {Number(Encoded(kPatternBytes) | kSwizzledBy128)});
    sums_ = w_.Registers(Kind::kFloat, tile_.columns / 2);
    for (const std::string& sum : sums_) w_.Do("mov.f32", {sum, FloatLiteral(0)});
    WriteLoop();
    return sums_;
  }

 private:
  // The lower word of a descriptor of the first slot: where it begins, and how far apart columns are, which of rows along the depth nobody asks.
  std::string Begin(const FactorSide& side) {
    const SharedLayout& layout = side.loader.layout;
    const std::string base = w_.Word("mov.u32", {layout.memory});
    const std::string address = w_.Word("add.u32", {base, Number(layout.offset)});
    constexpr int kMeaning = (1 << 18) - 1;  // Of an address.
    const std::string start =
        w_.Word("shr.u32", {w_.Word("and.b32", {address, Number(kMeaning)}), "4"});
    const int64_t leading = layout.depth_is_inner ? 1 : Encoded(layout.column_bytes());
    return w_.Word("or.b32", {start, Number(leading << 16)});
  }

  // Of 32 bytes of the depth of the step that is multiplied, so many bytes from its first; `begin` is the step's.
  std::string Descriptor(const FactorSide& side, const std::string& begin, int depth_bytes) {
    const int64_t further = side.loader.layout.depth_is_inner
                                ? depth_bytes
                                : depth_bytes / frame_.form.bytes * SharedLayout::kColumnBytes;
    const std::string low =
        further == 0 ? begin : w_.Word("add.u32", {begin, Number(Encoded(further))});
    return w_.Make(Kind::kAddress, "mov.b64", {InBraces({low, upper_})});
  }

  std::string StepOf(const FactorSide& side) {
    return w_.Word("add.u32", {side.begin, w_.Word("shr.u32", {side.read, "4"})});
  }

  void Multiply() {
    const NumberForm& form = frame_.form;
    const std::string name =
        absl::StrCat("wgmma.mma_async.sync.aligned.m64n", tile_.columns, "k",
                     kMmaDepthBytes / form.bytes, ".f32.", form.type, ".", form.type);
    const std::string step_a = StepOf(a_);
    const std::string step_b = StepOf(b_);
    w_.Do("wgmma.fence.sync.aligned", {});
    for (int depth = 0; depth < tile_.depth_bytes; depth += kMmaDepthBytes) {
      // Added to the sums, neither factor negated.
      std::vector<std::string> operands = {InBraces(sums_),
                                           Descriptor(a_, step_a, depth),
                                           Descriptor(b_, step_b, depth),
                                           "1",
                                           "1",
                                           "1"};
      if (form.is_narrow()) {
        for (const FactorSide* side : {&a_, &b_}) {
          operands.emplace_back(side->loader.layout.depth_is_inner ? "0" : "1");
        }
      }
      w_.Do(name, operands);
    }
    w_.Do("wgmma.commit_group.sync.aligned", {});
  }

  // At the top of the loop the step that is multiplied next lies in shared memory, or is copied there and waited for; the step before it may still be
  // multiplied, the one before that is not. While they are, what is stored goes from registers to the next slot, and the step behind comes to registers, which have
  // a whole round for it; what is copied is as far ahead. A step's slot is filled again behind the barrier that all have reached who have waited for its product.
  void WriteLoop() {
    const std::string steps = StepsOfGroup(frame_);
    const std::vector<FactorSide*> sides = {&a_, &b_};
    const int ahead = BeginSlots(frame_, sides, steps);
    const auto load = [&] {
      for (const FactorSide* side : sides) {
        if (!side->loader.is_copied()) side->loader.Load();
      }
    };
    const auto store = [&](bool is_first) {
      for (const FactorSide* side : sides) {
        if (side->loader.is_copied()) continue;
        side->loader.Store(is_first ? side->read : side->write);
        if (!is_first) Slots(w_, side->loader.layout).GoOn(side->write);
      }
    };
    // The next step, unless there are only so many left.
    const auto load_next = [&](int left, const std::string& behind) {
      const std::string is_more = w_.Make(Kind::kPredicate, "setp.gt.u32", {steps, Number(left)});
      w_.DoIf("!" + is_more, "bra", {behind});
      for (const FactorSide* side : sides) {
        if (!side->loader.is_copied()) side->loader.GoOn();
      }
      load();
    };
    load();
    store(/*is_first=*/true);
    const std::string again = w_.NewLabel();
    load_next(1, again);
    w_.Place(again);
    if (ahead > 0) w_.Do("cp.async.wait_group", {Number(ahead - 1)});
    w_.Do("fence.proxy.async.shared::cta", {});
    w_.Do("bar.sync", {"0"});
    Multiply();
    if (ahead > 0) {
      const std::string is_there = w_.Make(Kind::kPredicate, "setp.gt.u32", {steps, Number(ahead)});
      for (const FactorSide* side : sides) {
        if (!side->loader.is_copied()) continue;
        side->loader.GoOn();
        side->loader.Copy(side->write, is_there);
        Slots(w_, side->loader.layout).GoOn(side->write);
      }
      w_.Do("cp.async.commit_group", {});
    }
    store(/*is_first=*/false);
    const std::string loaded = w_.NewLabel();
    load_next(2, loaded);
    w_.Place(loaded);
    w_.Do("wgmma.wait_group.sync.aligned", {Number(tile_.steps_at_once() - 1)});
    for (const FactorSide* side : sides) Slots(w_, side->loader.layout).GoOn(side->read);
    w_.Do("sub.u32", {steps, steps, "1"});
    const std::string is_more = w_.Make(Kind::kPredicate, "setp.ne.u32", {steps, "0"});
    w_.DoIf(is_more, "bra", {again});
    if (ahead > 0) w_.Do("cp.async.wait_all", {});
    w_.Do("wgmma.wait_group.sync.aligned", {"0"});
  }

  KernelFrame& frame_;
  PtxWriter& w_;
  const TensorTile tile_;
  FactorSide a_;
  FactorSide b_;
  std::string upper_;  // Word of all descriptors.
  std::vector<std::string> sums_;
};

}  // namespace

std::vector<std::string> MultiplyByWarpGroups(KernelFrame& frame, FactorLoader& a,
                                              FactorLoader& b) {
  return WarpGroupLoop(frame, a, b).Write();
}

}  // namespace slipway
