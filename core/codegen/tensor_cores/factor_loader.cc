#include "core/codegen/tensor_cores/factor_loader.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;

// Steps ahead of those that are multiplied: of what is copied one that is there, and one on its way.
constexpr int kCopiedAhead = 2;
constexpr int kStoredAhead = 1;
// A row that no plane has, nor when rows of a window are added.
constexpr int64_t kBeyond = int64_t{1} << 30;

SharedLayout LayoutAlongDepth(const KernelFrame& frame, const Factor& factor, int ahead) {
  return {.depth_is_inner = true,
          .rows = factor.across,
          .row_bytes = frame.tile.depth_bytes,
          .slots = frame.tile.steps_at_once() + ahead,
          .memory = frame.tile.is_of_warp_groups ? kGivenName : kSharedName};
}

// The other one, of which rows go across the depth.
SharedLayout LayoutAcrossDepth(const KernelFrame& frame, const Factor& factor, int ahead) {
  SharedLayout layout = LayoutAlongDepth(frame, factor, ahead);
  layout.depth_is_inner = false;
  layout.rows = frame.depth();
  layout.row_bytes = factor.across * frame.form.bytes;
  layout.is_in_columns = frame.tile.is_of_warp_groups;
  layout.is_padded = !layout.is_in_columns;
  return layout;
}

// Vectors along rows of a matrix, each instance so many rows apart; of what lies in columns one in each column.
class Rows {
 public:
  Rows(KernelFrame& frame, const Factor& factor, const SharedLayout& layout, int vectors_of_row,
       int elements, int bytes)
      : frame_(frame),
        factor_(factor),
        layout_(layout),
        vectors_of_row_(vectors_of_row),
        elements_(elements),
        bytes_(bytes) {}

  int apart() const { return frame_.tile.instances() / vectors_of_row_; }
  int count() const { return layout_.rows / apart() * layout_.columns(); }
  int64_t row(int vector) const { return int64_t{vector / layout_.columns()} * apart(); }
  // Its elements from the instance's first column's on.
  int64_t inner(int vector) const {
    return int64_t{vector % layout_.columns()} * vectors_of_row_ * elements_;
  }
  int64_t shared_offset(int vector) const {
    return row(vector) * layout_.pitch() +
           int64_t{vector % layout_.columns()} * layout_.column_bytes();
  }
  int64_t offset(int vector) const {
    return (row(vector) * outer_stride() + inner(vector)) * bytes_;
  }
  int64_t outer_extent() const { return layout_.depth_is_inner ? factor_.extent : depth_extent(); }
  bool can_be(int vector) const { return row(vector) < outer_extent(); }
  int64_t outer_stride() const {
    return layout_.depth_is_inner ? factor_.across_stride() : factor_.depth_stride();
  }

  // Rows, and columns, from the instance's first to the edge; nothing where no step reaches one.
  std::string outer_left, inner_left;
  std::string address;
  std::string store;  // In the first slot.

  void Start(const std::string& first_across) {
    PtxWriter& w = frame_.w;
    const std::string row = w.Word("div.u32", {frame_.instance, Number(vectors_of_row_)});
    const std::string vector = w.Word("rem.u32", {frame_.instance, Number(vectors_of_row_)});
    const std::string column = w.Word("mul.lo.u32", {vector, Number(elements_)});
    std::string outer = row;
    std::string inner = column;
    std::string& across = layout_.depth_is_inner ? outer : inner;
    across = w.Word("add.u32", {across, first_across});
    std::string& depth = layout_.depth_is_inner ? inner : outer;
    depth = frame_.PlusFirstDepth(depth);
    const bool across_is_whole = factor_.extent % factor_.across == 0;
    const bool depth_is_whole = frame_.depth_is_whole();
    const int64_t inner_extent = layout_.depth_is_inner ? depth_extent() : factor_.extent;
    if (!(layout_.depth_is_inner ? across_is_whole : depth_is_whole)) {
      outer_left = w.Word("sub.s32", {Number(outer_extent()), outer});
    }
    if (!(layout_.depth_is_inner ? depth_is_whole : across_is_whole)) {
      inner_left = w.Word("sub.s32", {Number(inner_extent), inner});
    }
    // Beyond an edge the address is not used, whatever it has become.
    std::string element = w.Word("mad.lo.u32", {outer, Number(outer_stride()), inner});
    element = frame_.Plus(element, factor_.tensor.batch, frame_.batch);
    address = frame_.Address(factor_.tensor.input, element, bytes_);
    const std::string byte =
        w.Word("mul.lo.u32", {vector, Number(int64_t{elements_} * frame_.form.bytes)});
    store = layout_.Address(row, byte, w);
  }

