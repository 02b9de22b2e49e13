#include "core/kernels/movement.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/places.h"

namespace slipway::kernels {
namespace {

constexpr char kOutside[] = "an index is outside of its dimension";

// A space of elements that are copied, each side with its strides in elements; 0 and negative ones are fine.
struct Walk {
  int rank = 0;
  PerDimension extents;
  PerDimension from;
  PerDimension to;

  void Add(int64_t extent, int64_t from_stride, int64_t to_stride) {
    extents[rank] = extent;
    from[rank] = from_stride;
    to[rank] = to_stride;
    ++rank;
  }
};

void Copy(const Walk& walk, int64_t bytes, const char* from, char* to) {
  // The innermost dimensions that are dense on both sides move as one piece.
  int rank = walk.rank;
  int64_t piece = 1;
  while (rank > 0 && (walk.extents[rank - 1] == 1 ||
                      (walk.from[rank - 1] == piece && walk.to[rank - 1] == piece))) {
    piece *= walk.extents[--rank];
  }
  if (piece == 0) return;
  const auto move = static_cast<uint64_t>(piece * bytes);
  const PerDimension strides[] = {walk.from, walk.to};
  ForEachPlace(rank, walk.extents, strides, [&](int64_t, const int64_t* at) {
    __builtin_memcpy(to + at[1] * bytes, from + at[0] * bytes, move);
    return 0;
  });
}

// The same for elements of one to eight bytes that lie apart: as numbers, which is faster than a call each.
template <typename T>
void CopyElements(const Walk& walk, const char* from, char* to) {
  const PerDimension strides[] = {walk.from, walk.to};
  const int last = walk.rank - 1;
  const int64_t count = walk.extents[last];
  const int64_t from_step = walk.from[last];
  const int64_t to_step = walk.to[last];
  ForEachPlace(last, walk.extents, strides, [&](int64_t, const int64_t* at) {
    const T* source = reinterpret_cast<const T*>(from) + at[0];
    T* destination = reinterpret_cast<T*>(to) + at[1];
    for (int64_t i = 0; i < count; ++i) destination[i * to_step] = source[i * from_step];
    return 0;
  });
}

void CopyBetween(const Walk& walk, const Operand& x, int64_t x_offset, const Operand& y,
                 int64_t y_offset) {
  const int64_t bytes = ByteSize(x.type());
  const char* from = x.data<const char>() + x_offset * bytes;
  char* to = y.data<char>() + y_offset * bytes;
  const int last = walk.rank - 1;
  const bool apart =
      last >= 0 && walk.extents[last] != 1 && (walk.from[last] != 1 || walk.to[last] != 1);
  if (apart && bytes == 4) return CopyElements<uint32_t>(walk, from, to);
  if (apart && bytes == 8) return CopyElements<uint64_t>(walk, from, to);
  if (apart && bytes == 1) return CopyElements<uint8_t>(walk, from, to);
  if (apart && bytes == 2) return CopyElements<uint16_t>(walk, from, to);
  Copy(walk, bytes, from, to);
}

// All of `part`, which lies in `whole` but for the axis; walked with the strides of both.
Walk PartOf(const Operand& part, const Operand& whole, bool whole_is_source) {
  const PerDimension inner = StridesOf(part);
  const PerDimension outer = StridesOf(whole);
  Walk walk;
  for (int d = 0; d < part.rank(); ++d) {
    walk.Add(part.extent(d), whole_is_source ? outer[d] : inner[d],
             whole_is_source ? inner[d] : outer[d]);
  }
  return walk;
}

bool SameBut(const Operand& a, const Operand& b, int axis) {
  for (int d = 0; d < a.rank(); ++d) {
    if (d != axis && a.extent(d) != b.extent(d)) return false;
  }
  return true;
}

// One axis of a Slice over an extent: as Python does but for one thing, that a slice which goes backwards begins at an
// element even where it is told to begin before the first.
struct AxisSlice {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

int64_t Clamped(int64_t at, int64_t extent, int64_t lowest, int64_t highest) {
  if (at < 0) at = at < -extent ? -1 : at + extent;
  return at < lowest ? lowest : at > highest ? highest : at;
}

AxisSlice SliceOf(int64_t start, int64_t end, int64_t step, int64_t extent) {
  AxisSlice slice{0, step, 0};
  if (extent == 0) return slice;
  if (step > 0) {
    slice.start = start < -extent ? 0 : Clamped(start, extent, 0, extent);
    const int64_t last = end < -extent ? 0 : Clamped(end, extent, 0, extent);
    if (last > slice.start) slice.count = (last - slice.start - 1) / step + 1;
  } else {
    slice.start = Clamped(start, extent, 0, extent - 1);
    const int64_t last = Clamped(end, extent, -1, extent - 1);
    if (slice.start > last) slice.count = (slice.start - last - 1) / -step + 1;
  }
  if (slice.count == 0) slice.start = 0;
  return slice;
}

// How long part `i` of a Split is.
int64_t PartLength(const Call& call, int i) {
  if (call.input(1).present()) return IndexAt(call.input(1), i);
  const int64_t extent = call.input(0).extent(static_cast<int>(call.Integer(0)));
  const int64_t parts = call.num_outputs();
  const int64_t part = (extent + parts - 1) / parts;
  return i + 1 < parts ? part : extent - part * (parts - 1);
}

const char* SplitExtents(const Call& call, Extents& extents) {
  constexpr const char* kNoParts = "the parts do not split the axis";
  const Operand x = call.input(0);
  const int axis = static_cast<int>(call.Integer(0));
  if (call.input(1).present() && call.input(1).elements() != call.num_outputs()) return kNoParts;
  int64_t left = x.extent(axis);
  for (int i = 0; i < call.num_outputs(); ++i) {
    const int64_t length = PartLength(call, i);
    if (length < 0 || length > left) return kNoParts;
    left -= length;
    for (int d = 0; d < x.rank(); ++d) extents.Add(i, d == axis ? length : x.extent(d));
  }
  return left == 0 ? nullptr : kNoParts;
}

// What a Slice takes: an element at `offset` of x, and from there `counts` elements by `strides`.
struct Slices {
  explicit Slices(const Call& call) {
    const Operand x = call.input(0);
    const Operand starts = call.input(1);
    const Operand ends = call.input(2);
    const Operand axes = call.input(3);
    const Operand steps = call.input(4);
    const PerDimension from = StridesOf(x);
    strides = from;
    counts = ExtentsOf(x);
    const int64_t count = starts.elements();
    if (ends.elements() != count || (axes.present() && axes.elements() != count) ||
        (steps.present() && steps.elements() != count)) {
      wrong = "starts, ends, axes and steps differ in length";
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const int d = axes.present() ? AxisAt(axes, i, x.rank()) : static_cast<int>(i);
      if (d < 0 || d >= x.rank()) {
        wrong = kOutside;
        return;
      }
      const int64_t step = steps.present() ? IndexAt(steps, i) : 1;
      if (step == 0 || step == INT64_MIN) {
        wrong = "a step is 0 or has no opposite";
        return;
      }
      const AxisSlice slice = SliceOf(IndexAt(starts, i), IndexAt(ends, i), step, x.extent(d));
      // Where there is at most one element along it, the step is not taken and may be anything.
      strides[d] = slice.count > 1 ? from[d] * slice.step : 0;
      counts[d] = slice.count;
      offset += slice.start * from[d];
    }
  }

