#include "core/kernels/selection.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/sorting.h"

namespace slipway::kernels {
namespace {

// Whether a stands before b in ascending order, NaN last.
template <typename T>
bool Below(T a, T b) {
  if (a != a || b != b) return a == a && b != b;
  return a < b;
}

constexpr char kNotAsMany[] = "k is negative, or there are fewer elements than are to be taken";

// How many elements TopK is asked for; -1 where there are not as many.
int64_t TopKCount(const Call& call) {
  const int64_t count = IndexAt(call.input(1), 0);
  const int64_t extent = call.input(0).extent(static_cast<int>(call.Integer(0)));
  return count >= 0 && count <= extent ? count : -1;
}

// A heap of places whose top is the one that would be dropped first.
template <typename T>
class Selection {
 public:
  Selection(int64_t* places, const T* x, int64_t stride, bool largest)
      : places_(places), x_(x), stride_(stride), largest_(largest) {}

  void Offer(int64_t place, int64_t capacity) {
    if (count_ < capacity) {
      places_[count_] = place;
      for (int64_t i = count_++; i > 0 && Worse(places_[i], places_[(i - 1) / 2]);
           i = (i - 1) / 2) {
        SwapPlaces(places_, i, (i - 1) / 2);
      }
    } else if (capacity > 0 && Worse(places_[0], place)) {
      places_[0] = place;
      SinkInHeap(places_, 0, count_, WorseThan());
    }
  }
  // Afterwards the places lie best first.
  void Sort() { SortHeap(places_, count_, WorseThan()); }

 private:
  bool Worse(int64_t a, int64_t b) const {
    const auto x = Widen(x_[a * stride_]);
    const auto y = Widen(x_[b * stride_]);
    if (largest_ ? Below(x, y) : Below(y, x)) return true;
    if (largest_ ? Below(y, x) : Below(x, y)) return false;
    return a > b;
  }
  auto WorseThan() const {
    return [this](int64_t a, int64_t b) { return Worse(a, b); };
  }

  int64_t* places_;
  const T* x_;
  int64_t stride_;
  bool largest_;
  int64_t count_ = 0;
};

template <typename T>
int32_t TopK(const Call& call) {
  const Operand x = call.input(0);
  const int axis = static_cast<int>(call.Integer(0));
  const bool largest = call.Integer(1) != 0;
  const int64_t extent = x.extent(axis);
  const int64_t inner = x.Product(axis + 1, x.rank());
  const Operand values = call.output(0);
  const Operand indices = call.output(1);
  const Operand& result = values.present() ? values : indices;
  const int64_t count = TopKCount(call);
  if (count < 0) return call.Fail(kNotAsMany);
  if (result.extent(axis) != count) return call.Fail(kOtherExtents);
  const Scratch<int64_t> places(call, count);
  if (!places) return call.Fail(kOutOfScratch);
  for (int64_t o = 0; o < x.Product(0, axis); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const T* row = x.data<const T>() + o * extent * inner + i;
      Selection<T> selection(places.get(), row, inner, largest);
      for (int64_t e = 0; e < extent; ++e) selection.Offer(e, count);
      selection.Sort();
      for (int64_t k = 0; k < count; ++k) {
        const int64_t at = (o * count + k) * inner + i;
        if (values.present()) values.data<T>()[at] = row[places[k] * inner];
        if (indices.present()) indices.data<int64_t>()[at] = places[k];
      }
    }
  }
  return 0;
}

// Calls visit(i, number) for each element that is not 0. Returns their number.
template <typename T, typename Visit>
int64_t ForEachNonZero(const Operand& x, Visit visit) {
  int64_t count = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (Widen(x.data<const T>()[i]) != 0) visit(i, count++);
  }
  return count;
}