  void GoOn() {
    PtxWriter& w = frame_.w;
    const int64_t stride = layout_.depth_is_inner ? 1 : outer_stride();
    w.Do("add.s64", {address, address, Number(stride * frame_.depth() * bytes_)});
    const std::string& left = layout_.depth_is_inner ? inner_left : outer_left;
    if (!left.empty()) w.Do("sub.s32", {left, left, Number(frame_.depth())});
  }

  // Whether vectors lie at multiples of their size, as far as extents and strides say.
  bool IsWhole() const {
    const auto is_whole = [this](int64_t stride) { return stride % elements_ == 0; };
    const auto& batch = factor_.tensor.batch.strides;
    return is_whole(layout_.depth_is_inner ? depth_extent() : factor_.extent) &&
           is_whole(outer_stride()) && std::all_of(batch.begin(), batch.end(), is_whole);
  }

  // A predicate: whether the instance's vector begins within the matrix; empty where it always does.
  std::string IsThere(int vector, const std::vector<std::string>& columns_are_there) {
    PtxWriter& w = frame_.w;
    const std::string& column_is_there =
        columns_are_there[static_cast<size_t>(vector % layout_.columns())];
    if (outer_left.empty()) return column_is_there;
    if (column_is_there.empty()) {
      return w.Make(Kind::kPredicate, "setp.gt.s32", {outer_left, Number(row(vector))});
    }
    return w.Make(Kind::kPredicate, "setp.gt.and.s32",
                  {outer_left, Number(row(vector)), column_is_there});
  }
  // The same of an element, so many from the first of the instance's vectors, by column of these.
  std::vector<std::string> ElementsAreThere(int element) {
    std::vector<std::string> are_there;
    for (int column = 0; column < layout_.columns(); ++column) {
      are_there.push_back(inner_left.empty()
                              ? ""
                              : frame_.w.Make(Kind::kPredicate, "setp.gt.s32",
                                              {inner_left, Number(inner(column) + element)}));
    }
    return are_there;
  }

 private:
  int64_t depth_extent() const { return frame_.product.k; }

  KernelFrame& frame_;
  const Factor& factor_;
  const SharedLayout& layout_;
  const int vectors_of_row_;
  const int elements_;
  const int bytes_;  // Of an element in the device's memory.
};

void DoWhere(PtxWriter& w, const std::string& predicate, absl::string_view instruction,
             const std::vector<std::string>& operands) {
  if (predicate.empty()) return w.Do(instruction, operands);
  w.DoIf(predicate, instruction, operands);
}

// Constants that are narrow in the device's memory.
class CopyLoader final : public FactorLoader {
 public:
  CopyLoader(KernelFrame& frame, const Factor& factor)
      : frame_(frame),
        factor_(factor),
        rows_(frame_, factor_, layout, frame.tile.depth_bytes / kVectorBytes,
              kVectorBytes / frame.form.bytes, frame.form.bytes) {
    layout = LayoutAlongDepth(frame, factor, kCopiedAhead);
  }

  bool is_copied() const override { return true; }
  void Start(const std::string& first_across) override { rows_.Start(first_across); }
  void GoOn() override { rows_.GoOn(); }

