#include "core/codegen/tensor_cores/product_text.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codegen/tensor_cores/factor_loader.h"
#include "core/codegen/tensor_cores/kernel_frame.h"
#include "core/codegen/tensor_cores/ptx_writer.h"
#include "core/codegen/tensor_cores/result_text.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;

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
        w_.Make(Kind::kPredicate, "setp.eq.u32", {slot, At(layout_.slots)});
    w_.DoIf(is_behind, "mov.u32", {slot, "0"});
  }

 private:
  PtxWriter& w_;
  const SharedLayout& layout_;
};

// A factor, and where the text stands with it.
struct Side {
  std::unique_ptr<FactorLoader> loader;
  std::string fragments;  // Where the instance's lane reads, in the first slot.
  std::string read;       // The slot that is multiplied,
  std::string write;      // and the next one that is filled.
};

class Template {
 public:
  Template(const MatrixProduct& product, size_t inputs, const NumberForm& form,
           const ProductDivision& division, const std::string& entry)
      : product_(product), inputs_(inputs), tile_(division.tile), frame_{product, form,
                                                                         tile_,   division.parts,
                                                                         entry,   w_} {}

  DeviceKernel Write() {
    const int64_t row_tiles = Parts(product_.m, tile_.rows);
    const int64_t column_tiles = Parts(product_.n, tile_.columns);
    a_.loader = MakeFactorLoader(
        frame_,
        {.tensor = product_.a, .is_left = true, .extent = product_.m, .across = tile_.rows});
    b_.loader = MakeFactorLoader(
        frame_, {.tensor = product_.b,
                 .is_left = false,
                 .extent = product_.n,
                 .across = tile_.columns,
                 .window = product_.window.has_value() ? &*product_.window : nullptr});
    b_.loader->layout.offset = a_.loader->layout.bytes();
    w_.Share(kSharedName, a_.loader->layout.bytes() + b_.loader->layout.bytes());
    frame_.FindPlace(row_tiles, column_tiles);
    a_.loader->Start(frame_.first_row);
    b_.loader->Start(frame_.first_column);
    FindFragments();
    sums_ = w_.Registers(Kind::kFloat, tile_.warp_rows() * tile_.warp_columns() / 32);
    for (const std::string& sum : sums_) w_.Do("mov.f32", {sum, FloatLiteral(0)});
    WriteLoop();
    const int64_t groups = product_.batch * row_tiles * column_tiles;
    if (frame_.parts == 1) {
      WriteResult(frame_, static_cast<int>(inputs_), sums_);
      return Made({Launch(groups, {DeviceArgument::Kind::kOutput, 0})});
    }
    WriteSums();
    DeviceKernel made = Made({Launch(groups * frame_.parts, {DeviceArgument::Kind::kScratch, 0})});
    AddUp(made);
    return made;
  }

 private:
  DeviceKernel Made(std::vector<EntryLaunch> launches) const {
    return {.preamble = "",
            .text = w_.Entry(frame_.entry, inputs_ + 1, tile_.instances()),
            .scratch_bytes = {},
            .launches = std::move(launches)};
  }

  EntryLaunch Launch(int64_t groups, DeviceArgument written) const {
    EntryLaunch launch{.entry = frame_.entry,
                       .groups = {groups, 1, 1},
                       .group = {tile_.instances(), 1, 1},
                       .reads = {},
                       .writes = {written}};
    for (size_t i = 0; i < inputs_; ++i) {
      launch.reads.push_back({DeviceArgument::Kind::kInput, static_cast<int>(i)});
    }
    return launch;
  }

  int64_t elements() const { return product_.batch * product_.m * product_.n; }

  // The part's sums, as they are, behind those of the parts before it.
  void WriteSums() {
    MatrixProduct sums = product_;
    sums.tensors.clear();
    sums.steps.clear();
    sums.result = {};
    sums.batch *= frame_.parts;
    const std::string batch =
        w_.Word("mad.lo.u32", {frame_.part, Number(product_.batch), frame_.batch});
    KernelFrame frame{sums, frame_.form, tile_, 1, frame_.entry, w_};
    frame.lane = frame_.lane;
    frame.batch = batch;
    frame.first_row = frame_.first_row;
    frame.first_column = frame_.first_column;
    frame.warp_row = frame_.warp_row;
    frame.warp_column = frame_.warp_column;
    WriteResult(frame, static_cast<int>(inputs_), sums_);
  }