  PerDimension strides;
  PerDimension counts;
  int64_t offset = 0;
  const char* wrong = nullptr;
};

const char* SliceExtents(const Call& call, Extents& extents) {
  const Slices slices(call);
  for (int d = 0; d < call.input(0).rank(); ++d) extents.Add(0, slices.counts[d]);
  return slices.wrong;
}

const char* ExpandExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  const Operand shape = call.input(1);
  const auto wanted = static_cast<int>(shape.elements());
  const int rank = wanted > x.rank() ? wanted : x.rank();
  for (int d = 0; d < rank; ++d) {
    const int64_t from = d < rank - x.rank() ? 1 : x.extent(d - (rank - x.rank()));
    const int64_t to = d < rank - wanted ? 1 : IndexAt(shape, d - (rank - wanted));
    if (from != to && from != 1 && to != 1) return "x does not broadcast to the shape";
    extents.Add(0, from == 1 ? to : from);
  }
  return nullptr;
}

// What a Pad adds before and behind, by dimension; negative where it cuts off.
struct Pads {
  explicit Pads(const Call& call) {
    const Operand x = call.input(0);
    const Operand pads = call.input(1);
    const Operand axes = call.input(3);
    const int64_t count = pads.elements() / 2;
    if (pads.elements() != 2 * (axes.present() ? axes.elements() : x.rank())) {
      wrong = "there are not two pads for each axis";
    }
    for (int64_t i = 0; i < count && wrong == nullptr; ++i) {
      const int d = axes.present() ? AxisAt(axes, i, x.rank()) : static_cast<int>(i);
      if (d < 0 || d >= x.rank()) {
        wrong = kOutside;
        return;
      }
      begins[d] = IndexAt(pads, i);
      ends[d] = IndexAt(pads, count + i);
      Check(static_cast<PadMode>(call.Integer(0)), begins[d], ends[d], x.extent(d));
    }
  }