  void Copy(const std::string& slot, const std::string& predicate) override {
    PtxWriter& w = frame_.w;
    const std::string to = w.Word("add.u32", {rows_.store, slot});
    const std::vector<std::string> columns = rows_.ElementsAreThere(0);
    for (int v = 0; v < rows_.count(); ++v) {
      std::vector<std::string> operands = {
          At(to, rows_.shared_offset(v)), At(rows_.address, rows_.offset(v)), Number(kVectorBytes)};
      const std::string is_there = rows_.can_be(v) ? rows_.IsThere(v, columns) : "";
      if (!rows_.can_be(v)) operands.emplace_back("0");
      // Zeros take the place of what is not there.
      if (!is_there.empty()) {
        operands.push_back(w.Word("selp.b32", {Number(kVectorBytes), "0", is_there}));
      }
      DoWhere(w, predicate, "cp.async.cg.shared.global", operands);
    }
  }

 private:
  KernelFrame& frame_;
  const Factor factor_;
  Rows rows_;
};

// What comes to registers first.
class StoredLoader : public FactorLoader {
 protected:
  explicit StoredLoader(KernelFrame& frame) : frame_(frame) {}

  void MakeValues(int count) {
    values_ = frame_.w.Registers(Kind::kFloat, count);
    ClearValues();
  }
  void ClearValues() {
    for (const std::string& value : values_) frame_.w.Do("mov.f32", {value, FloatLiteral(0)});
  }
  std::vector<std::string> Values(int first, int count) const {
    return {values_.begin() + first, values_.begin() + first + count};
  }

  KernelFrame& frame_;
  std::vector<std::string>
      values_;  // Zero from the start, and on beyond an edge across the depth, where nothing is loaded.
};

// Vectors of 4 along rows. Whether extents and strides let an address have such is known here, where a tensor begins when it runs: it has both ways.
class VectorLoader final : public StoredLoader {
 public:
  VectorLoader(KernelFrame& frame, const Factor& factor, bool depth_is_inner)
      : StoredLoader(frame),
        factor_(factor),
        rows_(frame_, factor_, layout,
              (depth_is_inner                 ? frame.depth()
               : frame.tile.is_of_warp_groups ? SharedLayout::kColumnBytes / frame.form.bytes
                                              : factor.across) /
                  kVector,
              kVector, kElementBytes) {
    layout = depth_is_inner ? LayoutAlongDepth(frame, factor, kStoredAhead)
                            : LayoutAcrossDepth(frame, factor, kStoredAhead);
  }
  bool is_whole() const { return rows_.IsWhole(); }

  void Start(const std::string& first_across) override {
    rows_.Start(first_across);
    MakeValues(rows_.count() * kVector);
    if (!is_whole()) return;
    // A tensor may begin at any element of another one.
    PtxWriter& w = frame_.w;
    const std::string low =
        w.Make(Kind::kAddress, "and.b64", {rows_.address, Number(kVectorBytes - 1)});
    is_aligned_ = w.Make(Kind::kPredicate, "setp.eq.u64", {low, "0"});
  }
  void GoOn() override { rows_.GoOn(); }

  void Load() override {
    PtxWriter& w = frame_.w;
    if (!frame_.depth_is_whole()) ClearValues();
    if (is_aligned_.empty()) return LoadElements();
    const std::string elements = w.NewLabel();
    const std::string done = w.NewLabel();
    w.DoIf("!" + is_aligned_, "bra", {elements});
    const std::vector<std::string> columns = rows_.ElementsAreThere(0);
    for (int v = 0; v < rows_.count() && rows_.can_be(v); ++v) {
      DoWhere(w, rows_.IsThere(v, columns), "ld.global.nc.v4.f32",
              {InBraces(Values(v * kVector, kVector)), At(rows_.address, rows_.offset(v))});
    }
    w.Do("bra", {done});
    w.Place(elements);
    LoadElements();
    w.Place(done);
  }

