#include "core/kernels/rearrangement.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/places.h"

namespace slipway::kernels {
namespace {

const char* TileExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  const Operand repeats = call.input(1);
  if (repeats.elements() != x.rank()) return "there is not one repeat for each dimension";
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t repeat = IndexAt(repeats, d);
    if (repeat < 0 || repeat > kMostExtent) return kBadExtent;
    extents.Add(0, x.extent(d) * repeat);
  }
  return nullptr;
}

const char* CenterCropPadExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  PerDimension y = ExtentsOf(x);
  for (int64_t i = 0; i < call.input(1).elements(); ++i) {
    y[static_cast<int>(call.Integer(static_cast<int>(i)))] = IndexAt(call.input(1), i);
  }
  for (int d = 0; d < x.rank(); ++d) extents.Add(0, y[d]);
  return nullptr;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Tile_extents(void** arguments) {
  return WriteExtents(Call(arguments), TileExtents);
}

int32_t slipway_Tile(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, TileExtents)) return call.Fail(wrong);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  if (y.elements() == 0) return 0;
  const int64_t bytes = ByteSize(x.type());
  const int last = x.rank() - 1;
  // Rows: what the last dimension holds, repeated within y as often as it goes.
  const int64_t row = (last < 0 ? 1 : x.extent(last)) * bytes;
  const int64_t row_repeats = last < 0 ? 1 : y.extent(last) / x.extent(last);
  const PerDimension strides = StridesOf(x);
  PerDimension index;
  char* to = y.data<char>();
  for (int64_t rows = y.Product(0, last < 0 ? 0 : last); rows > 0; --rows) {
    int64_t from = 0;
    for (int d = 0; d < last; ++d) from += index[d] % x.extent(d) * strides[d];
    for (int64_t r = 0; r < row_repeats; ++r, to += row) {
      __builtin_memcpy(to, x.data<const char>() + from * bytes, static_cast<uint64_t>(row));
    }
    for (int d = last - 1; d >= 0 && ++index[d] == y.extent(d); --d) index[d] = 0;
  }
  return 0;
}

int32_t slipway_Trilu(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const Operand k = call.input(1);
  const bool upper = call.Integer(0) != 0;
  const int64_t bytes = ByteSize(x.type());
  const int64_t height = x.extent(x.rank() - 2);
  const int64_t width = x.extent(x.rank() - 1);
  // Beyond these bounds nothing changes, and nothing overflows.
  int64_t diagonal = k.present() ? k.data<const int64_t>()[0] : 0;
  if (diagonal > width) diagonal = width;
  if (diagonal < -height - 1) diagonal = -height - 1;
  const int64_t rows = x.Product(0, x.rank() - 1);
  for (int64_t r = 0; r < rows; ++r) {
    // Columns [0, border) are left of the diagonal, or with it where the lower triangle stays.
    int64_t border = r % height + diagonal + (upper ? 0 : 1);
    if (border < 0) border = 0;
    if (border > width) border = width;
    const int64_t begin = upper ? border : 0;
    const int64_t end = upper ? width : border;
    char* to = call.output(0).data<char>() + r * width * bytes;
    __builtin_memset(to, 0, static_cast<uint64_t>(width * bytes));
    __builtin_memcpy(to + begin * bytes, x.data<const char>() + (r * width + begin) * bytes,
                     static_cast<uint64_t>((end - begin) * bytes));
  }
  return 0;
}

int32_t slipway_ReverseSequence(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const bool time_first = call.Integer(0) == 0;
  const int64_t batches = x.extent(time_first ? 1 : 0);
  const int64_t times = x.extent(time_first ? 0 : 1);
  const int64_t piece = x.Product(2, x.rank()) * ByteSize(x.type());
  for (int64_t batch = 0; batch < batches; ++batch) {
    const int64_t length = call.input(1).data<const int64_t>()[batch];
    if (length < 0 || length > times) return call.Fail("a length is outside of the time axis");
    for (int64_t time = 0; time < times; ++time) {
      const int64_t source = time < length ? length - 1 - time : time;
      const int64_t to = time_first ? time * batches + batch : batch * times + time;
      const int64_t from = time_first ? source * batches + batch : batch * times + source;
      __builtin_memcpy(call.output(0).data<char>() + to * piece,
                       x.data<const char>() + from * piece, static_cast<uint64_t>(piece));
    }
  }
  return 0;
}

int32_t slipway_CenterCropPad_extents(void** arguments) {
  return WriteExtents(Call(arguments), CenterCropPadExtents);
}

int32_t slipway_CenterCropPad(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, CenterCropPadExtents)) return call.Fail(wrong);
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const int64_t bytes = ByteSize(x.type());
  __builtin_memset(y.data<char>(), 0, static_cast<uint64_t>(y.elements() * bytes));
  // The part that both have, and where it begins in each.
  const PerDimension strides[] = {StridesOf(x), StridesOf(y)};
  PerDimension both;
  int64_t begins[2] = {0, 0};
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t more = y.extent(d) - x.extent(d);
    both[d] = more < 0 ? y.extent(d) : x.extent(d);
    const int longer = more < 0 ? 0 : 1;
    begins[longer] += (more < 0 ? -more : more) / 2 * strides[longer][d];
  }
  return DispatchSize(call, x.type(), [&](auto zero) {
    using T = decltype(zero);
    return ForEachPlace(x.rank(), both, strides, [&](int64_t, const int64_t* at) {
      y.data<T>()[begins[1] + at[1]] = x.data<const T>()[begins[0] + at[0]];
      return 0;
    });
  });
}