  PerDimension begins;
  PerDimension ends;
  const char* wrong = nullptr;

 private:
  void Check(PadMode mode, int64_t begin, int64_t end, int64_t extent) {
    const bool fits =
        begin >= -kMostExtent && begin <= kMostExtent && end >= -kMostExtent && end <= kMostExtent;
    if (!fits || (begin < 0 ? begin : 0) + (end < 0 ? end : 0) + extent < 0) {
      wrong = "a pad cuts off more than there is, or is beyond 2^31 - 1";
      return;
    }
    const bool grows = begin > 0 || end > 0;
    const int64_t more = begin > end ? begin : end;
    if (mode != PadMode::kConstant && grows &&
        (extent == 0 || (mode == PadMode::kReflect && more >= extent))) {
      wrong = "there is nothing to pad with";
    }
  }
};

const char* PadExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  const Pads pads(call);
  if (pads.wrong != nullptr) return pads.wrong;
  for (int d = 0; d < x.rank(); ++d) extents.Add(0, pads.begins[d] + x.extent(d) + pads.ends[d]);
  return nullptr;
}

// Where position `at` of a padded dimension reads; -1 where it reads nothing.
int64_t SourcePosition(PadMode mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  switch (mode) {
    case PadMode::kConstant:
      return -1;
    case PadMode::kEdge:
      return at < 0 ? 0 : extent - 1;
    case PadMode::kWrap:
      return (at % extent + extent) % extent;
    case PadMode::kReflect: {
      // 0 1 2 3 goes on as 2 1 and comes from 2 1: the border is not repeated.
      const int64_t mirrored = at < 0 ? -at : 2 * (extent - 1) - at;
      return mirrored >= 0 && mirrored < extent ? mirrored : -1;
    }
  }
  return -1;
}

template <typename T>
void FillWith(const char* value, int64_t count, char* to) {
  T number;
  __builtin_memcpy(&number, value, sizeof(T));
  T* const numbers = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) numbers[i] = number;
}

void Fill(const char* value, int64_t bytes, int64_t count, char* to) {
  if (bytes == 4) return FillWith<uint32_t>(value, count, to);
  if (bytes == 8) return FillWith<uint64_t>(value, count, to);
  if (bytes == 1) return FillWith<uint8_t>(value, count, to);
  if (bytes == 2) return FillWith<uint16_t>(value, count, to);
  for (int64_t i = 0; i < count; ++i) {
    __builtin_memcpy(to + i * bytes, value, static_cast<uint64_t>(bytes));
  }
}

// A row at a time of the innermost dimension that is padded, whose places are pieces of all dimensions behind it.
void PadRows(const Call& call) {
  const auto mode = static_cast<PadMode>(call.Integer(0));
  const Operand x = call.input(0);
  const Operand value = call.input(2);
  const Operand y = call.output(0);
  const Pads pads(call);
  const char zero[16] = {};
  const char* const fill = value.present() ? value.data<const char>() : zero;
  const int64_t bytes = ByteSize(x.type());
  int row = x.rank() - 1;
  int64_t piece = 1;
  while (row >= 0 && pads.begins[row] == 0 && pads.ends[row] == 0) piece *= x.extent(row--);
  const auto piece_bytes = static_cast<uint64_t>(piece * bytes);
  if (row < 0) {
    __builtin_memcpy(y.data<char>(), x.data<const char>(), piece_bytes);
    return;
  }
  const int64_t width = x.extent(row);
  const int64_t padded_width = y.extent(row);
  // What of a row is copied as it is.
  const auto within = [padded_width](int64_t at) {
    return at < 0 ? 0 : at > padded_width ? padded_width : at;
  };
  const int64_t begin = within(pads.begins[row]);
  const int64_t end = within(pads.begins[row] + width);
  const PerDimension strides = StridesOf(x);
  char* to = y.data<char>();
  const auto place = [&](const char* source, int64_t i) {
    const int64_t at = SourcePosition(mode, i - pads.begins[row], width);
    if (at < 0) {
      Fill(fill, bytes, piece, to + i * piece * bytes);
    } else {
      __builtin_memcpy(to + i * piece * bytes, source + at * piece * bytes, piece_bytes);
    }
  };
  PerDimension index;
  int64_t rows = 1;
  for (int d = 0; d < row; ++d) rows *= y.extent(d);
  for (int64_t r = 0; r < rows; ++r, to += padded_width * piece * bytes) {
    int64_t from = 0;
    for (int d = 0; d < row && from >= 0; ++d) {
      const int64_t at = SourcePosition(mode, index[d] - pads.begins[d], x.extent(d));
      from = at < 0 ? -1 : from + at * strides[d];
    }
    if (from < 0) {
      Fill(fill, bytes, padded_width * piece, to);
    } else {
      const char* const source = x.data<const char>() + from * bytes;
      for (int64_t i = 0; i < begin; ++i) place(source, i);
      if (end > begin) {
        __builtin_memcpy(to + begin * piece * bytes,
                         source + (begin - pads.begins[row]) * piece * bytes,
                         static_cast<uint64_t>(end - begin) * piece_bytes);
      }
      for (int64_t i = end; i < padded_width; ++i) place(source, i);
    }
    for (int d = row - 1; d >= 0 && ++index[d] == y.extent(d); --d) index[d] = 0;
  }
}

