#include "core/codegen/tensor_cores/product_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codegen/tensor_cores/element_text.h"
#include "core/codegen/tensor_cores/ptx_writer.h"

namespace slipway {
namespace {

using Kind = PtxWriter::Kind;

constexpr int kElementBytes = 4;  // In the device's memory,
constexpr int kHalfBytes = 2;     // and in shared memory.
// Elements of an operand that an instance moves at once.
constexpr int kVector = 4;
// A row that no plane has, nor when rows of a window are added.
constexpr int64_t kBeyond = int64_t{1} << 30;
// So that rows of 8 numbers begin at different banks.
constexpr int kPadBytes = 16;
// Of one mma: rows, columns and depth.
constexpr int kMmaRows = 16;
constexpr int kMmaColumns = 8;
constexpr int kMmaDepth = 16;

std::string Number(int64_t number) { return absl::StrCat(number); }

int64_t Parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// One of the two matrices on its way. Its tile has rows along one of its dimensions, in which its elements are not neighbours (the outer), and
// columns along the other.
struct Loader {
  const ProductTensor* tensor = nullptr;
  bool depth_is_inner = false;
  int outer_tile = 0;
  int inner_tile = 0;
  int64_t outer_extent = 0;
  int64_t inner_extent = 0;
  int64_t outer_stride = 0;
  // Of an instance: vectors a step, so many rows apart.
  int vectors = 0;
  int rows_apart = 0;
  int shared_offset = 0;

  // Of a convolution's planes, in place of what hangs on strides: for each of an instance's places its first element, the address of that, and its
  // row and column; and the number of the window's element that the first vector holds.
  const SlidingWindow* window = nullptr;
  std::vector<std::string> place_addresses;
  std::vector<std::string> place_rows;
  std::vector<std::string> place_columns;
  std::string depth;

  std::string address;              // Of the first vector.
  std::string outer_left;           // Rows, and
  std::string inner_left;           // columns from that on to the edge.
  std::string store;                // Where it goes, in the first half.
  std::string is_aligned;           // A predicate; empty where vectors never are.
  std::vector<std::string> values;  // On their way.
  std::string fragments;            // Where the instance's lane reads, in the first half.

  int pitch() const { return inner_tile * kHalfBytes + kPadBytes; }
  int bytes() const { return outer_tile * pitch(); }
  // From one place of the depth to the next in shared memory, and across it.
  int depth_pitch() const { return depth_is_inner ? kHalfBytes : pitch(); }
  int across_pitch() const { return depth_is_inner ? pitch() : kHalfBytes; }
};

class Template {
 public:
  Template(const MatrixProduct& product, size_t inputs, Precision precision, const TensorTile& tile,
           std::string entry)
      : product_(product),
        inputs_(inputs),
        type_(precision == Precision::kBfloat16 ? "bf16" : "f16"),
        tile_(tile),
        entry_(std::move(entry)) {}

  DeviceKernel Write() {
    const int64_t row_tiles = Parts(product_.m, tile_.rows);
    const int64_t column_tiles = Parts(product_.n, tile_.columns);
    a_ = MakeLoader(product_.a, product_.a.columns == 1 || product_.k == 1, product_.m, tile_.rows);
    const bool b_is_turned =
        !product_.window.has_value() && product_.b.columns != 1 && product_.n > 1;
    b_ = MakeLoader(product_.b, b_is_turned, product_.n, tile_.columns);
    if (product_.window.has_value()) b_.window = &*product_.window;
    b_.shared_offset = a_.bytes();
    half_ = a_.bytes() + b_.bytes();
    w_.Share("halves", 2 * half_);
    FindPlace(row_tiles, column_tiles);
    StartLoading(a_, first_row_);
    StartLoading(b_, first_column_);
    FindFragments();
    sums_ = w_.Registers(Kind::kFloat, tile_.warp_rows() * tile_.warp_columns() / 32);
    for (const std::string& sum : sums_) w_.Do("mov.f32", {sum, FloatLiteral(0)});
    WriteLoop();
    WriteResult();
    return {.preamble = "",
            .text = w_.Entry(entry_, inputs_ + 1, tile_.instances()),
            .scratch_bytes = {},
            .launches = {Launch(product_.batch * row_tiles * column_tiles)}};
  }

