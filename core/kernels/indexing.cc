#include "core/kernels/indexing.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/places.h"

namespace slipway::kernels {
namespace {

constexpr char kOutside[] = "an index is outside of its dimension";

// Turns an index that counts from the end. False for one that is outside.
bool Resolve(int64_t extent, int64_t& index) {
  if (index < -extent || index >= extent) return false;
  if (index < 0) index += extent;
  return true;
}

template <typename T>
T Reduced(Reduction reduction, T old_value, T update) {
  using Wide = WideOf<T>;
  const Wide a = Widen(old_value);
  const Wide b = Widen(update);
  switch (reduction) {
    case Reduction::kNone:
      return update;
    case Reduction::kAdd:
      if constexpr (kIsFloat<T>) return Narrow<T>(a + b);
      return Narrow<T>(static_cast<Wide>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)));
    case Reduction::kMul:
      if constexpr (kIsFloat<T>) return Narrow<T>(a * b);
      return Narrow<T>(static_cast<Wide>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)));
    // NaN stays, and comes in.
    case Reduction::kMax:
      return b > a || b != b ? update : old_value;
    case Reduction::kMin:
      return b < a || b != b ? update : old_value;
  }
  return update;
}

// function(T()) with the element type that a reduction needs.
template <typename Function>
int32_t DispatchReduced(const Call& call, Reduction reduction, Type type, Function function) {
  if (reduction == Reduction::kNone) return DispatchSize(call, type, function);
  return DispatchNumber(call, type, function);
}

// In case of no reduction elements are mere bits, also of types that have no arithmetic.
template <typename T>
void Update(Reduction reduction, T& element, const T& update) {
  if constexpr (__is_same(T, Bits128)) {
    element = update;
  } else {
    element = Reduced(reduction, element, update);
  }
}

void CopyAll(const Operand& from, const Operand& to) {
  __builtin_memcpy(to.data<char>(), from.data<const char>(),
                   static_cast<uint64_t>(from.elements() * ByteSize(from.type())));
}

// Calls visit(i, at) with the number of each index and the offset in the data that it leads to. `data` has the extents
// that count for the indices.
template <typename Visit>
int32_t ForEachElement(const Call& call, const Operand& data, int axis, Visit visit) {
  const Operand indices = call.input(1);
  PerDimension strides[] = {StridesOf(data)};
  const int64_t along = strides[0][axis];
  strides[0][axis] = 0;
  return ForEachPlace(indices.rank(), ExtentsOf(indices), strides,
                      [&](int64_t i, const int64_t* at) {
                        int64_t index = IndexAt(indices, i);
                        if (!Resolve(data.extent(axis), index)) return call.Fail(kOutside);
                        visit(i, at[0] + index * along);
                        return 0;
                      });
}

// Calls visit(i, piece) with the number of each tuple of indices and the number of the piece of the data that it leads
// to, where a tuple names dimensions from `batch_dims` on and pieces are what the dimensions behind these hold.
template <typename Visit>
int32_t ForEachTuple(const Call& call, const Operand& data, int batch_dims, Visit visit) {
  const Operand indices = call.input(1);
  const int last = indices.rank() - 1;
  const int length = static_cast<int>(indices.extent(last));
  const int64_t batches = data.Product(0, batch_dims);
  const int64_t tuples = indices.Product(batch_dims, last);
  for (int64_t batch = 0, i = 0; batch < batches; ++batch) {
    for (int64_t tuple = 0; tuple < tuples; ++tuple, ++i) {
      int64_t piece = batch;
      for (int k = 0; k < length; ++k) {
        const int64_t extent = data.extent(batch_dims + k);
        int64_t index = IndexAt(indices, i * length + k);
        if (!Resolve(extent, index)) return call.Fail(kOutside);
        piece = piece * extent + index;
      }
      visit(i, piece);
    }
  }
  return 0;
}

