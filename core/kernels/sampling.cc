#include "core/kernels/sampling.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/math.h"
#include "core/kernels/places.h"
#include "core/kernels/saturate.h"
#include "core/kernels/window.h"

namespace slipway::kernels {
namespace {

constexpr char kNothingThere[] = "an image without pixels cannot be sampled";
constexpr int kMostTaps = 4;

// What a sample is made of along one dimension: places of the input, negative ones outside of it, and their weights.
struct Taps {
  int count;
  int64_t place[kMostTaps];
  double weight[kMostTaps];
};

// Mirrors what lies outside of [least, most], as often as is needed.
double Reflected(double at, double least, double most) {
  const double range = most - least;
  if (!(range > 0)) return least;
  const double beyond = at < least ? least - at : at > most ? at - most : 0;
  if (beyond == 0) return at;
  const double rest = Fmod(beyond, 2 * range);
  const double inwards = rest < range ? rest : 2 * range - rest;
  return at < least ? least + inwards : most - inwards;
}

class Sampler {
 public:
  Sampler(SampleMode mode, SamplePadding padding, bool align_corners)
      : mode_(mode), padding_(padding), align_corners_(align_corners) {}

  // `at` is in [-1, 1] over the dimension, or outside of it. NaN makes weights that are NaN.
  Taps At(double at, int64_t extent) const {
    const auto size = static_cast<double>(extent);
    return AtPlace(align_corners_ ? (at + 1) / 2 * (size - 1) : ((at + 1) * size - 1) / 2, extent);
  }

  // `place` counts elements.
  Taps AtPlace(double place, int64_t extent) const {
    const auto size = static_cast<double>(extent);
    const double least = align_corners_ ? 0 : -0.5;
    const double most = align_corners_ ? size - 1 : size - 0.5;
    if (mode_ == SampleMode::kNearest) place = RoundHalfEven(place);
    if (place < least || place > most) {
      // Cubic: what lies behind the border is as it, place by place, and a sample there is made of these as everywhere.
      if (padding_ == SamplePadding::kBorder && mode_ != SampleMode::kCubic) {
        place = place < 0 ? 0 : size - 1;
      }
      if (padding_ == SamplePadding::kReflection) place = Reflected(place, least, most);
    }
    Taps taps;
    taps.count = mode_ == SampleMode::kNearest ? 1 : mode_ == SampleMode::kLinear ? 2 : 4;
    // Far outside it does not matter where.
    const double near = !(place > -8) ? -8 : place > size + 8 ? size + 8 : place;
    const double below = Floor(near);
    const double fraction = IsNan(place) ? place : near - below;
    const int64_t first = static_cast<int64_t>(below) - (mode_ == SampleMode::kCubic ? 1 : 0);
    for (int k = 0; k < taps.count; ++k) {
      taps.place[k] = Folded(first + k, extent, least, most);
      taps.weight[k] = Weight(fraction, k);
    }
    return taps;
  }

 private:
  int64_t Folded(int64_t place, int64_t extent, double least, double most) const {
    if (place >= 0 && place < extent) return place;
    switch (padding_) {
      case SamplePadding::kZeros:
        return -1;
      case SamplePadding::kBorder:
        return place < 0 ? 0 : extent - 1;
      case SamplePadding::kReflection:
        return static_cast<int64_t>(Reflected(static_cast<double>(place), least, most));
    }
    return -1;
  }

  // The weight of tap k, where `fraction` is how far behind the tap before it the sample lies. Cubic: R. Keys, "Cubic
  // convolution interpolation for digital image processing", 1981, with a = -0.75.
  double Weight(double fraction, int k) const {
    if (mode_ == SampleMode::kNearest) return IsNan(fraction) ? fraction : 1;
    if (mode_ == SampleMode::kLinear) return k == 0 ? 1 - fraction : fraction;
    constexpr double kA = -0.75;
    const double d = Abs(fraction - (k - 1));
    if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
    return (((d - 5) * d + 8) * d - 4) * kA;
  }