 private:
  Loader MakeLoader(const ProductTensor& tensor, bool depth_is_inner, int64_t across,
                    int across_tile) const {
    Loader loader;
    loader.tensor = &tensor;
    loader.depth_is_inner = depth_is_inner;
    loader.outer_tile = depth_is_inner ? across_tile : kTensorTileDepth;
    loader.inner_tile = depth_is_inner ? kTensorTileDepth : across_tile;
    loader.outer_extent = depth_is_inner ? across : product_.k;
    loader.inner_extent = depth_is_inner ? product_.k : across;
    const bool rows_are_outer = depth_is_inner == (&tensor == &product_.a);
    const auto& strides = tensor.rows.strides;
    loader.outer_stride = !rows_are_outer ? tensor.columns : strides.empty() ? 0 : strides[0];
    loader.rows_apart = tile_.instances() / (loader.inner_tile / kVector);
    loader.vectors = loader.outer_tile / loader.rows_apart;
    return loader;
  }

  EntryLaunch Launch(int64_t groups) const {
    EntryLaunch launch{.entry = entry_,
                       .groups = {groups, 1, 1},
                       .group = {tile_.instances(), 1, 1},
                       .reads = {},
                       .writes = {{DeviceArgument::Kind::kOutput, 0}}};
    for (size_t i = 0; i < inputs_; ++i) {
      launch.reads.push_back({DeviceArgument::Kind::kInput, static_cast<int>(i)});
    }
    return launch;
  }

  // Tiles of one column follow each other, since they read the same of b.
  void FindPlace(int64_t row_tiles, int64_t column_tiles) {
    instance_ = w_.Word("mov.u32", {"%tid.x"});
    const std::string group = w_.Word("mov.u32", {"%ctaid.x"});
    const std::string row_tile = w_.Word("rem.u32", {group, Number(row_tiles)});
    const std::string rest = w_.Word("div.u32", {group, Number(row_tiles)});
    const std::string column_tile = w_.Word("rem.u32", {rest, Number(column_tiles)});
    batch_ = w_.Word("div.u32", {rest, Number(column_tiles)});
    first_row_ = w_.Word("mul.lo.u32", {row_tile, Number(tile_.rows)});
    first_column_ = w_.Word("mul.lo.u32", {column_tile, Number(tile_.columns)});
    lane_ = w_.Word("and.b32", {instance_, "31"});
    const std::string warp = w_.Word("shr.u32", {instance_, "5"});
    const std::string of_columns = Number(tile_.warps_of_columns);
    warp_row_ =
        w_.Word("mul.lo.u32", {w_.Word("div.u32", {warp, of_columns}), Number(tile_.warp_rows())});
    warp_column_ = w_.Word("mul.lo.u32",
                           {w_.Word("rem.u32", {warp, of_columns}), Number(tile_.warp_columns())});
  }

  // Adds what the index says of `number`, a register, to `offset`, in elements: never more than 2^29, as tensors are smaller than 2^31 bytes.
  std::string Plus(std::string offset, const Indexing& index, std::string number) {
    for (size_t i = index.extents.size(); i-- > 0;) {
      const std::string extent = Number(index.extents[i]);
      const std::string part = i == 0 ? number : w_.Word("rem.u32", {number, extent});
      if (i > 0) number = w_.Word("div.u32", {number, extent});
      if (index.strides[i] == 0) continue;
      offset = w_.Word("mad.lo.u32", {part, Number(index.strides[i]), offset});
    }
    return offset;
  }

