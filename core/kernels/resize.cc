#include "core/kernels/resize.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/math.h"
#include "core/kernels/places.h"
#include "core/kernels/resize_axis.h"
#include "core/kernels/saturate.h"

namespace slipway::kernels {
namespace {

struct Options {
  explicit Options(const Call& call)
      : mode(static_cast<ResizeMode>(call.Integer(0))),
        coordinates(static_cast<ResizeCoordinates>(call.Integer(1))),
        rounding(static_cast<ResizeRounding>(call.Integer(2))),
        aspect(static_cast<ResizeAspect>(call.Integer(3))),
        antialias(call.Integer(4) != 0),
        exclude_outside(call.Integer(5) != 0),
        cubic_a(call.Real(6)),
        extrapolation(call.Real(7)),
        has_sizes(call.Integer(8) != 0),
        axes(call.Integer(9)),
        axis(call.Integers() + 10) {}

  ResizeMode mode;
  ResizeCoordinates coordinates;
  ResizeRounding rounding;
  ResizeAspect aspect;
  bool antialias;
  bool exclude_outside;
  double cubic_a;
  double extrapolation;
  bool has_sizes;
  int64_t axes;
  const int64_t* axis;
};

// Of several axes with one scale the one whose size says it.
int64_t DecidingAxis(const Call& call, const Options& options) {
  const auto scale = [&](int64_t i) {
    return static_cast<double>(IndexAt(call.input(3), i)) /
           static_cast<double>(call.input(0).extent(static_cast<int>(options.axis[i])));
  };
  int64_t decides = 0;
  for (int64_t i = 1; i < options.axes; ++i) {
    const bool better = options.aspect == ResizeAspect::kNotLarger ? scale(i) < scale(decides)
                                                                   : scale(i) > scale(decides);
    if (better) decides = i;
  }
  return decides;
}

const char* ResizeExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  const Options options(call);
  const Operand given = call.input(options.has_sizes ? 3 : 2);
  if (given.present() && given.elements() != options.axes) {
    return "there is not one scale or size for each axis";
  }
  PerDimension y = ExtentsOf(x);
  bool is_empty = false;
  for (int64_t i = 0; i < options.axes; ++i) {
    is_empty = is_empty || x.extent(static_cast<int>(options.axis[i])) == 0;
  }
  const bool keeps_aspect = options.has_sizes && options.aspect != ResizeAspect::kStretch;
  if (is_empty && keeps_aspect) return "nothing has no aspect ratio";
  const int64_t decides = keeps_aspect ? DecidingAxis(call, options) : -1;
  for (int64_t i = 0; i < options.axes; ++i) {
    const auto d = static_cast<int>(options.axis[i]);
    const auto before = static_cast<double>(x.extent(d));
    double after = 0;
    if (!options.has_sizes) {
      const float scale = given.data<const float>()[i];
      if (!(scale > 0) || IsInfinite(scale)) return "a scale is no positive number";
      // In f32, as everybody does it.
      after = Floor(static_cast<float>(x.extent(d)) * scale);
    } else if (decides < 0) {
      after = static_cast<double>(IndexAt(given, i));
    } else {
      const auto size = static_cast<double>(IndexAt(given, decides));
      const auto of = static_cast<double>(x.extent(static_cast<int>(options.axis[decides])));
      after = Floor(before * size / of + 0.5);
    }
    if (!(after >= 0 && after <= static_cast<double>(kMostExtent))) return kBadExtent;
    if (before == 0 && after != 0) return "an empty dimension cannot become larger";
    y[d] = static_cast<int64_t>(after);
  }
  for (int d = 0; d < x.rank(); ++d) extents.Add(0, y[d]);
  return nullptr;
}

ResizeAxis AxisOf(const Call& call, const Options& options, int64_t i) {
  ResizeAxis axis;
  axis.coordinates = options.coordinates;
  axis.in = call.input(0).extent(static_cast<int>(options.axis[i]));
  axis.out = call.output(0).extent(static_cast<int>(options.axis[i]));
  if (!options.has_sizes) {
    axis.above = call.input(2).data<const float>()[i];
  } else {
    const int64_t decides =
        options.aspect == ResizeAspect::kStretch ? i : DecidingAxis(call, options);
    axis.above = static_cast<double>(IndexAt(call.input(3), decides));
    axis.below = static_cast<double>(call.input(0).extent(static_cast<int>(options.axis[decides])));
  }
  if (options.coordinates == ResizeCoordinates::kCropAndResize) {
    axis.begin = NumberAt(call.input(1), i);
    axis.end = NumberAt(call.input(1), options.axes + i);
  }
  return axis;
}

template <typename T>
int32_t Nearest(const Call& call, const Options& options) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const int rank = y.rank();
  // Per dimension and place of y the offset in x; negative outside.
  int64_t entries = 0;
  for (int d = 0; d < rank; ++d) entries += y.extent(d);
  const Scratch<int64_t> offsets(call, entries);
  if (!offsets) return call.Fail(kOutOfScratch);
  PerDimension first;
  for (int d = 1; d < rank; ++d) first[d] = first[d - 1] + y.extent(d - 1);
  const PerDimension strides = StridesOf(x);
  for (int d = 0; d < rank; ++d) {
    for (int64_t i = 0; i < y.extent(d); ++i) offsets[first[d] + i] = i * strides[d];
  }
  for (int64_t a = 0; a < options.axes; ++a) {
    const ResizeAxis axis = AxisOf(call, options, a);
    const auto d = static_cast<int>(options.axis[a]);
    for (int64_t i = 0; axis.Changes() && i < axis.out; ++i) {
      double at = 0;
      offsets[first[d] + i] =
          axis.Source(i, at) ? Clamped(Rounded(options.rounding, at), axis.in) * strides[d] : -1;
    }
  }
  const T outside = Narrow<T>(static_cast<WideOf<T>>(options.extrapolation));
  const int64_t row = rank == 0 ? 1 : y.extent(rank - 1);
  PerDimension index;
  T* to = y.data<T>();
  for (int64_t left = y.elements(); left > 0; left -= row) {
    int64_t from = 0;
    for (int d = 0; d + 1 < rank && from >= 0; ++d) {
      const int64_t offset = offsets[first[d] + index[d]];
      from = offset < 0 ? -1 : from + offset;
    }
    for (int64_t i = 0; i < row; ++i) {
      const int64_t offset = rank == 0 ? 0 : offsets[first[rank - 1] + i];
      *to++ = from < 0 || offset < 0 ? outside : x.data<const T>()[from + offset];
    }
    for (int d = rank - 2; d >= 0 && ++index[d] == y.extent(d); --d) index[d] = 0;
  }
  return 0;
}

