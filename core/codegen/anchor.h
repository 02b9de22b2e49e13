// What a lowering leaves to a schedule: the kind of loops that a Func asks for, the Funcs it is computed by, and
// the numbers that tiles are chosen by. It says what is computed and knows no machine; how, is said by the
// schedule that schedules/schedule_list.h has for the kind and the machine.
#ifndef SLIPWAY_CORE_CODEGEN_ANCHOR_H_
#define SLIPWAY_CORE_CODEGEN_ANCHOR_H_

#include <halide14/Halide.h>

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "absl/status/status.h"

namespace slipway {

// Stands for an extent that is not known, in the numbers that schedules get. What is split by a factor then has a tail that
// is guarded.
inline constexpr int kOpen = -1;
// What a schedule reckons with in its place.
inline constexpr int kAssumedExtent = 256;
inline int Assumed(int extent) { return extent == kOpen ? kAssumedExtent : extent; }

// The dimensions that are named are those of the Func that is scheduled, innermost first.
enum class AnchorKind {
  kInjective,             // Nothing but an expression: InjectiveStages.
  kUpdated,               // Updates over whole dimensions, read element by element: UpdatedStages.
  kBlockedConvolution,    // (c, x, y, C, n), c a block of channels: ConvolutionStages.
  kDepthwiseConvolution,  // (c, x, y, C, n), each C from its own input channels: ConvolutionStages.
  kPlainConvolution,      // (x, y, C, n): ConvolutionStages.
  kWinogradConvolution,   // (c, x, y, C, n): WinogradStages.
  kMatrixProduct,         // (column, row, batch...): MatrixStages.
  kStrassenProduct,       // (column, row), or (c, x, y, C, n): StrassenStages.
  kReduction,             // The dimensions that are left: ReductionStages.
  kRows,                  // Those of its input: RowStages.
  kJoin,                  // Those of its parts: JoinStages.
};

struct InjectiveStages {
  std::vector<int> extents;  // Innermost first.
  int element_bytes = 4;     // Of its largest elements.
};

struct UpdatedStages {};

struct ConvolutionStages {
  Halide::Func accumulator;  // Summed in its one update; the same dimensions as the result.
  Halide::Func padded;       // The input within its zeros; undefined where there is no padding.
  // What the sums read of that, as it is, for a schedule to load together: its innermost dimension is the one that `steps`
  // walks along, by one. Undefined where there is nothing to load together.
  Halide::Func loaded;
  Halide::RVar steps;
  // Whether `padded` is made a few rows at a time, beside what reads them, which is `window_rows` of it at once.
  bool slides = false;
  int window_rows = 0;
  Halide::RDom reduction;
  // Extent of its first dimension: products of small numbers, which machines add at once; 1: one of any.
  int terms = 1;
  // Steps of the reduction that lie behind each other in both operands: those of a block, and of neighbouring columns.
  int steps_together = 1;
  // Extent of the result's innermost dimension where that is channels; 0 where it is the width.
  int block = 0;
  // Extent of the padded input's innermost dimension where that is channels, a power of two; 0 where it is
  // the width.
  int input_block = 0;
  int width = 1;   // Of the output, in positions.
  int height = 1;  // Of the output.
  int batch = 1;
  // Outer channel extent of the output, and how many of those read the same inputs (a group's).
  int channel_blocks = 1;
  int group_blocks = 1;
  // Of one image what a block of output channels reads, its borders aside, and of the weights. 0: not told.
  int64_t input_bytes = 0;
  int64_t block_weight_bytes = 0;
};

// A convolution by transformed tiles (core/kernels/winograd.h). Tiles p are numbered through an image, row by row; i and j are
// column and row in a tile.
struct WinogradStages {
  Halide::Func padded;  // (c, x, y, C, n), the input within zeros as far as the last tile reaches.
  Halide::Func input_rows;   // (c, i, j, p, C, n), half of the way to:
  Halide::Func transformed;  // (c, i, j, p, C, n), t x t of each tile.
  // The same, as ConvolutionStages has it, along the first dimension of the reduction.
  Halide::Func loaded;
  Halide::Func accumulator;  // (c, p, C, i, j, n), summed in its one update.
  Halide::RDom reduction;    // Over a block of input channels, and these.
  Halide::Func products;     // (c, p, C, i, j, n), what was summed.
  Halide::Func output_rows;  // (c, i, j, p, C, n), half of the way to:
  Halide::Func tiles;        // (c, i, j, p, C, n), (t - 2) x (t - 2) of each tile.
  int tile = 4;              // t.
  int rows = 1;              // Of tiles.
  int columns = 1;
  int height = 1;  // Of the output, in positions.
  int width = 1;
  int batch = 1;
  int in_block = 1;
  int in_blocks = 1;
  int out_blocks = 1;
};

struct MatrixStages {
  Halide::Func accumulator;  // (column, row, batch...), summed in its one update.
  Halide::RDom reduction;    // Its last dimension is that of the steps;
  int terms =
      1;  // the first one, where it has two, of so many terms, as ConvolutionStages has them.
  int columns = 1;
  int rows = 1;
  int64_t batch = 1;  // The product of the batch dimensions.
  // Columns of one packed block, a power of two, the last of which may have some more than there are; 0 when the right
  // operand is row-major and any vector will do.
  int block = 0;
  // (column, k, batch...): the right operand where nobody has packed it, for the schedule to copy in parts if that pays.
  Halide::Func right;
  bool right_is_transposed = false;  // What lies together where it is read is a column.
};

// A product by seven of half its extents (core/operators/strassen.h). Rows come in pairs; of images they are all places of all of them.
struct StrassenStages {
  Halide::Func left;         // (step, pair, steps, product), sums of quarters, steps in blocks.
  Halide::Func accumulator;  // (column, pair, product), summed in its one update.
  Halide::RDom reduction;    // Over the steps of a block, and the blocks.
  Halide::Func products;     // (column, pair, product), what was summed.
  Halide::Func quarters;     // (column, across, down, pair) of the result.
  int rows = 1;
  int step_block = 1;   // Steps of the depth that lie together in the left matrix: those of a row,
  int step_blocks = 1;  // or of a block of an image's channels. Blocks of half of the depth.
  int half_columns = 1;
  int block = 1;   // Columns of a packed block, a power of two that divides half of them.
  int images = 0;  // 0: the result is a matrix.
  int height = 1;  // Of an image, in places.
  int width = 1;
};

// Elements combined over some dimensions. All Funcs have the kept dimensions; `partial` has a dimension of
// `lanes` partial results before them where the innermost dimension is not kept, else one of `sums` behind them.
struct PartialReduction {
  Halide::Func total;
  Halide::Func partial;  // Undefined when the innermost dimension is kept and `sums` is 1.
  int lanes = 1;
  int sums = 1;
};

struct ReductionStages {
  PartialReduction reduction;
  Halide::Type type;
  int kept_extent = 0;  // Of the innermost dimension where it is kept; 0 where it is reduced.
  std::vector<int> out_extents;  // Of the result, innermost first.
  int64_t elements = 0;          // Of the input.
};

// Rows, each made of what was combined over all of its elements: softmax, normalizations. A row runs along some of the
// dimensions, and through `group` places of the innermost other one, which that divides.
struct RowStages {
  std::vector<PartialReduction> reductions;  // Over a row's elements, each of the ones before.
  Halide::Func elements;     // A row on the way, in memory of its own; may be undefined.
  std::vector<int> extents;  // Innermost first.
  std::vector<bool> along;   // A dimension.
  int group = 1;
};

// Several inputs one after the other along a dimension, each written by an update of its own.
struct JoinStages {
  struct Part {
    Halide::RDom domain;  // Of `dimension`.
    int update = 0;
    int extent = 0;
  };
  std::vector<Part> parts;
  int dimension = 0;
  std::vector<Halide::Var> vars;
  std::vector<int> extents;  // Of the result, innermost first.
  Halide::Type type;
};

using AnchorStages =
    std::variant<InjectiveStages, UpdatedStages, ConvolutionStages, WinogradStages, MatrixStages,
                 StrassenStages, ReductionStages, RowStages, JoinStages>;

struct Anchor {
  AnchorKind kind = AnchorKind::kInjective;
  AnchorStages stages;
  // Whether the schedule may be given, in place of the operator's own output, a Func of the same shape that an
  // elementwise tail of the group made of it.
  bool takes_epilogue = false;
};

// Schedules `result` and every Func of the anchor below it. kInjective and kUpdated also give it memory of its
// own (compute_root). UNIMPLEMENTED where the machine has no schedule for the kind. May throw Halide's errors.
using ScheduleFunction = std::function<absl::Status(const Anchor& anchor, Halide::Func result)>;

// The largest power of two that is at most `lanes` and at most `extent`: what fits into a vector.
inline int LanesWithin(int lanes, int extent) {
  if (extent == kOpen) return lanes;
  while (lanes > extent && lanes > 1) lanes /= 2;
  return lanes;
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ANCHOR_H_