  // Of an element of a parameter of the entry.
  std::string Address(size_t parameter, const std::string& element) {
    const std::string base = w_.Make(Kind::kAddress, "ld.param.u64",
                                     {absl::StrCat("[", entry_, "_param_", parameter, "]")});
    const std::string global = w_.Make(Kind::kAddress, "cvta.to.global.u64", {base});
    const std::string bytes =
        w_.Make(Kind::kAddress, "mul.wide.u32", {element, Number(kElementBytes)});
    return w_.Make(Kind::kAddress, "add.s64", {global, bytes});
  }

  void StartLoading(Loader& loader, const std::string& first_across) {
    const std::string vectors = Number(loader.inner_tile / kVector);
    const std::string row = w_.Word("div.u32", {instance_, vectors});
    const std::string column =
        w_.Word("mul.lo.u32", {w_.Word("rem.u32", {instance_, vectors}), Number(kVector)});
    std::string outer = row;
    std::string inner = column;
    std::string& across = loader.depth_is_inner ? outer : inner;
    across = w_.Word("add.u32", {across, first_across});
    loader.outer_left = w_.Word("sub.s32", {Number(loader.outer_extent), outer});
    loader.inner_left = w_.Word("sub.s32", {Number(loader.inner_extent), inner});
    StartStoring(loader, row, column);
    if (loader.window != nullptr) return FindPlaces(loader, outer, inner);
    // Beyond an edge the address is not used, whatever it has become.
    std::string element = w_.Word("mad.lo.u32", {outer, Number(loader.outer_stride), inner});
    element = Plus(element, loader.tensor->batch, batch_);
    loader.address = Address(static_cast<size_t>(loader.tensor->input), element);
    const auto is_whole = [](int64_t stride) { return stride % kVector == 0; };
    const auto& batch = loader.tensor->batch.strides;
    if (is_whole(loader.inner_extent) && is_whole(loader.outer_stride) &&
        std::all_of(batch.begin(), batch.end(), is_whole)) {
      // A tensor may begin at any element of another one.
      const std::string low =
          w_.Make(Kind::kAddress, "and.b64", {loader.address, Number(kVector * kElementBytes - 1)});
      loader.is_aligned = w_.Make(Kind::kPredicate, "setp.eq.u64", {low, "0"});
    }
  }

  void StartStoring(Loader& loader, const std::string& row, const std::string& column) {
    const std::string shared = w_.Word("mov.u32", {"halves"});
    const std::string at_row = w_.Word("mad.lo.u32", {row, Number(loader.pitch()), shared});
    loader.store = w_.Word("mad.lo.u32", {column, Number(kHalfBytes), at_row});
    if (loader.shared_offset != 0) {
      loader.store = w_.Word("add.u32", {loader.store, Number(loader.shared_offset)});
    }
    loader.values = w_.Registers(Kind::kFloat, loader.vectors * kVector);
  }

  // Where the window begins at an instance's places, which may be before the first row or column of a plane. Of a place that there is not, below all rows.
  void FindPlaces(Loader& loader, const std::string& depth, const std::string& place) {
    const SlidingWindow& window = *loader.window;
    loader.depth = depth;
    const std::string first =
        Address(static_cast<size_t>(loader.tensor->input),
                Plus(w_.Word("mov.u32", {"0"}), loader.tensor->batch, batch_));
    for (int i = 0; i < kVector; ++i) {
      const std::string at = w_.Word("add.u32", {place, Number(i)});
      const std::string width = Number(window.width.output);
      const auto begin = [&](const std::string& index, const SlidingWindow::Dimension& dimension) {
        return w_.Word("mad.lo.s32", {index, Number(dimension.stride), Number(-dimension.pad)});
      };
      const std::string row = begin(w_.Word("div.u32", {at, width}), window.height);
      const std::string column = begin(w_.Word("rem.u32", {at, width}), window.width);
      const std::string element = w_.Word("mad.lo.s32", {row, Number(window.width.input), column});
      const std::string bytes =
          w_.Make(Kind::kAddress, "mul.wide.s32", {element, Number(kElementBytes)});
      loader.place_addresses.push_back(w_.Make(Kind::kAddress, "add.s64", {first, bytes}));
      const std::string is_there =
          w_.Make(Kind::kPredicate, "setp.gt.s32", {loader.inner_left, Number(i)});
      loader.place_rows.push_back(w_.Word("selp.b32", {row, Number(kBeyond), is_there}));
      loader.place_columns.push_back(column);
    }
  }