// Over [N, C, H, W, bh, bw] of the small image with its block unfolded.
int32_t MoveBlocks(const Call& call, bool to_space) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const Operand deep = to_space ? x : y;
  const int64_t b = call.Integer(0);
  const bool channel_major = call.Integer(1) != 0;
  const int64_t channels = deep.extent(1) / (b * b);
  const int64_t height = deep.extent(2);
  const int64_t width = deep.extent(3);
  const int64_t area = height * width;
  if (x.elements() != y.elements() || deep.extent(0) * channels * b * b * area != x.elements()) {
    return call.Fail(kOtherExtents);
  }
  // Channel of the deep image: position * channels + c, or c * b * b + position.
  const int64_t channel_step = channel_major ? b * b : 1;
  const int64_t position_step = channel_major ? 1 : channels;
  const int64_t row = width * b;
  const int64_t extents[] = {deep.extent(0), channels, height, width, b, b};
  const int64_t deep_strides[] = {deep.extent(1) * area,    channel_step * area, width, 1,
                                  b * position_step * area, position_step * area};
  const int64_t wide_strides[] = {deep.extent(1) * area, area * b * b, row * b, b, row, 1};
  Walk walk;
  for (int d = 0; d < 6; ++d) {
    walk.Add(extents[d], to_space ? deep_strides[d] : wide_strides[d],
             to_space ? wide_strides[d] : deep_strides[d]);
  }
  CopyBetween(walk, x, 0, y, 0);
  return 0;
}

// Of `blocks` blocks of `channels` each, `first` the first channel, between [N, C, H, W] and [N, Cb, H, W, block].
void MoveBlocksOfChannels(const Operand& x, const Operand& y, bool pack, int64_t first,
                          int64_t blocks, int64_t channels) {
  const Operand plain = pack ? x : y;
  const Operand packed = pack ? y : x;
  const int64_t block = packed.extent(4);
  const int64_t area = plain.extent(2) * plain.extent(3);
  const int64_t extents[] = {plain.extent(0), blocks, channels, plain.extent(2), plain.extent(3)};
  const int64_t plain_strides[] = {plain.extent(1) * area, block * area, area, plain.extent(3), 1};
  const int64_t packed_strides[] = {packed.extent(1) * block * area, block * area, 1,
                                    plain.extent(3) * block, block};
  Walk walk;
  for (int d = 0; d < 5; ++d) {
    walk.Add(extents[d], pack ? plain_strides[d] : packed_strides[d],
             pack ? packed_strides[d] : plain_strides[d]);
  }
  CopyBetween(walk, x, first * area, y, first * area);
}

// A last block that is not full has zeros.
int32_t MoveChannels(const Call& call, bool pack) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const Operand plain = pack ? x : y;
  const Operand packed = pack ? y : x;
  const int64_t block = packed.extent(4);
  const int64_t channels = plain.extent(1);
  if (block < 1 || packed.extent(1) != (channels + block - 1) / block ||
      (!pack && channels % block != 0) || plain.extent(0) != packed.extent(0) ||
      plain.extent(2) != packed.extent(2) || plain.extent(3) != packed.extent(3)) {
    return call.Fail(kOtherExtents);
  }
  const int64_t whole = channels / block;
  const int64_t rest = channels % block;
  if (rest > 0) {
    const char zero[16] = {};
    Fill(zero, ByteSize(y.type()), y.elements(), y.data<char>());
    MoveBlocksOfChannels(x, y, pack, whole * block, 1, rest);
  }
  MoveBlocksOfChannels(x, y, pack, 0, whole, block);
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Transpose(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const PerDimension from = StridesOf(x);
  const PerDimension to = StridesOf(y);
  Walk walk;
  for (int d = 0; d < y.rank(); ++d) walk.Add(y.extent(d), from[call.Integer(d)], to[d]);
  CopyBetween(walk, x, 0, y, 0);
  return 0;
}