  void Store(const std::string& slot) override {
    const std::string at = frame_.w.Word("add.u32", {rows_.store, slot});
    for (int v = 0; v < rows_.count(); ++v) {
      frame_.StoreShared(at, rows_.shared_offset(v), frame_.Rounded(Values(v * kVector, kVector)));
    }
  }

 private:
  void LoadElements() {
    std::vector<std::vector<std::string>> columns;
    for (int i = 0; i < kVector; ++i) columns.push_back(rows_.ElementsAreThere(i));
    for (int v = 0; v < rows_.count() && rows_.can_be(v); ++v) {
      for (int i = 0; i < kVector; ++i) {
        DoWhere(frame_.w, rows_.IsThere(v, columns[static_cast<size_t>(i)]), "ld.global.nc.f32",
                {values_[static_cast<size_t>(v * kVector + i)],
                 At(rows_.address, rows_.offset(v) + int64_t{i} * kElementBytes)});
      }
    }
  }

  const Factor factor_;
  Rows rows_;
  std::string is_aligned_;  // A predicate; empty where vectors never are.
};

// Element by element, of matrices whose rows go across the depth and of windows: an instance has one place across it, its neighbours have those beside, and
// several of the depth, which become neighbours in shared memory.
class PlaceLoader final : public StoredLoader {
 public:
  PlaceLoader(KernelFrame& frame, const Factor& factor) : StoredLoader(frame), factor_(factor) {
    layout = LayoutAlongDepth(frame, factor, kStoredAhead);
  }

  void Start(const std::string& first_across) override {
    PtxWriter& w = frame_.w;
    const std::string row = w.Word("rem.u32", {frame_.instance, Number(factor_.across)});
    const std::string part = w.Word("div.u32", {frame_.instance, Number(factor_.across)});
    first_depth_ = w.Word("mul.lo.u32", {part, Number(count())});
    const std::string byte = w.Word("mul.lo.u32", {first_depth_, Number(frame_.form.bytes)});
    store_ = layout.Address(row, byte, w);
    if (!has_kernel() || is_mixed()) first_depth_ = frame_.PlusFirstDepth(first_depth_);
    MakeValues(count());
    const std::string place = w.Word("add.u32", {row, first_across});
    is_inside_ = w.Make(Kind::kPredicate, "setp.lt.u32", {place, Number(factor_.extent)});
    std::string element = frame_.Plus(w.Word("mov.u32", {"0"}), factor_.tensor.batch, frame_.batch);
    if (factor_.window == nullptr) {
      element = w.Word("mad.lo.u32", {place, Number(factor_.across_stride()), element});
    } else {
      const auto begin = [&](const char* part_of, const SlidingWindow::Dimension& dimension) {
        const std::string index = w.Word(part_of, {place, Number(factor_.window->width.output)});
        return w.Word("mad.lo.s32", {index, Number(dimension.stride), Number(-dimension.pad)});
      };
      row_ = begin("div.u32", factor_.window->height);
      row_ = w.Word("selp.b32", {row_, Number(kBeyond), is_inside_});
      column_ = begin("rem.u32", factor_.window->width);
    }
    if (has_kernel() && !is_mixed()) FindKernelElement();
    if (!is_mixed()) element = w.Word("mad.lo.u32", {first_depth_, Number(stride()), element});
    address_ = frame_.Address(factor_.tensor.input, element);
    if (is_mixed()) return StartMixed();
    if (factor_.window == nullptr) return;
    offset_ = w.Register(Kind::kWord);
    is_inside_ = w.Register(Kind::kPredicate);
    EnterKernelElement();
  }