  // The next step of a convolution's right matrix.
  void LoadPlaces(const Loader& loader) {
    const SlidingWindow& window = *loader.window;
    const int64_t plane = window.height.input * window.width.input;
    for (int v = 0; v < loader.vectors; ++v) {
      const int64_t row = int64_t{v} * loader.rows_apart;
      if (row >= loader.outer_extent) return;
      const std::string depth = w_.Word("add.u32", {loader.depth, Number(row)});
      const auto split = [&](const std::string& number, int64_t by) {
        const std::string quotient = w_.Word("div.u32", {number, Number(by)});
        return std::pair(quotient, w_.Word("rem.u32", {number, Number(by)}));
      };
      const auto [channel, within] = split(depth, window.height.kernel * window.width.kernel);
      const auto [kernel_row, kernel_column] = split(within, window.width.kernel);
      const std::string down = w_.Word("mul.lo.u32", {kernel_row, Number(window.height.dilation)});
      const std::string right =
          w_.Word("mul.lo.u32", {kernel_column, Number(window.width.dilation)});
      const std::string in_plane = w_.Word("mad.lo.u32", {down, Number(window.width.input), right});
      const std::string element = w_.Word("mad.lo.u32", {channel, Number(plane), in_plane});
      const std::string bytes =
          w_.Make(Kind::kAddress, "mul.wide.u32", {element, Number(kElementBytes)});
      const std::string has_depth =
          w_.Make(Kind::kPredicate, "setp.gt.s32", {loader.outer_left, Number(row)});
      const std::string down_or_beyond = w_.Word("selp.b32", {down, Number(kBeyond), has_depth});
      for (size_t i = 0; i < kVector; ++i) {
        const std::string at_row = w_.Word("add.u32", {loader.place_rows[i], down_or_beyond});
        const std::string at_column = w_.Word("add.u32", {loader.place_columns[i], right});
        // Before the first is far behind the last, without signs.
        const std::string has_row =
            w_.Make(Kind::kPredicate, "setp.lt.u32", {at_row, Number(window.height.input)});
        const std::string is_there = w_.Make(Kind::kPredicate, "setp.lt.and.u32",
                                             {at_column, Number(window.width.input), has_row});
        const std::string address =
            w_.Make(Kind::kAddress, "add.s64", {loader.place_addresses[i], bytes});
        w_.DoIf(is_there, "ld.global.nc.f32",
                {loader.values[static_cast<size_t>(v) * kVector + i], At(address)});
      }
    }
  }

  // Addresses of rows for ldmatrix: lanes 0 to 7 have those of its first matrix of 8 x 8, and so on. In a the second one is 8 rows below the first,
  // the third one 8 of the depth on; in b the other way round.
  void FindFragments() {
    const std::string eighth = w_.Word("and.b32", {lane_, "7"});
    const std::string matrix = w_.Word("shr.u32", {lane_, "3"});
    const std::string even = w_.Word("and.b32", {matrix, "1"});
    const std::string high = w_.Word("shr.u32", {matrix, "1"});
    const auto find = [&](Loader& loader, const std::string& warp, const std::string& of_across,
                          const std::string& of_depth) {
      std::string across = w_.Word("mad.lo.u32", {of_across, "8", warp});
      std::string depth = w_.Word("mul.lo.u32", {of_depth, "8"});
      std::string& outer = loader.depth_is_inner ? across : depth;
      outer = w_.Word("add.u32", {outer, eighth});
      const std::string shared = w_.Word("mov.u32", {"halves"});
      const std::string by_depth =
          w_.Word("mad.lo.u32", {depth, Number(loader.depth_pitch()), shared});
      loader.fragments = w_.Word("mad.lo.u32", {across, Number(loader.across_pitch()), by_depth});
      if (loader.shared_offset != 0) {
        loader.fragments = w_.Word("add.u32", {loader.fragments, Number(loader.shared_offset)});
      }
    };
    find(a_, warp_row_, even, high);
    find(b_, warp_column_, high, even);
  }