double Weight(const Options& options, double distance) {
  const double d = Abs(distance);
  if (options.mode == ResizeMode::kLinear) return d < 1 ? 1 - d : 0;
  const double a = options.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0;
}

// What the places along one axis are made of: `taps` neighbours from first[i] on, with their weights. No taps where
// the place is outside of what is cropped.
class Taps {
 public:
  Taps(const Call& call, const Options& options, const ResizeAxis& axis)
      : count_(Count(options, axis)),
        weights_(call, axis.out * count_),
        first_(call, axis.out),
        inside_(call, axis.out) {
    if (!*this) return;
    const double narrowing = Narrowing(options, axis);
    for (int64_t i = 0; i < axis.out; ++i) {
      double at = 0;
      inside_[i] = axis.Source(i, at);
      if (!inside_[i]) continue;
      first_[i] = static_cast<int64_t>(Ceil(at)) - count_ / 2;
      double sum = 0;
      for (int64_t k = 0; k < count_; ++k) {
        const int64_t neighbour = first_[i] + k;
        const bool counts = !options.exclude_outside || (neighbour >= 0 && neighbour < axis.in);
        double& weight = weights_[i * count_ + k];
        weight = counts ? Weight(options, (static_cast<double>(neighbour) - at) * narrowing) : 0;
        sum += weight;
      }
      if (!(options.antialias || options.exclude_outside) || sum == 0) continue;
      for (int64_t k = 0; k < count_; ++k) weights_[i * count_ + k] /= sum;
    }
  }
  explicit operator bool() const { return weights_ && first_ && inside_; }