  void GoOn() override {
    PtxWriter& w = frame_.w;
    if (is_mixed()) {
      return w.Do("add.s64", {table_, table_, Number(int64_t{kEntryBytes} * frame_.depth())});
    }
    if (!frame_.depth_is_whole()) {
      w.Do("add.u32", {first_depth_, first_depth_, Number(frame_.depth())});
    }
    const int64_t step = stride() * frame_.depth() * kElementBytes;
    w.Do("add.s64", {address_, address_, Number(step)});
    if (!has_kernel()) return;
    // Behind the last channels comes the next element of the window, from the first ones on.
    const std::string same = w.NewLabel();
    w.Do("sub.u32", {steps_left_, steps_left_, "1"});
    const std::string is_same = w.Make(Kind::kPredicate, "setp.ne.u32", {steps_left_, "0"});
    w.DoIf(is_same, "bra", {same});
    w.Do("mov.u32", {steps_left_, Number(steps_of_element())});
    w.Do("add.s64", {address_, address_, Number(-step * steps_of_element())});
    const SlidingWindow& window = *factor_.window;
    w.Do("add.u32", {kernel_column_, kernel_column_, Number(window.width.dilation)});
    const std::string is_next_row =
        w.Make(Kind::kPredicate, "setp.eq.u32",
               {kernel_column_, Number(window.width.kernel * window.width.dilation)});
    w.DoIf(is_next_row, "mov.u32", {kernel_column_, "0"});
    w.DoIf(is_next_row, "add.u32", {kernel_row_, kernel_row_, Number(window.height.dilation)});
    EnterKernelElement();
    ClearValues();
    w.Place(same);
  }

  void Load() override {
    PtxWriter& w = frame_.w;
    if (is_mixed()) return LoadMixed();
    if (!frame_.depth_is_whole()) ClearValues();
    std::string from = address_;
    if (factor_.window != nullptr) {
      from = w.Make(Kind::kAddress, "mad.wide.s32", {offset_, Number(kElementBytes), address_});
    }
    for (int i = 0; i < count(); ++i) {
      std::string is_there = is_inside_;
      if (!frame_.depth_is_whole()) {
        const std::string depth = w.Word("add.u32", {first_depth_, Number(i)});
        is_there = w.Make(Kind::kPredicate, "setp.lt.and.u32",
                          {depth, Number(frame_.product.k), is_inside_});
      }
      w.DoIf(is_there, "ld.global.nc.f32",
             {values_[static_cast<size_t>(i)], At(from, i * stride() * kElementBytes)});
    }
  }

  void Store(const std::string& slot) override {
    PtxWriter& w = frame_.w;
    const std::string at = w.Word("add.u32", {store_, slot});
    const int piece = kVectorBytes / frame_.form.bytes;
    for (int i = 0; i < count(); i += piece) {
      const std::string to =
          i == 0 ? at : w.Word("xor.b32", {at, Number(int64_t{i} * frame_.form.bytes)});
      frame_.StoreShared(to, 0, frame_.Rounded(Values(i, piece)));
    }
  }

 private:
  // Of the depth, for each instance.
  int count() const { return frame_.depth() * factor_.across / frame_.tile.instances(); }
  int64_t plane() const { return factor_.window->height.input * factor_.window->width.input; }
  int64_t kernel_elements() const {
    return factor_.window->height.kernel * factor_.window->width.kernel;
  }
  // From one of the depth to the next.
  int64_t stride() const { return factor_.window == nullptr ? factor_.depth_stride() : plane(); }
  // Whether the window has several elements, all channels of one behind those of another.
  bool has_kernel() const { return factor_.window != nullptr && kernel_elements() > 1; }
  // Whether elements of the window alternate from one of the depth to the next.
  bool is_mixed() const { return has_kernel() && !factor_.window->channels_are_inner; }
  int64_t steps_of_element() const { return frame_.product.k / kernel_elements() / frame_.depth(); }

  // A place of the plane that may be beyond an edge: before the first is far behind the last, without signs.
  std::string IsInPlane(const std::string& row, const std::string& column) {
    PtxWriter& w = frame_.w;
    const SlidingWindow& window = *factor_.window;
    const std::string has_row =
        w.Make(Kind::kPredicate, "setp.lt.u32", {row, Number(window.height.input)});
    return w.Make(Kind::kPredicate, "setp.lt.and.u32",
                  {column, Number(window.width.input), has_row});
  }