  // A second entry, an instance an element: the sum of all parts, and what is behind it.
  void AddUp(DeviceKernel& made) const {
    constexpr int kInstances = 128;
    constexpr int64_t kAlignment = 64;  // Of all memory that programs lay out.
    const int64_t bytes = elements() * frame_.parts * kElementBytes;
    made.scratch_bytes = {Parts(bytes, kAlignment) * kAlignment};
    PtxWriter w;
    KernelFrame frame{product_, frame_.form, tile_, 1, absl::StrCat(frame_.entry, "_sums"), w};
    WriteSummation(frame, static_cast<int>(inputs_), frame_.parts, kInstances);
    absl::StrAppend(&made.text, w.Entry(frame.entry, inputs_ + 2, kInstances));
    EntryLaunch launch = Launch(Parts(elements(), kInstances), {DeviceArgument::Kind::kOutput, 0});
    launch.entry = frame.entry;
    launch.group = {kInstances, 1, 1};
    launch.reads.push_back({DeviceArgument::Kind::kScratch, 0});
    made.launches.push_back(std::move(launch));
  }

  // Addresses of rows for ldmatrix: lanes 0 to 7 have those of its first matrix of 8 rows of 16 bytes, and so on. In a the second one is 8 places across
  // the depth further, the third one 16 bytes of the depth; in b the other way round.
  void FindFragments() {
    const std::string eighth = w_.Word("and.b32", {frame_.lane, "7"});
    const std::string matrix = w_.Word("shr.u32", {frame_.lane, "3"});
    const std::string even = w_.Word("and.b32", {matrix, "1"});
    const std::string high = w_.Word("shr.u32", {matrix, "1"});
    const auto find = [&](Side& side, const std::string& warp, const std::string& of_across,
                          const std::string& of_depth) {
      const SharedLayout& layout = side.loader->layout;
      const std::string across = w_.Word("mad.lo.u32", {of_across, "8", warp});
      if (layout.depth_is_inner) {
        const std::string byte = w_.Word("mul.lo.u32", {of_depth, Number(kVectorBytes)});
        side.fragments = layout.Address(w_.Word("add.u32", {across, eighth}), byte, w_);
      } else {
        const std::string byte = w_.Word("mul.lo.u32", {across, Number(form().bytes)});
        const int rows = kVectorBytes / form().bytes;
        side.fragments =
            layout.Address(w_.Word("mad.lo.u32", {of_depth, Number(rows), eighth}), byte, w_);
      }
    };
    find(a_, frame_.warp_row, even, high);
    find(b_, frame_.warp_column, high, even);
  }

  const NumberForm& form() const { return frame_.form; }

  // 16 places across the depth, so many from the warp's first, and 32 bytes of the depth from `at` on.
  std::vector<std::string> Fragment(const SharedLayout& layout, const std::string& at, int across) {
    std::vector<std::string> fragment = w_.Registers(Kind::kWord, 4);
    const int pitch = layout.depth_is_inner ? layout.pitch() : form().bytes;
    w_.Do(absl::StrCat("ldmatrix.sync.aligned.m8n8.x4.", layout.depth_is_inner ? "" : "trans.",
                       "shared.b16"),
          {InBraces(fragment), At(at, int64_t{across} * pitch)});
    return fragment;
  }

  // From the step's first 32 bytes of the depth to others.
  std::string AtDepth(const SharedLayout& layout, const std::string& at, int bytes) {
    if (bytes == 0) return at;
    if (layout.depth_is_inner) return w_.Word("xor.b32", {at, Number(bytes)});
    return w_.Word("add.u32", {at, Number(int64_t{bytes} / form().bytes * layout.pitch())});
  }