  SampleMode mode_;
  SamplePadding padding_;
  bool align_corners_;
};

// The sum over the taps of all dimensions, of which there are `rank`.
template <typename T>
double Sampled(const T* plane, int rank, const Taps* taps, const PerDimension& strides) {
  double sum = 0;
  PerDimension index;
  for (;;) {
    double weight = 1;
    int64_t at = 0;
    bool inside = true;
    for (int d = 0; d < rank; ++d) {
      const int64_t place = taps[d].place[index[d]];
      inside = inside && place >= 0;
      weight *= taps[d].weight[index[d]];
      at += place * strides[d];
    }
    if (inside) sum += weight * static_cast<double>(Widen(plane[at]));
    int d = rank - 1;
    while (d >= 0 && ++index[d] == taps[d].count) index[d--] = 0;
    if (d < 0) return sum;
  }
}

template <typename T, typename G>
int32_t GridSample(const Call& call) {
  const Operand x = call.input(0);
  const Operand grid = call.input(1);
  const Operand y = call.output(0);
  const Sampler sampler(static_cast<SampleMode>(call.Integer(0)),
                        static_cast<SamplePadding>(call.Integer(1)), call.Integer(2) != 0);
  const int rank = x.rank() - 2;
  PerDimension strides;
  const PerDimension all = StridesOf(x);
  for (int d = 0; d < rank; ++d) strides[d] = all[d + 2];
  const int64_t in_plane = x.Product(2, x.rank());
  const int64_t places = y.Product(2, y.rank());
  const int64_t channels = x.extent(1);
  if (y.elements() == 0) return 0;
  if (in_plane == 0) return call.Fail(kNothingThere);
  for (int64_t n = 0; n < x.extent(0); ++n) {
    for (int64_t p = 0; p < places; ++p) {
      // The innermost dimension's coordinate comes first.
      const G* at = grid.data<const G>() + (n * places + p) * rank;
      Taps taps[kMostDimensions];
      for (int d = 0; d < rank; ++d) taps[d] = sampler.At(Widen(at[rank - 1 - d]), x.extent(d + 2));
      for (int64_t c = 0; c < channels; ++c) {
        const T* plane = x.data<const T>() + (n * channels + c) * in_plane;
        y.data<T>()[(n * channels + c) * places + p] =
            CutTo<T>(Sampled(plane, rank, taps, strides));
      }
    }
  }
  return 0;
}

const char* AffineGridExtents(const Call& call, Extents& extents) {
  const Operand theta = call.input(0);
  const Operand size = call.input(1);
  const int64_t rank = size.elements() - 2;
  if (theta.extent(0) != IndexAt(size, 0) || theta.extent(1) != rank ||
      theta.extent(2) != rank + 1) {
    return "theta does not fit the size";
  }
  for (int64_t d = 0; d < rank + 2; ++d) {
    if (d != 1) extents.Add(0, IndexAt(size, d));
  }
  extents.Add(0, rank);
  return nullptr;
}

template <typename T>
int32_t AffineGrid(const Call& call) {
  const T* theta = call.input(0).data<const T>();
  const Operand y = call.output(0);
  const bool align_corners = call.Integer(0) != 0;
  const int rank = y.rank() - 2;
  const auto position = [&](int64_t i, int64_t extent) {
    const auto size = static_cast<double>(extent);
    const auto at = static_cast<double>(i);
    if (!align_corners) return (2 * at + 1) / size - 1;
    return extent == 1 ? -1 : 2 * at / (size - 1) - 1;
  };
  const int64_t places = y.Product(1, rank + 1);
  T* to = y.data<T>();
  for (int64_t n = 0; n < y.extent(0); ++n) {
    for (int64_t p = 0; p < places; ++p) {
      double at[3];  // Of the innermost dimension first.
      int64_t rest = p;
      for (int d = 0; d < rank; ++d) {
        const int64_t extent = y.extent(rank - d);
        at[d] = position(rest % extent, extent);
        rest /= extent;
      }
      for (int row = 0; row < rank; ++row) {
        const T* factors = theta + (n * rank + row) * (rank + 1);
        double sum = Widen(factors[rank]);
        for (int d = 0; d < rank; ++d) sum += Widen(factors[d]) * at[d];
        *to++ = Narrow<T>(sum);
      }
    }
  }
  return 0;
}

template <typename T>
int32_t DeformConv(const Call& call) {
  const Operand x = call.input(0);
  const Operand w = call.input(1);
  const Operand offsets = call.input(2);
  const Operand bias = call.input(3);
  const Operand mask = call.input(4);
  const Operand y = call.output(0);
  const auto group = call.Integer(0);
  const auto offset_group = call.Integer(1);
  const auto rank = static_cast<int>(call.Integer(2));
  const int64_t* window = call.Integers() + 3;
  const Sampler sampler(SampleMode::kLinear, SamplePadding::kZeros, true);
  const int64_t channels = x.extent(1);
  const int64_t made = y.extent(1);
  const int64_t per_group = channels / group;
  const int64_t per_offset = channels / offset_group;
  const int64_t in_plane = x.Product(2, x.rank());
  const int64_t places = y.Product(2, y.rank());
  const int64_t kernel = w.Product(2, w.rank());
  PerDimension strides;
  const PerDimension all = StridesOf(x);
  for (int d = 0; d < rank; ++d) strides[d] = all[d + 2];
  const Scratch<double> sums(call, made);
  if (!sums) return call.Fail(kOutOfScratch);
  for (int64_t np = 0; np < y.extent(0) * places; ++np) {
    const int64_t n = np / places;
    const int64_t place = np % places;
    for (int64_t m = 0; m < made; ++m) {
      sums[m] = bias.present() ? Widen(bias.data<const T>()[m]) : 0;
    }
    for (int64_t ok = 0; ok < offset_group * kernel; ++ok) {
      const int64_t element = ok % kernel;
      Taps taps[kMostDimensions];
      int64_t rest_place = place;
      int64_t rest_element = element;
      for (int d = rank - 1; d >= 0; --d) {
        const WindowDimension along = WindowNumbers(window, d);
        const int64_t fixed =
            InputIndex(along, rest_place % y.extent(2 + d), rest_element % w.extent(2 + d));
        rest_place /= y.extent(2 + d);
        rest_element /= w.extent(2 + d);
        const double moved = Widen(
            offsets
                .data<const T>()[((n * offset_group * kernel + ok) * rank + d) * places + place]);
        taps[d] = sampler.AtPlace(static_cast<double>(fixed) + moved, x.extent(2 + d));
      }
      const double factor =
          mask.present()
              ? Widen(mask.data<const T>()[(n * offset_group * kernel + ok) * places + place])
              : 1;
      const int64_t first = ok / kernel * per_offset;
      for (int64_t c = first; c < first + per_offset; ++c) {
        const T* plane = x.data<const T>() + (n * channels + c) * in_plane;
        const double sample = factor * Sampled(plane, rank, taps, strides);
        const int64_t g = c / per_group;
        for (int64_t m = g * (made / group); m < (g + 1) * (made / group); ++m) {
          const int64_t weight = (m * per_group + c % per_group) * kernel + element;
          sums[m] += sample * Widen(w.data<const T>()[weight]);
        }
      }
    }
    for (int64_t m = 0; m < made; ++m) {
      y.data<T>()[(n * made + m) * places + place] = Narrow<T>(sums[m]);
    }
  }
  return 0;
}

// Four neighbours of a place in a plane, and their weights; all 0 for a place outside.
struct Corners {
  int64_t at[4] = {};
  double weight[4] = {};
};

// One axis of Corners: the neighbours, and how far behind the first the place lies. False for a place outside.
bool Between(double place, int64_t extent, int64_t& low, int64_t& high, double& fraction) {
  if (!(place >= -1) || place > static_cast<double>(extent)) return false;
  if (place < 0) place = 0;
  low = static_cast<int64_t>(place);
  high = low + 1;
  fraction = place - static_cast<double>(low);
  if (high >= extent) {
    low = high = extent - 1;
    fraction = 0;
  }
  return true;
}

Corners CornersOf(double y, double x, int64_t height, int64_t width) {
  Corners corners;
  int64_t top = 0;
  int64_t bottom = 0;
  int64_t left = 0;
  int64_t right = 0;
  double down = 0;
  double along = 0;
  if (!Between(y, height, top, bottom, down) || !Between(x, width, left, right, along)) {
    return corners;
  }
  const int64_t at[] = {top * width + left, top * width + right, bottom * width + left,
                        bottom * width + right};
  const double weight[] = {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along),
                           down * along};
  for (int k = 0; k < 4; ++k) {
    corners.at[k] = at[k];
    corners.weight[k] = weight[k];
  }
  return corners;
}

template <typename T>
int32_t RoiAlign(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const bool maximum = call.Integer(0) != 0;
  const bool half_pixel = call.Integer(1) != 0;
  const int64_t ratio = call.Integer(2);
  const double scale = call.Real(3);
  const int64_t channels = x.extent(1);
  const int64_t height = x.extent(2);
  const int64_t width = x.extent(3);
  const int64_t rows = y.extent(2);
  const int64_t columns = y.extent(3);
  constexpr double kMostSamples = 1 << 15;
  if (y.elements() > 0 && height * width == 0) return call.Fail(kNothingThere);
  for (int64_t r = 0; r < y.extent(0); ++r) {
    const int64_t batch = IndexAt(call.input(2), r);
    if (batch < 0 || batch >= x.extent(0)) return call.Fail("a region is of no image of the batch");
    const T* corners = call.input(1).data<const T>() + r * 4;
    double begin[2];
    double bin[2];
    int64_t samples[2];
    for (int d = 0; d < 2; ++d) {  // Height, width.
      begin[d] = Widen(corners[1 - d]) * scale - (half_pixel ? 0.5 : 0);
      double extent = Widen(corners[3 - d]) * scale - (half_pixel ? 0.5 : 0) - begin[d];
      // In the old form no region is smaller than a pixel.
      if (!half_pixel && !(extent > 1)) extent = 1;
      bin[d] = extent / static_cast<double>(y.extent(2 + d));
      const double wanted = ratio > 0 ? static_cast<double>(ratio) : Ceil(bin[d]);
      if (wanted > kMostSamples) return call.Fail("a region needs more than 32768 samples a bin");
      samples[d] = wanted > 0 ? static_cast<int64_t>(wanted) : 0;
    }
    const int64_t count = samples[0] * samples[1];
    for (int64_t bin_at = 0; bin_at < rows * columns; ++bin_at) {
      const double top = begin[0] + static_cast<double>(bin_at / columns) * bin[0];
      const double left = begin[1] + static_cast<double>(bin_at % columns) * bin[1];
      for (int64_t c = 0; c < channels; ++c) {
        const T* plane = x.data<const T>() + (batch * channels + c) * height * width;
        double result = 0;
        for (int64_t s = 0; s < count; ++s) {
          const auto down = static_cast<double>(s / samples[1]) + 0.5;
          const auto along = static_cast<double>(s % samples[1]) + 0.5;
          const Corners near =
              CornersOf(top + down * bin[0] / static_cast<double>(samples[0]),
                        left + along * bin[1] / static_cast<double>(samples[1]), height, width);
          double sum = 0;
          double most = -kInfinity;
          for (int k = 0; k < 4; ++k) {
            const double part = near.weight[k] * Widen(plane[near.at[k]]);
            sum += part;
            if (part > most || part != part) most = part;
          }
          if (!maximum) {
            result += sum;
          } else if (s == 0 || most > result || most != most) {
            result = most;
          }
        }
        if (!maximum && count > 0) result /= static_cast<double>(count);
        y.data<T>()[(r * channels + c) * rows * columns + bin_at] = Narrow<T>(result);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_GridSample(void** arguments) {
  const Call call(arguments);
  return DispatchNumber(call, call.input(0).type(), [&](auto zero) {
    return DispatchFloat(call, call.input(1).type(), [&](auto grid) {
      return GridSample<decltype(zero), decltype(grid)>(call);
    });
  });
}

int32_t slipway_AffineGrid_extents(void** arguments) {
  return WriteExtents(Call(arguments), AffineGridExtents);
}

int32_t slipway_AffineGrid(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, AffineGridExtents)) return call.Fail(wrong);
  return DispatchFloat(call, call.input(0).type(),
                       [&](auto zero) { return AffineGrid<decltype(zero)>(call); });
}

int32_t slipway_DeformConv(void** arguments) {
  const Call call(arguments);
  return DispatchFloat(call, call.input(0).type(),
                       [&](auto zero) { return DeformConv<decltype(zero)>(call); });
}

int32_t slipway_RoiAlign(void** arguments) {
  const Call call(arguments);
  return DispatchFloat(call, call.input(0).type(),
                       [&](auto zero) { return RoiAlign<decltype(zero)>(call); });
}