  // The one that the group begins with, and the channel.
  void FindKernelElement() {
    PtxWriter& w = frame_.w;
    if (frame_.parts == 1) {
      kernel_row_ = w.Word("mov.u32", {"0"});
      kernel_column_ = w.Word("mov.u32", {"0"});
      steps_left_ = w.Word("mov.u32", {Number(steps_of_element())});
      return;
    }
    const SlidingWindow& window = *factor_.window;
    const std::string step = w.Word("rem.u32", {frame_.first_step, Number(steps_of_element())});
    steps_left_ = w.Word("sub.u32", {Number(steps_of_element()), step});
    first_depth_ = w.Word("mad.lo.u32", {step, Number(frame_.depth()), first_depth_});
    const std::string kernel_element =
        w.Word("div.u32", {frame_.first_step, Number(steps_of_element())});
    const std::string width = Number(window.width.kernel);
    kernel_row_ = w.Word(
        "mul.lo.u32", {w.Word("div.u32", {kernel_element, width}), Number(window.height.dilation)});
    kernel_column_ = w.Word(
        "mul.lo.u32", {w.Word("rem.u32", {kernel_element, width}), Number(window.width.dilation)});
  }

  // Where in a plane an instance reads for the window's element.
  void EnterKernelElement() {
    PtxWriter& w = frame_.w;
    const std::string row = has_kernel() ? w.Word("add.u32", {row_, kernel_row_}) : row_;
    const std::string column =
        has_kernel() ? w.Word("add.u32", {column_, kernel_column_}) : column_;
    const std::string in_plane = IsInPlane(row, column);
    w.Do("and.pred", {is_inside_, in_plane, in_plane});
    w.Do("mad.lo.s32", {offset_, row, Number(factor_.window->width.input), column});
  }

  // Whether no window goes beyond an edge, nor a step beyond the depth's end.
  bool is_always_in_plane() const {
    const auto is_inside = [](const SlidingWindow::Dimension& dimension) {
      return dimension.pad == 0 && (dimension.output - 1) * dimension.stride +
                                           (dimension.kernel - 1) * dimension.dilation <
                                       dimension.input;
    };
    return frame_.depth_is_whole() && is_inside(factor_.window->height) &&
           is_inside(factor_.window->width);
  }

  // A place in a plane is one word: its column, and its row above that where there are several.
  int64_t PlaceOf(int64_t row, int64_t column) const {
    return factor_.window->is_flat() ? column : row * kPlacesOfRow + column;
  }

  // For each of the depth, up to the end of the last part's last step: how far it lies behind the window's first element, and its place from there.
  void WriteTable(const std::string& name) {
    const SlidingWindow& window = *factor_.window;
    std::vector<int64_t> words;
    for (int64_t depth = 0; depth < frame_.steps_of_part() * frame_.parts * frame_.depth();
         ++depth) {
      const int64_t channel = depth / kernel_elements();
      const int64_t row = depth % kernel_elements() / window.width.kernel * window.height.dilation;
      const int64_t column = depth % window.width.kernel * window.width.dilation;
      const bool is_there = depth < frame_.product.k;
      words.push_back(is_there ? channel * plane() + row * window.width.input + column : 0);
      words.push_back(is_there ? PlaceOf(row, column) : kBeyond);
    }
    frame_.w.Table(name, words);
  }

  // Of windows whose elements alternate: where the instance's window begins, and its first entry of the table, which is the same for all lanes of a warp, as their part of the depth is.
  void StartMixed() {
    PtxWriter& w = frame_.w;
    const std::string name = absl::StrCat(frame_.entry, "_places");
    WriteTable(name);
    const std::string within =
        w.Word("mad.lo.s32", {row_, Number(factor_.window->width.input), column_});
    address_ = w.Make(Kind::kAddress, "mad.wide.s32", {within, Number(kElementBytes), address_});
    const std::string table = w.Make(Kind::kAddress, "mov.u64", {name});
    table_ = w.Make(Kind::kAddress, "mad.wide.u32", {first_depth_, Number(kEntryBytes), table});
    const std::string place = factor_.window->is_flat()
                                  ? column_
                                  : w.Word("mad.lo.s32", {row_, Number(kPlacesOfRow), column_});
    place_ = w.Word("selp.b32", {place, Number(2 * kBeyond), is_inside_});
  }