  // Makes `y` [outer, out, inner] of `x` [outer, in, inner].
  void Apply(const Options& options, const ResizeAxis& axis, int64_t outer, int64_t inner,
             const double* x, double* y) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < axis.out; ++i) {
        double* row = y + (o * axis.out + i) * inner;
        for (int64_t e = 0; e < inner; ++e) row[e] = inside_[i] ? 0 : options.extrapolation;
        for (int64_t k = 0; inside_[i] && k < count_; ++k) {
          const double weight = weights_[i * count_ + k];
          const double* from = x + (o * axis.in + Clamped(first_[i] + k, axis.in)) * inner;
          for (int64_t e = 0; e < inner; ++e) row[e] += weight * from[e];
        }
      }
    }
  }

 private:
  static double Narrowing(const Options& options, const ResizeAxis& axis) {
    return options.antialias && axis.Scale() < 1 ? axis.Scale() : 1;
  }
  static int64_t Count(const Options& options, const ResizeAxis& axis) {
    const double reach = options.mode == ResizeMode::kLinear ? 1 : 2;
    const double begin = Floor(-reach / Narrowing(options, axis)) + 1;
    // A scale so small that every element counts more than once: twice is enough, beyond are copies of the border.
    const auto most = static_cast<double>(2 * axis.in + 2);
    return 2 + 2 * static_cast<int64_t>(-begin < most ? -begin : most);
  }

  int64_t count_;
  Scratch<double> weights_;
  Scratch<int64_t> first_;
  Scratch<bool> inside_;
};

template <typename T>
int32_t Interpolate(const Call& call, const Options& options) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  // The extents while axis after axis is resized, and the most elements that there are on the way.
  PerDimension extents = ExtentsOf(x);
  const auto elements = [&](int first, int last) {
    int64_t product = 1;
    for (int d = first; d < last; ++d) product *= extents[d];
    return product;
  };
  int64_t most = x.elements();
  for (int64_t a = 0; a < options.axes; ++a) {
    const auto d = static_cast<int>(options.axis[a]);
    extents[d] = y.extent(d);
    if (elements(0, x.rank()) > most) most = elements(0, x.rank());
  }
  const Scratch<double> one(call, most);
  const Scratch<double> other(call, most);
  if (!one || !other) return call.Fail(kOutOfScratch);
  double* from = one.get();
  double* to = other.get();
  for (int64_t i = 0; i < x.elements(); ++i) {
    from[i] = static_cast<double>(Widen(x.data<const T>()[i]));
  }
  extents = ExtentsOf(x);
  for (int64_t a = 0; a < options.axes; ++a) {
    const ResizeAxis axis = AxisOf(call, options, a);
    if (!axis.Changes()) continue;
    const auto d = static_cast<int>(options.axis[a]);
    const Taps taps(call, options, axis);
    if (!taps) return call.Fail(kOutOfScratch);
    taps.Apply(options, axis, elements(0, d), elements(d + 1, x.rank()), from, to);
    extents[d] = axis.out;
    double* const taken = from;
    from = to;
    to = taken;
  }
  for (int64_t i = 0; i < y.elements(); ++i) {
    y.data<T>()[i] = CutTo<T>(kIsFloat<T> ? from[i] : RoundHalfEven(from[i]));
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Resize_extents(void** arguments) {
  return WriteExtents(Call(arguments), ResizeExtents);
}

int32_t slipway_Resize(void** arguments) {
  const Call call(arguments);
  const Options options(call);
  if (const char* wrong = WrongExtents(call, ResizeExtents)) return call.Fail(wrong);
  if (call.output(0).elements() == 0) return 0;
  if (options.mode == ResizeMode::kNearest) {
    return DispatchAny(call, call.input(0).type(),
                       [&](auto zero) { return Nearest<decltype(zero)>(call, options); });
  }
  return DispatchNumber(call, call.input(0).type(),
                        [&](auto zero) { return Interpolate<decltype(zero)>(call, options); });
}