  // The next step of a matrix, from the device's memory to registers.
  void Load(const Loader& loader) {
    for (const std::string& value : loader.values) w_.Do("mov.f32", {value, FloatLiteral(0)});
    if (loader.window != nullptr) return LoadPlaces(loader);
    if (loader.is_aligned.empty()) return LoadElements(loader);
    const std::string elements = w_.NewLabel();
    const std::string done = w_.NewLabel();
    w_.DoIf("!" + loader.is_aligned, "bra", {elements});
    const std::string inside = w_.Make(Kind::kPredicate, "setp.gt.s32", {loader.inner_left, "0"});
    ForEachVector(loader, [&](int64_t row, int64_t offset, const std::vector<std::string>& four) {
      const std::string is_there =
          w_.Make(Kind::kPredicate, "setp.gt.and.s32", {loader.outer_left, Number(row), inside});
      w_.DoIf(is_there, "ld.global.nc.v4.f32", {InBraces(four), At(loader.address, offset)});
    });
    w_.Do("bra", {done});
    w_.Place(elements);
    LoadElements(loader);
    w_.Place(done);
  }

  void LoadElements(const Loader& loader) {
    std::vector<std::string> inside;
    for (int i = 0; i < kVector; ++i) {
      inside.push_back(w_.Make(Kind::kPredicate, "setp.gt.s32", {loader.inner_left, Number(i)}));
    }
    ForEachVector(loader, [&](int64_t row, int64_t offset, const std::vector<std::string>& four) {
      for (size_t i = 0; i < kVector; ++i) {
        const std::string is_there = w_.Make(Kind::kPredicate, "setp.gt.and.s32",
                                             {loader.outer_left, Number(row), inside[i]});
        w_.DoIf(is_there, "ld.global.nc.f32",
                {four[i], At(loader.address, offset + static_cast<int64_t>(i) * kElementBytes)});
      }
    });
  }

  // With the row, from the instance's first, the offset from its address, and the registers; those alone that can be there.
  template <typename Function>
  void ForEachVector(const Loader& loader, const Function& function) {
    for (int v = 0; v < loader.vectors; ++v) {
      const int64_t row = int64_t{v} * loader.rows_apart;
      if (row >= loader.outer_extent) return;
      const auto first = loader.values.begin() + v * kVector;
      function(row, row * loader.outer_stride * kElementBytes,
               std::vector<std::string>(first, first + kVector));
    }
  }

  // What has come, rounded, to a half of shared memory.
  void Store(const Loader& loader, const std::string& half) {
    const std::string at = w_.Word("add.u32", {loader.store, half});
    const std::string narrow = absl::StrCat("cvt.rn.", type_, "x2.f32");
    for (int v = 0; v < loader.vectors; ++v) {
      const std::string* const four = &loader.values[static_cast<size_t>(v) * kVector];
      const std::string low = w_.Word(narrow, {four[1], four[0]});
      const std::string high = w_.Word(narrow, {four[3], four[2]});
      w_.Do("st.shared.v2.b32",
            {At(at, int64_t{v} * loader.rows_apart * loader.pitch()), InBraces({low, high})});
    }
  }