template <typename T>
int32_t NonZero(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const int64_t count = y.extent(1);
  const int64_t found = ForEachNonZero<T>(x, [&](int64_t i, int64_t column) {
    for (int d = x.rank() - 1; d >= 0 && column < count; --d) {
      y.data<int64_t>()[d * count + column] = i % x.extent(d);
      i /= x.extent(d);
    }
  });
  return found == count ? 0 : call.Fail(kOtherExtents);
}

// What Compress and Unique choose from: along an axis, or of the flattened tensor.
struct Pieces {
  Pieces(const Operand& x, bool flat, int axis)
      : outer(flat ? 1 : x.Product(0, axis)),
        count(flat ? x.elements() : x.extent(axis)),
        inner(flat ? 1 : x.Product(axis + 1, x.rank())) {}

  // Copies piece `from` of x to piece `to` of y, which has `y_count` of them.
  void Copy(const Operand& x, int64_t from, const Operand& y, int64_t y_count, int64_t to) const {
    const int64_t bytes = inner * ByteSize(x.type());
    for (int64_t o = 0; o < outer; ++o) {
      __builtin_memcpy(y.data<char>() + (o * y_count + to) * bytes,
                       x.data<const char>() + (o * count + from) * bytes,
                       static_cast<uint64_t>(bytes));
    }
  }

  int64_t outer;
  int64_t count;
  int64_t inner;
};

Pieces PiecesOf(const Call& call) {
  return Pieces(call.input(0), call.Integer(0) != 0, static_cast<int>(call.Integer(1)));
}

// Finds equal pieces. NaN equals NaN and stands last, as -0 equals 0.
template <typename T>
class Groups {
 public:
  Groups(const Call& call, const Pieces& pieces)
      : x_(call.input(0).data<const T>()),
        pieces_(pieces),
        order_(call, pieces.count),
        group_(call, pieces.count) {}

  // Gives each piece the number of its group, by value. Returns how many there are, -1 where there is no memory.
  int64_t Find() {
    if (!order_ || !group_) return -1;
    for (int64_t i = 0; i < pieces_.count; ++i) order_[i] = i;
    SortPlaces(order_.get(), pieces_.count, [this](int64_t a, int64_t b) {
      const int compared = Compare(a, b);
      return compared != 0 ? compared < 0 : a < b;
    });
    int64_t groups = 0;
    for (int64_t i = 0; i < pieces_.count; ++i) {
      if (i == 0 || Compare(order_[i - 1], order_[i]) != 0) ++groups;
      group_[order_[i]] = groups - 1;
    }
    return groups;
  }
  int64_t operator[](int64_t piece) const { return group_[piece]; }

 private:
  int Compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < pieces_.outer; ++o) {
      const T* first = x_ + (o * pieces_.count + a) * pieces_.inner;
      const T* second = x_ + (o * pieces_.count + b) * pieces_.inner;
      for (int64_t i = 0; i < pieces_.inner; ++i) {
        const auto left = Widen(first[i]);
        const auto right = Widen(second[i]);
        if (Below(left, right)) return -1;
        if (Below(right, left)) return 1;
      }
    }
    return 0;
  }

  const T* x_;
  const Pieces& pieces_;
  Scratch<int64_t> order_;
  Scratch<int64_t> group_;
};