  // A predicate: whether there is an element so far from the instance's place. One before the first column is as one behind all columns of the row above.
  std::string IsThere(const std::string& from_place) {
    PtxWriter& w = frame_.w;
    const SlidingWindow& window = *factor_.window;
    const std::string place = w.Word("add.u32", {place_, from_place});
    if (window.is_flat()) {
      return w.Make(Kind::kPredicate, "setp.lt.u32", {place, Number(window.width.input)});
    }
    const std::string has_row = w.Make(Kind::kPredicate, "setp.lt.u32",
                                       {place, Number(window.height.input * kPlacesOfRow)});
    const std::string column = w.Word("shl.b32", {place, "16"});
    return w.Make(Kind::kPredicate, "setp.lt.and.u32",
                  {column, Number(window.width.input * kPlacesOfRow), has_row});
  }

  void LoadMixed() {
    PtxWriter& w = frame_.w;
    const bool is_always_there = is_always_in_plane();
    if (!is_always_there) ClearValues();
    for (int i = 0; i < count(); ++i) {
      const std::vector<std::string> entry = w.Registers(Kind::kWord, 2);
      w.Do("ld.global.nc.v2.u32", {InBraces(entry), At(table_, int64_t{i} * kEntryBytes)});
      const std::string is_there = is_always_there ? is_inside_ : IsThere(entry[1]);
      const std::string from =
          w.Make(Kind::kAddress, "mad.wide.u32", {entry[0], Number(kElementBytes), address_});
      w.DoIf(is_there, "ld.global.nc.f32", {values_[static_cast<size_t>(i)], At(from)});
    }
  }

  // Of the table. Two entries a load would be fewer instructions, and more registers than there are.
  static constexpr int kEntryBytes = 8;
  static constexpr int64_t kPlacesOfRow = SlidingWindow::kMostColumns;

  const Factor factor_;
  std::string first_depth_;  // Of the instance's; goes on where somebody asks for it.
  std::string store_;
  std::string address_;    // Of the instance's first channel, or element.
  std::string table_;      // Of its first entry of the table,
  std::string place_;      // and from where that counts; empty where there is none.
  std::string is_inside_;  // A predicate: whether there is something to load at its place.
  // Of windows: where it begins at the instance's place, which may be before the first row or column; of a place that there is not, below all rows.
  std::string row_, column_;
  std::string kernel_row_, kernel_column_, steps_left_;  // The element of the window.
  std::string offset_;                                   // In the plane.
};

}  // namespace

std::unique_ptr<FactorLoader> MakeFactorLoader(KernelFrame& frame, const Factor& factor) {
  if (factor.tensor.dtype != DataType::kFloat32) return std::make_unique<CopyLoader>(frame, factor);
  if (factor.window != nullptr) return std::make_unique<PlaceLoader>(frame, factor);
  if (factor.depth_stride() == 1 || frame.product.k == 1) {
    return std::make_unique<VectorLoader>(frame, factor, /*depth_is_inner=*/true);
  }
  const bool fills_columns = !frame.tile.is_of_warp_groups ||
                             factor.across * frame.form.bytes % SharedLayout::kColumnBytes == 0;
  if (frame.form.is_narrow() && fills_columns) {
    auto loader = std::make_unique<VectorLoader>(frame, factor, /*depth_is_inner=*/false);
    if (loader->is_whole()) return loader;
  }
  return std::make_unique<PlaceLoader>(frame, factor);
}

}  // namespace slipway