  void GoOn(const Loader& loader) {
    if (loader.window != nullptr) {
      w_.Do("add.u32", {loader.depth, loader.depth, Number(kTensorTileDepth)});
    } else {
      const int64_t stride = loader.depth_is_inner ? 1 : loader.outer_stride;
      w_.Do("add.s64",
            {loader.address, loader.address, Number(stride * kTensorTileDepth * kElementBytes)});
    }
    const std::string& left = loader.depth_is_inner ? loader.inner_left : loader.outer_left;
    w_.Do("sub.s32", {left, left, Number(kTensorTileDepth)});
  }

  std::vector<std::string> Fragment(const Loader& loader, const std::string& at, int across,
                                    int depth) {
    std::vector<std::string> fragment = w_.Registers(Kind::kWord, 4);
    w_.Do(absl::StrCat("ldmatrix.sync.aligned.m8n8.x4.", loader.depth_is_inner ? "" : "trans.",
                       "shared.b16"),
          {InBraces(fragment), At(at, int64_t{across} * loader.across_pitch() +
                                          int64_t{depth} * loader.depth_pitch())});
    return fragment;
  }

  void Multiply(const std::string& half) {
    const std::string at_a = w_.Word("add.u32", {a_.fragments, half});
    const std::string at_b = w_.Word("add.u32", {b_.fragments, half});
    const std::string multiply =
        absl::StrCat("mma.sync.aligned.m16n8k16.row.col.f32.", type_, ".", type_, ".f32");
    for (int depth = 0; depth < kTensorTileDepth; depth += kMmaDepth) {
      // Two neighbours of 8 columns each.
      std::vector<std::vector<std::string>> right;
      for (int column = 0; column < tile_.warp_columns(); column += 2 * kMmaColumns) {
        right.push_back(Fragment(b_, at_b, column, depth));
      }
      size_t sum = 0;
      for (int row = 0; row < tile_.warp_rows(); row += kMmaRows) {
        const std::string left = InBraces(Fragment(a_, at_a, row, depth));
        for (const std::vector<std::string>& two : right) {
          for (size_t i = 0; i < 4; i += 2) {
            const auto first = sums_.begin() + static_cast<std::ptrdiff_t>(sum);
            const std::string sums = InBraces({first, first + 4});
            w_.Do(multiply, {sums, left, InBraces({two[i], two[i + 1]}), sums});
            sum += 4;
          }
        }
      }
    }
  }

  void WriteLoop() {
    const std::string half = w_.Word("mov.u32", {"0"});
    const std::string steps = w_.Word("mov.u32", {Number(Parts(product_.k, kTensorTileDepth))});
    for (Loader* loader : {&a_, &b_}) {
      Load(*loader);
      Store(*loader, half);
    }
    const std::string again = w_.NewLabel();
    const std::string multiply = w_.NewLabel();
    const std::string last = w_.NewLabel();
    w_.Place(again);
    w_.Do("bar.sync", {"0"});
    const std::string is_more = w_.Make(Kind::kPredicate, "setp.gt.u32", {steps, "1"});
    w_.DoIf("!" + is_more, "bra", {multiply});
    for (const Loader* loader : {&a_, &b_}) {
      GoOn(*loader);
      Load(*loader);
    }
    w_.Place(multiply);
    Multiply(half);
    w_.DoIf("!" + is_more, "bra", {last});
    w_.Do("sub.u32", {half, Number(half_), half});
    for (const Loader* loader : {&a_, &b_}) Store(*loader, half);
    w_.Do("sub.u32", {steps, steps, "1"});
    w_.Do("bra", {again});
    w_.Place(last);
  }

