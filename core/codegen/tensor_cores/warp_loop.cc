// MultiplyByWarps of main_loop.h.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codegen/tensor_cores/main_loop.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;

class WarpLoop {
 public:
  WarpLoop(KernelFrame& frame, FactorLoader& a, FactorLoader& b)
      : frame_(frame), w_(frame.w), tile_(frame.tile), a_{a}, b_{b} {}

  std::vector<std::string> Write() {
    FindFragments();
    sums_ = w_.Registers(Kind::kFloat, tile_.warp_rows() * tile_.warp_columns() / 32);
    for (const std::string& sum : sums_) w_.Do("mov.f32", {sum, FloatLiteral(0)});
    WriteLoop();
    return sums_;
  }

 private:
  void FindFragments() {
    a_.begin = a_.loader.layout.FragmentAddress(frame_.lane, frame_.warp_row, /*is_left=*/true,
                                                form(), w_);
    b_.begin = b_.loader.layout.FragmentAddress(frame_.lane, frame_.warp_column, /*is_left=*/false,
                                                form(), w_);
  }

  const NumberForm& form() const { return frame_.form; }

  // 16 places across the depth, so many from the warp's first, and 32 bytes of the depth from `at` on.
  std::vector<std::string> Fragment(const SharedLayout& layout, const std::string& at, int across) {
    return layout.Fragment(at, layout.AcrossBytes(across, form()), w_);
  }

  // From the step's first 32 bytes of the depth to others.
  std::string AtDepth(const SharedLayout& layout, const std::string& at, int bytes) {
    if (bytes == 0) return at;
    if (!layout.is_padded) return w_.Word("xor.b32", {at, Number(bytes)});
    return w_.Word("add.u32", {at, Number(layout.DepthBytes(bytes, form()))});
  }

  void Multiply() {
    const std::string at_a = w_.Word("add.u32", {a_.begin, a_.read});
    const std::string at_b = w_.Word("add.u32", {b_.begin, b_.read});
    const SharedLayout& layout_a = a_.loader.layout;
    const SharedLayout& layout_b = b_.loader.layout;
    for (int depth = 0; depth < tile_.depth_bytes; depth += kMmaDepthBytes) {
      const std::string here_a = AtDepth(layout_a, at_a, depth);
      const std::string here_b = AtDepth(layout_b, at_b, depth);
      // Two neighbours of 8 columns each.
      std::vector<std::vector<std::string>> right;
      for (int column = 0; column < tile_.warp_columns(); column += 2 * kMmaColumns) {
        right.push_back(Fragment(layout_b, here_b, column));
      }
      size_t sum = 0;
      for (int row = 0; row < tile_.warp_rows(); row += kMmaRows) {
        const std::string left = InBraces(Fragment(layout_a, here_a, row));
        for (const std::vector<std::string>& two : right) {
          for (size_t i = 0; i < 4; i += 2) {
            const auto first = sums_.begin() + static_cast<std::ptrdiff_t>(sum);
            const std::string sums = InBraces({first, first + 4});
            w_.Do(form().multiply, {sums, left, InBraces({two[i], two[i + 1]}), sums});
            sum += 4;
          }
        }
      }
    }
  }

  // At the top of the loop the step that is multiplied next lies in shared memory, or is copied there and waited for; while it is multiplied, what is stored is
  // one step ahead, in registers, and what is copied as many as there are slots for. A step's slot is filled again behind the barrier that all have reached who
  // multiplied it.
  void WriteLoop() {
    const std::string steps = StepsOfGroup(frame_);
    const std::vector<FactorSide*> sides = {&a_, &b_};
    const int ahead = BeginSlots(frame_, sides, steps);
    for (const FactorSide* side : sides) {
      if (side->loader.is_copied()) continue;
      side->loader.Load();
      side->loader.Store(side->read);
    }
    const std::string again = w_.NewLabel();
    const std::string multiply = w_.NewLabel();
    const std::string last = w_.NewLabel();
    w_.Place(again);
    if (ahead > 0) w_.Do("cp.async.wait_group", {Number(ahead - 1)});
    w_.Do("bar.sync", {"0"});
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
    const std::string is_more = w_.Make(Kind::kPredicate, "setp.gt.u32", {steps, "1"});
    w_.DoIf("!" + is_more, "bra", {multiply});
    for (const FactorSide* side : sides) {
      if (side->loader.is_copied()) continue;
      side->loader.GoOn();
      side->loader.Load();
    }
    w_.Place(multiply);
    Multiply();
    w_.DoIf("!" + is_more, "bra", {last});
    for (const FactorSide* side : sides) {
      Slots slots(w_, side->loader.layout);
      slots.GoOn(side->read);
      if (side->loader.is_copied()) continue;
      side->loader.Store(side->write);
      slots.GoOn(side->write);
    }
    w_.Do("sub.u32", {steps, steps, "1"});
    w_.Do("bra", {again});
    w_.Place(last);
    if (ahead > 0) w_.Do("cp.async.wait_all", {});
  }

  KernelFrame& frame_;
  PtxWriter& w_;
  const TensorTile tile_;
  FactorSide a_;
  FactorSide b_;
  std::vector<std::string> sums_;
};

}  // namespace

std::vector<std::string> MultiplyByWarps(KernelFrame& frame, FactorLoader& a, FactorLoader& b) {
  return WarpLoop(frame, a, b).Write();
}

}  // namespace slipway
