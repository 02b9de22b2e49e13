#include "core/kernels/selection.h"

#include "core/kernels/call.h"

namespace slipway::kernels {
namespace {

// Whether a stands before b in ascending order, NaN last.
template <typename T>
bool Below(T a, T b) {
  if (a != a || b != b) return a == a && b != b;
  return a < b;
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
        Swap(i, (i - 1) / 2);
      }
    } else if (capacity > 0 && Worse(places_[0], place)) {
      places_[0] = place;
      Sink(count_);
    }
  }
  // Afterwards the places lie best first.
  void Sort() {
    for (int64_t end = count_ - 1; end > 0; --end) {
      Swap(0, end);
      Sink(end);
    }
  }

 private:
  bool Worse(int64_t a, int64_t b) const {
    const auto x = Widen(x_[a * stride_]);
    const auto y = Widen(x_[b * stride_]);
    if (largest_ ? Below(x, y) : Below(y, x)) return true;
    if (largest_ ? Below(y, x) : Below(x, y)) return false;
    return a > b;
  }
  void Swap(int64_t i, int64_t j) {
    const int64_t place = places_[i];
    places_[i] = places_[j];
    places_[j] = place;
  }
  void Sink(int64_t count) {
    for (int64_t i = 0;;) {
      int64_t worst = i;
      for (int64_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; ++child) {
        if (Worse(places_[child], places_[worst])) worst = child;
      }
      if (worst == i) return;
      Swap(i, worst);
      i = worst;
    }
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
  const int64_t count = result.extent(axis);
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

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_TopK(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return DispatchNumber(call, call.input(0).type(),
                        [&](auto zero) { return TopK<decltype(zero)>(call); });
}