  // A lane has two neighbours in each of rows g and g + 8, of each mma.
  void WriteResult() {
    const std::string of_row = w_.Word("shr.u32", {lane_, "2"});
    const std::string of_column = w_.Word("mul.lo.u32", {w_.Word("and.b32", {lane_, "3"}), "2"});
    std::string row = w_.Word("add.u32", {w_.Word("add.u32", {first_row_, warp_row_}), of_row});
    const std::string column =
        w_.Word("add.u32", {w_.Word("add.u32", {first_column_, warp_column_}), of_column});
    const std::string columns_left = w_.Word("sub.s32", {Number(product_.n), column});
    const ProductTensor result = Result();
    size_t sum = 0;
    for (int down = 0; down < tile_.warp_rows(); down += kMmaRows / 2) {
      if (down > 0) row = w_.Word("add.u32", {row, Number(kMmaRows / 2)});
      const std::string rows_left = w_.Word("sub.s32", {Number(product_.m), row});
      const std::string has_row = w_.Make(Kind::kPredicate, "setp.gt.s32", {rows_left, "0"});
      std::vector<std::string> addresses;
      for (const ProductTensor& tensor : product_.tensors) {
        addresses.push_back(AddressOfRow(tensor, row, column));
      }
      const std::string to = AddressOfRow(result, row, column);
      // Of each mma: first its upper, then its lower row.
      sum = static_cast<size_t>(down / kMmaRows * tile_.warp_columns() / kMmaColumns * 4 +
                                down % kMmaRows / 8 * 2);
      for (int right = 0; right < tile_.warp_columns(); right += kMmaColumns, sum += 4) {
        for (int i = 0; i < 2; ++i) {
          const std::string is_there = w_.Make(Kind::kPredicate, "setp.gt.and.s32",
                                               {columns_left, Number(right + i), has_row});
          std::vector<std::string> elements;
          for (size_t t = 0; t < addresses.size(); ++t) {
            elements.push_back(w_.Float("mov.f32", {FloatLiteral(0)}));
            w_.DoIf(is_there, "ld.global.nc.f32",
                    {elements.back(),
                     At(addresses[t], product_.tensors[t].columns * (right + i) * kElementBytes)});
          }
          const std::string value =
              WriteSteps(product_, sums_[sum + static_cast<size_t>(i)], elements, w_);
          w_.DoIf(is_there, "st.global.f32", {At(to, int64_t{right + i} * kElementBytes), value});
        }
      }
    }
  }

  ProductTensor Result() const {
    ProductTensor result{.input = static_cast<int>(inputs_), .batch = {}, .rows = {}, .columns = 1};
    if (product_.batch > 1) result.batch = {{product_.batch}, {product_.m * product_.n}};
    if (product_.m > 1) result.rows = {{product_.m}, {product_.n}};
    return result;
  }

  std::string AddressOfRow(const ProductTensor& tensor, const std::string& row,
                           const std::string& column) {
    std::string element = w_.Word("mul.lo.u32", {column, Number(tensor.columns)});
    element = Plus(element, tensor.rows, row);
    element = Plus(element, tensor.batch, batch_);
    return Address(static_cast<size_t>(tensor.input), element);
  }

  const MatrixProduct& product_;
  const size_t inputs_;
  const std::string type_;
  const TensorTile tile_;
  const std::string entry_;
  PtxWriter w_;
  Loader a_;
  Loader b_;
  int half_ = 0;  // Bytes of one half of shared memory.
  std::string instance_, lane_, batch_;
  std::string first_row_, first_column_;  // Of the group,
  std::string warp_row_, warp_column_;    // and of the warp within.
  std::vector<std::string> sums_;         // By row, column and place of the mma.
};

}  // namespace

absl::Status CheckHasProductsOf(const DeviceTarget& device, Precision precision) {
  if (precision != Precision::kFloat16 && precision != Precision::kBfloat16) {
    return absl::UnimplementedError(
        absl::StrCat("nothing is multiplied in ", Name(precision), " on tensor cores"));
  }
  constexpr int kFirst = 80;
  if (device.arch == Arch::kCuda && device.level >= kFirst) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(device.ToString(), " has no tensor cores for ", Name(precision)));
}

DeviceKernel ProductKernel(const MatrixProduct& product, size_t inputs, Precision precision,
                           const TensorTile& tile, const std::string& entry) {
  return Template(product, inputs, precision, tile, entry).Write();
}

}  // namespace slipway