  void Multiply() {
    const std::string at_a = w_.Word("add.u32", {a_.fragments, a_.read});
    const std::string at_b = w_.Word("add.u32", {b_.fragments, b_.read});
    const SharedLayout& layout_a = a_.loader->layout;
    const SharedLayout& layout_b = b_.loader->layout;
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
    std::string steps = w_.Word("mov.u32", {Number(frame_.steps_of_part())});
    if (frame_.parts > 1) {
      const std::string left = w_.Word("sub.u32", {Number(frame_.steps()), frame_.first_step});
      steps = w_.Word("min.u32", {left, steps});
    }
    const std::vector<Side*> sides = {&a_, &b_};
    int ahead = 0;  // Groups of copies on their way, at the top of the loop.
    for (Side* side : sides) {
      Slots slots(w_, side->loader->layout);
      side->read = slots.From(0);
      if (side->loader->is_copied()) {
        ahead = side->loader->layout.slots - 1;
        side->write = slots.From(ahead);
      } else {
        side->write = slots.From(1);
      }
    }
    for (int step = 0; step < ahead; ++step) {
      const std::string is_there = w_.Make(Kind::kPredicate, "setp.gt.u32", {steps, Number(step)});
      for (const Side* side : sides) {
        if (!side->loader->is_copied()) continue;
        if (step > 0) side->loader->GoOn();
        side->loader->Copy(Slots(w_, side->loader->layout).At(step), is_there);
      }
      w_.Do("cp.async.commit_group", {});
    }
    for (const Side* side : sides) {
      if (side->loader->is_copied()) continue;
      side->loader->Load();
      side->loader->Store(side->read);
    }
    const std::string again = w_.NewLabel();
    const std::string multiply = w_.NewLabel();
    const std::string last = w_.NewLabel();
    w_.Place(again);
    if (ahead > 0) w_.Do("cp.async.wait_group", {Number(ahead - 1)});
    w_.Do("bar.sync", {"0"});
    if (ahead > 0) {
      const std::string is_there = w_.Make(Kind::kPredicate, "setp.gt.u32", {steps, Number(ahead)});
      for (const Side* side : sides) {
        if (!side->loader->is_copied()) continue;
        side->loader->GoOn();
        side->loader->Copy(side->write, is_there);
        Slots(w_, side->loader->layout).GoOn(side->write);
      }
      w_.Do("cp.async.commit_group", {});
    }
    const std::string is_more = w_.Make(Kind::kPredicate, "setp.gt.u32", {steps, "1"});
    w_.DoIf("!" + is_more, "bra", {multiply});
    for (const Side* side : sides) {
      if (side->loader->is_copied()) continue;
      side->loader->GoOn();
      side->loader->Load();
    }
    w_.Place(multiply);
    Multiply();
    w_.DoIf("!" + is_more, "bra", {last});
    for (const Side* side : sides) {
      Slots slots(w_, side->loader->layout);
      slots.GoOn(side->read);
      if (side->loader->is_copied()) continue;
      side->loader->Store(side->write);
      slots.GoOn(side->write);
    }
    w_.Do("sub.u32", {steps, steps, "1"});
    w_.Do("bra", {again});
    w_.Place(last);
    if (ahead > 0) w_.Do("cp.async.wait_all", {});
  }

  const MatrixProduct& product_;
  const size_t inputs_;
  const TensorTile tile_;
  PtxWriter w_;
  KernelFrame frame_;
  Side a_;
  Side b_;
  std::vector<std::string> sums_;  // By row, column and place of the mma.
};

}  // namespace

absl::Status CheckHasProductsOf(const DeviceTarget& device, Precision precision) {
  if (FindNumberForm(precision) == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("nothing is multiplied in ", Name(precision), " on tensor cores"));
  }
  constexpr int kFirst = 80;
  if (device.arch == Arch::kCuda && device.level >= kFirst) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(device.ToString(), " has no tensor cores for ", Name(precision)));
}

absl::Status CheckFactors(const MatrixProduct& product, Precision precision) {
  const NumberForm& form = *FindNumberForm(precision);
  const auto& window = product.window;
  for (const ProductTensor* factor : {&product.a, &product.b}) {
    if (factor->dtype == DataType::kFloat32) continue;
    const bool is_left = factor == &product.a;
    const bool is_row =
        is_left ? factor->columns == 1 : !window.has_value() && factor->columns == product.k;
    if (factor->dtype != form.dtype || !is_row || product.k * form.bytes % kVectorBytes != 0) {
      return absl::UnimplementedError(absl::StrCat("a matrix of ", Name(factor->dtype),
                                                   " is not laid out for products of ",
                                                   Name(precision)));
    }
  }
  if (window.has_value() && window->channels_are_inner) {
    const int64_t channels = product.k / (window->height.kernel * window->width.kernel);
    if (channels * form.bytes % kMostDepthBytes != 0) {
      return absl::UnimplementedError("its windows are not laid out for so few channels");
    }
  }
  return absl::OkStatus();
}

int NumberBytes(Precision precision) { return FindNumberForm(precision)->bytes; }

DeviceKernel ProductKernel(const MatrixProduct& product, size_t inputs, Precision precision,
                           const ProductDivision& division, const std::string& entry) {
  return Template(product, inputs, *FindNumberForm(precision), division, entry).Write();
}

}  // namespace slipway