template <typename T>
int32_t Unique(const Call& call) {
  const Pieces pieces = PiecesOf(call);
  const bool sorted = call.Integer(2) != 0;
  Groups<T> groups(call, pieces);
  const int64_t count = groups.Find();
  const Scratch<int64_t> number(call, count);  // Of a group among the outputs.
  const Scratch<int64_t> seen(call, count);
  if (count < 0 || !number || !seen) return call.Fail(kOutOfScratch);
  const Operand y = call.output(0);
  const Operand indices = call.output(1);
  const Operand inverse = call.output(2);
  const Operand counts = call.output(3);
  const int axis = static_cast<int>(call.Integer(1));
  if ((y.present() && y.extent(axis) != count) ||
      (indices.present() && indices.extent(0) != count) ||
      (counts.present() && counts.extent(0) != count)) {
    return call.Fail(kOtherExtents);
  }
  for (int64_t g = 0; g < count; ++g) {
    number[g] = sorted ? g : -1;
    seen[g] = 0;
  }
  int64_t next = 0;
  for (int64_t piece = 0; piece < pieces.count; ++piece) {
    const int64_t group = groups[piece];
    if (number[group] < 0) number[group] = next++;
    const int64_t to = number[group];
    if (inverse.present()) inverse.data<int64_t>()[piece] = to;
    if (seen[group]++ > 0) continue;
    if (indices.present()) indices.data<int64_t>()[to] = piece;
    if (y.present()) pieces.Copy(call.input(0), piece, y, count, to);
  }
  if (counts.present()) {
    for (int64_t g = 0; g < count; ++g) counts.data<int64_t>()[number[g]] = seen[g];
  }
  return 0;
}

// Calls visit(piece, number) for each piece whose condition holds. -1 where that of a piece does which is not there.
template <typename Visit>
int64_t ForEachHolding(const Operand& condition, const Pieces& pieces, Visit visit) {
  int64_t count = 0;
  for (int64_t i = 0; i < condition.extent(0); ++i) {
    if (!condition.data<const bool>()[i]) continue;
    if (i >= pieces.count) return -1;
    visit(i, count++);
  }
  return count;
}
constexpr char kConditionTooLong[] = "the condition holds behind the last element";

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_TopK_count(void** arguments) {
  const Call call(arguments);
  const int64_t count = TopKCount(call);
  return count < 0 ? call.Fail(kNotAsMany) : call.Count(count);
}

int32_t slipway_TopK(void** arguments) {
  const Call call(arguments);
  return DispatchNumber(call, call.input(0).type(),
                        [&](auto zero) { return TopK<decltype(zero)>(call); });
}

int32_t slipway_NonZero_count(void** arguments) {
  const Call call(arguments);
  return DispatchAny(call, call.input(0).type(), [&](auto zero) {
    return call.Count(ForEachNonZero<decltype(zero)>(call.input(0), [](int64_t, int64_t) {}));
  });
}

int32_t slipway_NonZero(void** arguments) {
  const Call call(arguments);
  return DispatchAny(call, call.input(0).type(),
                     [&](auto zero) { return NonZero<decltype(zero)>(call); });
}

int32_t slipway_Compress_count(void** arguments) {
  const Call call(arguments);
  const int64_t count = ForEachHolding(call.input(1), PiecesOf(call), [](int64_t, int64_t) {});
  return count < 0 ? call.Fail(kConditionTooLong) : call.Count(count);
}

int32_t slipway_Compress(void** arguments) {
  const Call call(arguments);
  const Pieces pieces = PiecesOf(call);
  const Operand y = call.output(0);
  const int64_t count = Pieces(y, call.Integer(0) != 0, static_cast<int>(call.Integer(1))).count;
  const int64_t found = ForEachHolding(call.input(1), pieces, [&](int64_t piece, int64_t to) {
    if (to < count) pieces.Copy(call.input(0), piece, y, count, to);
  });
  return found == count ? 0 : call.Fail(found < 0 ? kConditionTooLong : kOtherExtents);
}

int32_t slipway_Unique_count(void** arguments) {
  const Call call(arguments);
  return DispatchAny(call, call.input(0).type(), [&](auto zero) {
    const Pieces pieces = PiecesOf(call);
    const int64_t count = Groups<decltype(zero)>(call, pieces).Find();
    return count < 0 ? call.Fail(kOutOfScratch) : call.Count(count);
  });
}

int32_t slipway_Unique(void** arguments) {
  const Call call(arguments);
  return DispatchAny(call, call.input(0).type(),
                     [&](auto zero) { return Unique<decltype(zero)>(call); });
}