// OneHot of indices of type T. They are cut to whole numbers; those outside of the depth, and NaN, set nothing.
template <typename T>
int32_t OneHot(const Call& call) {
  const Operand indices = call.input(0);
  const Operand y = call.output(0);
  const int axis = static_cast<int>(call.Integer(0));
  const int64_t size = ByteSize(y.type());
  const char* off = call.input(2).data<const char>();
  const int64_t depth = CountOf(call.input(1));
  if (y.extent(axis) != depth) return call.Fail(kOtherExtents);
  const int64_t inner = y.Product(axis + 1, y.rank());
  char* to = y.data<char>();
  for (int64_t i = 0; i < y.elements(); ++i) __builtin_memcpy(to + i * size, off, size);
  const auto least = static_cast<WideOf<T>>(-depth);
  const auto end = static_cast<WideOf<T>>(depth);
  for (int64_t i = 0; i < indices.elements(); ++i) {
    const auto value = Widen(indices.data<const T>()[i]);
    const bool known_sign = __is_same(T, uint64_t);
    if (!(value < end) || (!known_sign && !(value > least - 1))) continue;
    int64_t index = static_cast<int64_t>(value);
    if (!Resolve(depth, index)) continue;
    const int64_t at = (i / inner * depth + index) * inner + i % inner;
    __builtin_memcpy(to + at * size, off + size, size);
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_GatherElements(void** arguments) {
  const Call call(arguments);
  return DispatchSize(call, call.input(0).type(), [&](auto zero) {
    using T = decltype(zero);
    const Operand data = call.input(0);
    T* y = call.output(0).data<T>();
    return ForEachElement(call, data, static_cast<int>(call.Integer(0)),
                          [&](int64_t i, int64_t at) { y[i] = data.data<const T>()[at]; });
  });
}

int32_t slipway_GatherND(void** arguments) {
  const Call call(arguments);
  const Operand data = call.input(0);
  const Operand indices = call.input(1);
  const int batch_dims = static_cast<int>(call.Integer(0));
  const int named = batch_dims + static_cast<int>(indices.extent(indices.rank() - 1));
  const int64_t piece_bytes = data.Product(named, data.rank()) * ByteSize(data.type());
  return ForEachTuple(call, data, batch_dims, [&](int64_t i, int64_t piece) {
    __builtin_memcpy(call.output(0).data<char>() + i * piece_bytes,
                     data.data<const char>() + piece * piece_bytes,
                     static_cast<uint64_t>(piece_bytes));
  });
}

int32_t slipway_ScatterElements(void** arguments) {
  const Call call(arguments);
  const auto reduction = static_cast<Reduction>(call.Integer(1));
  CopyAll(call.input(0), call.output(0));
  return DispatchReduced(call, reduction, call.input(0).type(), [&](auto zero) {
    using T = decltype(zero);
    const T* updates = call.input(2).data<const T>();
    T* y = call.output(0).data<T>();
    return ForEachElement(call, call.input(0), static_cast<int>(call.Integer(0)),
                          [&](int64_t i, int64_t at) { Update(reduction, y[at], updates[i]); });
  });
}

int32_t slipway_ScatterND(void** arguments) {
  const Call call(arguments);
  const Operand data = call.input(0);
  const Operand indices = call.input(1);
  const auto reduction = static_cast<Reduction>(call.Integer(0));
  const int length = static_cast<int>(indices.extent(indices.rank() - 1));
  const int64_t size = data.Product(length, data.rank());
  CopyAll(data, call.output(0));
  return DispatchReduced(call, reduction, data.type(), [&](auto zero) {
    using T = decltype(zero);
    const T* updates = call.input(2).data<const T>();
    T* y = call.output(0).data<T>();
    return ForEachTuple(call, data, 0, [&](int64_t i, int64_t piece) {
      for (int64_t e = 0; e < size; ++e) {
        Update(reduction, y[piece * size + e], updates[i * size + e]);
      }
    });
  });
}

int32_t slipway_TensorScatter(void** arguments) {
  const Call call(arguments);
  const Operand cache = call.input(0);
  const Operand update = call.input(1);
  const Operand begins = call.input(2);
  const int axis = static_cast<int>(call.Integer(0));
  const bool circular = call.Integer(1) != 0;
  const int64_t extent = cache.extent(axis);
  const int64_t length = update.extent(axis);
  const int64_t between = cache.Product(1, axis);
  const int64_t piece = cache.Product(axis + 1, cache.rank()) * ByteSize(cache.type());
  CopyAll(cache, call.output(0));
  const char* from = update.data<const char>();
  for (int64_t batch = 0; batch < cache.extent(0); ++batch) {
    int64_t begin = begins.present() ? begins.data<const int64_t>()[batch] : 0;
    if (circular && extent > 0) begin %= extent;
    if (begin < 0 || begin > extent || (!circular && begin + length > extent)) {
      return call.Fail("a write index leads out of the cache");
    }
    for (int64_t row = 0; row < between; ++row) {
      char* to = call.output(0).data<char>() + (batch * between + row) * extent * piece;
      for (int64_t i = 0; i < length; ++i, from += piece) {
        __builtin_memcpy(to + (begin + i) % extent * piece, from, static_cast<uint64_t>(piece));
      }
    }
  }
  return 0;
}

int32_t slipway_OneHot_count(void** arguments) {
  const Call call(arguments);
  const int64_t depth = CountOf(call.input(1));
  return depth < 0 || depth > kMostExtent ? call.Fail(kBadExtent) : call.Count(depth);
}

int32_t slipway_OneHot(void** arguments) {
  const Call call(arguments);
  return DispatchNumber(call, call.input(0).type(),
                        [&](auto zero) { return OneHot<decltype(zero)>(call); });
}
