#include "core/kernels/contraction.h"

#include "core/kernels/call.h"
#include "core/kernels/elements.h"
#include "core/kernels/math.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

constexpr int kMaxLabels = 16;

// Walks over all indices of some labels, and with each input's place as it goes.
class Walk {
 public:
  // `strides` has one number for each label of each input. Labels [first, last) are walked.
  Walk(const int64_t* extents, const int64_t* strides, int inputs, int first, int last)
      : extents_(extents), strides_(strides), inputs_(inputs), first_(first), last_(last) {}

  int64_t size() const {
    int64_t size = 1;
    for (int l = first_; l < last_; ++l) size *= extents_[l];
    return size;
  }
  // On to the next index; after the last one back to the first. `places` moves along.
  void Next(int64_t* places) {
    for (int l = last_ - 1; l >= first_; --l) {
      const bool wraps = ++index_[l] == extents_[l];
      for (int i = 0; i < inputs_; ++i) {
        const int64_t stride = strides_[i * kMaxLabels + l];
        places[i] += wraps ? stride * (1 - extents_[l]) : stride;
      }
      if (!wraps) return;
      index_[l] = 0;
    }
  }

 private:
  const int64_t* extents_;
  const int64_t* strides_;
  int inputs_;
  int first_;
  int last_;
  int64_t index_[kMaxLabels] = {};
};

template <typename T>
int32_t Einsum(const Call& call) {
  const int inputs = call.num_inputs();
  const int labels = static_cast<int>(call.Integer(0));
  const Operand y = call.output(0);
  const Scratch<int64_t> strides(call, inputs * kMaxLabels);
  const Scratch<int64_t> places(call, inputs);
  const Scratch<const T*> data(call, inputs);
  if (!strides || !places || !data) return call.Fail(kOutOfScratch);
  int64_t extents[kMaxLabels];
  for (int l = 0; l < kMaxLabels; ++l) extents[l] = 1;
  for (int64_t i = 0; i < inputs * kMaxLabels; ++i) strides[i] = 0;
  int parameter = 1;
  for (int i = 0; i < inputs; ++i) {
    const Operand x = call.input(i);
    places[i] = 0;
    data[i] = x.data<const T>();
    for (int d = 0; d < x.rank(); ++d) {
      const auto label = static_cast<int>(call.Integer(parameter++));
      // A label twice in an input goes along the diagonal; an extent of 1 is repeated.
      if (x.extent(d) == 1) continue;
      strides[i * kMaxLabels + label] += x.Product(d + 1, x.rank());
      extents[label] = x.extent(d);
    }
  }
  Walk outer(extents, strides.get(), inputs, 0, y.rank());
  Walk inner(extents, strides.get(), inputs, y.rank(), labels);
  const int64_t terms = inner.size();
  for (int64_t o = 0; o < y.elements(); ++o) {
    WideOf<T> sum = 0;
    for (int64_t t = 0; t < terms; ++t) {
      WideOf<T> product = Widen(data[0][places[0]]);
      for (int i = 1; i < inputs; ++i) product = Times(product, Widen(data[i][places[i]]));
      sum = Plus(sum, product);
      inner.Next(places.get());
    }
    y.data<T>()[o] = Narrow<T>(sum);
    outer.Next(places.get());
  }
  return 0;
}

// The determinant of a matrix, which is overwritten.
double Determinant(double* a, int64_t n) {
  double determinant = 1;
  for (int64_t c = 0; c < n; ++c) {
    int64_t pivot = c;
    for (int64_t r = c + 1; r < n; ++r) {
      if (Abs(a[r * n + c]) > Abs(a[pivot * n + c])) pivot = r;
    }
    const double top = a[pivot * n + c];
    determinant *= pivot == c ? top : -top;
    if (top == 0) return IsNan(determinant) ? determinant : 0;
    for (int64_t k = c; k < n; ++k) {
      const double moved = a[pivot * n + k];
      a[pivot * n + k] = a[c * n + k];
      a[c * n + k] = moved;
    }
    for (int64_t r = c + 1; r < n; ++r) {
      const double factor = a[r * n + c] / top;
      for (int64_t k = c; k < n; ++k) a[r * n + k] -= factor * a[c * n + k];
    }
  }
  return determinant;
}

int32_t Det(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const int64_t n = x.extent(x.rank() - 1);
  const Scratch<double> matrix(call, n * n);
  if (!matrix) return call.Fail(kOutOfScratch);
  for (int64_t i = 0; i < y.elements(); ++i) {
    LoadNumbers(x, i * n * n, n * n, matrix.get());
    SetNumber(y, i, Determinant(matrix.get(), n));
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_Einsum(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return DispatchNumber(call, call.output(0).type(),
                        [&](auto zero) { return Einsum<decltype(zero)>(call); });
}

int32_t slipway_Det(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  return Det(Call(arguments));
}