int32_t slipway_Concat(void** arguments) {
  const Call call(arguments);
  const int axis = static_cast<int>(call.Integer(0));
  const Operand y = call.output(0);
  const int64_t step = StridesOf(y)[axis];
  int64_t position = 0;
  for (int i = 0; i < call.num_inputs(); ++i) {
    const Operand x = call.input(i);
    if (!SameBut(x, y, axis) || position + x.extent(axis) > y.extent(axis)) {
      return call.Fail(kOtherExtents);
    }
    CopyBetween(PartOf(x, y, false), x, 0, y, position * step);
    position += x.extent(axis);
  }
  return position == y.extent(axis) ? 0 : call.Fail(kOtherExtents);
}

int32_t slipway_Split_extents(void** arguments) {
  return WriteExtents(Call(arguments), SplitExtents);
}

int32_t slipway_Split(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, SplitExtents)) return call.Fail(wrong);
  const int axis = static_cast<int>(call.Integer(0));
  const Operand x = call.input(0);
  const int64_t step = StridesOf(x)[axis];
  int64_t position = 0;
  for (int i = 0; i < call.num_outputs(); ++i) {
    const Operand y = call.output(i);
    if (y.present()) CopyBetween(PartOf(y, x, true), x, position * step, y, 0);
    position += PartLength(call, i);
  }
  return 0;
}

int32_t slipway_Slice_extents(void** arguments) {
  return WriteExtents(Call(arguments), SliceExtents);
}

int32_t slipway_Slice(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const PerDimension to = StridesOf(y);
  const Slices slices(call);
  if (slices.wrong != nullptr) return call.Fail(slices.wrong);
  Walk walk;
  for (int d = 0; d < y.rank(); ++d) {
    if (slices.counts[d] != y.extent(d)) return call.Fail(kOtherExtents);
    walk.Add(slices.counts[d], slices.strides[d], to[d]);
  }
  CopyBetween(walk, x, slices.offset, y, 0);
  return 0;
}

int32_t slipway_Gather(void** arguments) {
  const Call call(arguments);
  const int axis = static_cast<int>(call.Integer(0));
  const Operand x = call.input(0);
  const Operand indices = call.input(1);
  const int64_t extent = x.extent(axis);
  const int64_t outer = x.Product(0, axis);
  const int64_t piece = x.Product(axis + 1, x.rank()) * ByteSize(x.type());
  const int64_t count = indices.elements();
  char* to = call.output(0).data<char>();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < count; ++i, to += piece) {
      int64_t index = IndexAt(indices, i);
      if (index < -extent || index >= extent) return call.Fail(kOutside);
      if (index < 0) index += extent;
      __builtin_memcpy(to, x.data<const char>() + (o * extent + index) * piece,
                       static_cast<uint64_t>(piece));
    }
  }
  return 0;
}

int32_t slipway_Expand_extents(void** arguments) {
  return WriteExtents(Call(arguments), ExpandExtents);
}

int32_t slipway_Expand(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, ExpandExtents)) return call.Fail(wrong);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const PerDimension from = StridesOf(x);
  const PerDimension to = StridesOf(y);
  const int offset = y.rank() - x.rank();
  Walk walk;
  for (int d = 0; d < y.rank(); ++d) {
    const int64_t extent = d < offset ? 1 : x.extent(d - offset);
    walk.Add(y.extent(d), extent == 1 ? 0 : from[d - offset], to[d]);
  }
  CopyBetween(walk, x, 0, y, 0);
  return 0;
}

int32_t slipway_Pad_extents(void** arguments) { return WriteExtents(Call(arguments), PadExtents); }

int32_t slipway_Pad(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, PadExtents)) return call.Fail(wrong);
  PadRows(call);
  return 0;
}

int32_t slipway_DepthToSpace(void** arguments) { return MoveBlocks(Call(arguments), true); }
int32_t slipway_SpaceToDepth(void** arguments) { return MoveBlocks(Call(arguments), false); }
int32_t slipway_Pack(void** arguments) { return MoveChannels(Call(arguments), true); }
int32_t slipway_Unpack(void** arguments) { return MoveChannels(Call(arguments), false); }
