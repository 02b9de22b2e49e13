#include "core/kernels/normalization.h"

#include "core/kernels/elements.h"
#include "core/kernels/math.h"

namespace slipway::kernels {
namespace {

// function(values, count) with the elements of each row of x along `axis`, in scratch memory; what it leaves there becomes
// the row of y.
template <typename Function>
int32_t MapRows(const Call& call, int axis, Function function) {
  const Operand x = call.input(0);
  const int64_t extent = x.extent(axis);
  const int64_t inner = x.Product(axis + 1, x.rank());
  const Scratch<double> values(call, extent);
  if (!values) return call.Fail(kOutOfScratch);
  for (int64_t o = 0; o < x.Product(0, axis) && extent > 0; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t first = o * extent * inner + i;
      Load(x, first, inner, extent, values.get());
      function(values.get(), extent);
      Store(values.get(), first, inner, extent, call.output(0));
    }
  }
  return 0;
}

// Leaves the exponentials of what is below the highest element, and returns their sum; `highest` is that element.
double Exponentials(double* values, int64_t count, double& highest) {
  highest = values[0];
  for (int64_t i = 1; i < count; ++i) highest = Higher(highest, values[i]);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += values[i] = Exp(values[i] - highest);
  return sum;
}

// A mean and the inverse of a standard deviation.
struct Moments {
  double mean;
  double inverse;
};

// Of `count` elements of x from `first` on; about 0 and not about their mean unless `centered`.
Moments MomentsOf(const Operand& x, int64_t first, int64_t count, bool centered, double epsilon) {
  double values[kChunk];
  const auto sum_of = [&](auto function) {
    double sum = 0;
    for (int64_t done = 0; done < count; done += kChunk) {
      const int64_t length = count - done < kChunk ? count - done : kChunk;
      Load(x, first + done, 1, length, values);
      for (int64_t i = 0; i < length; ++i) sum += function(values[i]);
    }
    return sum / static_cast<double>(count);
  };
  const double mean = centered ? sum_of([](double v) { return v; }) : 0;
  const double variance = sum_of([mean](double v) { return (v - mean) * (v - mean); });
  return {mean, 1 / Sqrt(variance + epsilon)};
}

// Normalizes each `length` elements of x that lie one behind the other; scale (input 1) and bias (input 2) are read by
// strides over x's dimensions.
int32_t NormalizeRuns(const Call& call, int64_t length, bool centered,
                      const PerDimension (&strides)[2]) {
  const Operand x = call.input(0);
  const Operand scale = call.input(1);
  const Operand bias = call.input(2);
  const double epsilon = call.Real(0);
  const int64_t runs = length == 0 ? 0 : x.elements() / length;
  const Scratch<double> mean(call, runs);
  const Scratch<double> inverse(call, runs);
  if (!mean || !inverse) return call.Fail(kOutOfScratch);
  for (int64_t r = 0; r < runs; ++r) {
    const Moments moments = MomentsOf(x, r * length, length, centered, epsilon);
    mean[r] = moments.mean;
    inverse[r] = moments.inverse;
  }
  BroadcastRows rows(strides, 2, x);
  ForEachRun(rows, 2, [&](int64_t first, const int64_t* at, int64_t count) {
    double values[kChunk];
    double scales[kChunk];
    double biases[kChunk] = {};
    Load(x, first, 1, count, values);
    Load(scale, at[0], rows.step(0), count, scales);
    if (bias.present()) Load(bias, at[1], rows.step(1), count, biases);
    int64_t run = first / length;
    int64_t left = length - first % length;
    for (int64_t i = 0; i < count; ++i) {
      values[i] = (values[i] - mean[run]) * inverse[run] * scales[i] + biases[i];
      if (--left == 0) {
        ++run;
        left = length;
      }
    }
    Store(values, first, 1, count, call.output(0));
  });
  if (call.output(1).present()) Store(mean.get(), 0, 1, runs, call.output(1));
  if (call.output(2).present()) Store(inverse.get(), 0, 1, runs, call.output(2));
  return 0;
}

// Over the dimensions of x from `axis` on.
int32_t NormalizeLayers(void** arguments, bool centered) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const Operand bias = call.input(2);
  const PerDimension strides[] = {StridesWithin(call.input(1), x),
                                  bias.present() ? StridesWithin(bias, x) : PerDimension()};
  return NormalizeRuns(call, x.Product(static_cast<int>(call.Integer(1)), x.rank()), centered,
                       strides);
}

// Over `groups` parts of the channels (dimension 1) and all that lies within these.
int32_t NormalizeChannels(const Call& call, int64_t groups) {
  const Operand x = call.input(0);
  PerDimension of_channels;
  of_channels[1] = x.extent(1) == 1 ? 0 : 1;
  const PerDimension strides[] = {of_channels, of_channels};
  const int64_t runs = x.extent(0) * groups;
  return NormalizeRuns(call, runs == 0 ? 0 : x.elements() / runs, /*centered=*/true, strides);
}

// A channel of x [outer, channels, inner].
struct Channel {
  Channel(const Operand& x, int64_t channel)
      : outer(x.extent(0)),
        inner(x.Product(2, x.rank())),
        first(channel * inner),
        step(x.extent(1) * inner) {}
  // visit(first element, count) for its elements.
  template <typename Visit>
  void ForEachRun(Visit visit) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t done = 0; done < inner; done += kChunk) {
        visit(first + o * step + done, inner - done < kChunk ? inner - done : kChunk);
      }
    }
  }
  int64_t outer;
  int64_t inner;
  int64_t first;
  int64_t step;
};

double NumberAt(const Operand& x, int64_t i) {
  double value;
  Load(x, i, 1, 1, &value);
  return value;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Softmax(void** arguments) {
  const Call call(arguments);
  return MapRows(call, static_cast<int>(call.Integer(0)), [](double* values, int64_t count) {
    double highest;
    const double sum = Exponentials(values, count, highest);
    for (int64_t i = 0; i < count; ++i) values[i] /= sum;
  });
}

int32_t slipway_LogSoftmax(void** arguments) {
  const Call call(arguments);
  const Scratch<double> exponentials(call, call.input(0).extent(static_cast<int>(call.Integer(0))));
  if (!exponentials) return call.Fail(kOutOfScratch);
  return MapRows(call, static_cast<int>(call.Integer(0)), [&](double* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) exponentials[i] = values[i];
    double highest;
    const double log = Log(Exponentials(exponentials.get(), count, highest));
    for (int64_t i = 0; i < count; ++i) values[i] = values[i] - highest - log;
  });
}

int32_t slipway_Hardmax(void** arguments) {
  const Call call(arguments);
  return MapRows(call, static_cast<int>(call.Integer(0)), [](double* values, int64_t count) {
    int64_t best = 0;
    for (int64_t i = 1; i < count; ++i) {
      if (values[i] > values[best] || (IsNan(values[i]) && !IsNan(values[best]))) best = i;
    }
    for (int64_t i = 0; i < count; ++i) values[i] = i == best ? 1 : 0;
  });
}

int32_t slipway_LpNormalization(void** arguments) {
  const Call call(arguments);
  const bool squares = call.Integer(1) == 2;
  return MapRows(call, static_cast<int>(call.Integer(0)), [&](double* values, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += squares ? values[i] * values[i] : Abs(values[i]);
    const double norm = squares ? Sqrt(sum) : sum;
    for (int64_t i = 0; i < count; ++i) values[i] = norm == 0 ? 0 : values[i] / norm;
  });
}

int32_t slipway_InstanceNormalization(void** arguments) {
  const Call call(arguments);
  return NormalizeChannels(call, call.input(0).extent(1));
}
int32_t slipway_GroupNormalization(void** arguments) {
  const Call call(arguments);
  return NormalizeChannels(call, call.Integer(1));
}
int32_t slipway_LayerNormalization(void** arguments) {
  return NormalizeLayers(arguments, /*centered=*/true);
}
int32_t slipway_RMSNormalization(void** arguments) {
  return NormalizeLayers(arguments, /*centered=*/false);
}

int32_t slipway_MeanVarianceNormalization(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const int64_t* axes = call.Integers() + 1;
  PerDimension reduced;
  int64_t count = 1;
  for (int64_t i = 0; i < call.Integer(0); ++i) {
    reduced[static_cast<int>(axes[i])] = 1;
    count *= x.extent(static_cast<int>(axes[i]));
  }
  const int64_t results = count == 0 ? 0 : x.elements() / count;
  const Scratch<double> mean(call, results);
  const Scratch<double> variance(call, results);
  if (!mean || !variance) return call.Fail(kOutOfScratch);
  for (int64_t i = 0; i < results; ++i) mean[i] = variance[i] = 0;
  const PerDimension strides[] = {StridesOfReduced(x, reduced)};
  // visit(value, number of its result), and back.
  const auto map = [&](auto visit, bool store) {
    BroadcastRows rows(strides, 1, x);
    ForEachRun(rows, 1, [&](int64_t first, const int64_t* at, int64_t length) {
      double values[kChunk];
      Load(x, first, 1, length, values);
      for (int64_t i = 0; i < length; ++i) {
        values[i] = visit(values[i], at[0] + i * rows.step(0));
      }
      if (store) Store(values, first, 1, length, call.output(0));
    });
  };
  const auto number = static_cast<double>(count);
  map([&](double v, int64_t to) { return mean[to] += v / number; }, false);
  map([&](double v,
          int64_t to) { return variance[to] += (v - mean[to]) * (v - mean[to]) / number; },
      false);
  map([&](double v, int64_t of) { return (v - mean[of]) / (Sqrt(variance[of]) + 1e-9); }, true);
  return 0;
}

int32_t slipway_BatchNormalization(void** arguments) {
  const Call call(arguments);
  const Operand x = call.input(0);
  const double epsilon = call.Real(0);
  const double momentum = call.Real(1);
  const bool training = call.Integer(2) != 0;
  for (int64_t c = 0; c < x.extent(1); ++c) {
    const Channel channel(x, c);
    double mean = NumberAt(call.input(3), c);
    double variance = NumberAt(call.input(4), c);
    double values[kChunk];
    if (training) {
      const auto number = static_cast<double>(channel.outer * channel.inner);
      const auto average = [&](auto function) {
        double sum = 0;
        channel.ForEachRun([&](int64_t first, int64_t count) {
          Load(x, first, 1, count, values);
          for (int64_t i = 0; i < count; ++i) sum += function(values[i]);
        });
        return sum / number;
      };
      const double old_mean = mean;
      const double old_variance = variance;
      mean = average([](double v) { return v; });
      variance = average([mean](double v) { return (v - mean) * (v - mean); });
      const double next_mean = old_mean * momentum + mean * (1 - momentum);
      const double next_variance = old_variance * momentum + variance * (1 - momentum);
      if (call.output(1).present()) Store(&next_mean, c, 1, 1, call.output(1));
      if (call.output(2).present()) Store(&next_variance, c, 1, 1, call.output(2));
    }
    const double factor = NumberAt(call.input(1), c) / Sqrt(variance + epsilon);
    const double bias = NumberAt(call.input(2), c);
    channel.ForEachRun([&](int64_t first, int64_t count) {
      Load(x, first, 1, count, values);
      for (int64_t i = 0; i < count; ++i) values[i] = (values[i] - mean) * factor + bias;
      Store(values, first, 1, count, call.output(0));
    });
  }
  return 0;
}

int32_t slipway_LRN(void** arguments) {
  const Call call(arguments);
  const double alpha = call.Real(0);
  const double beta = call.Real(1);
  const double bias = call.Real(2);
  const int64_t size = call.Integer(3);
  const Operand x = call.input(0);
  const int64_t channels = x.extent(1);
  const int64_t inner = x.Product(2, x.rank());
  const Scratch<double> values(call, channels);
  if (!values) return call.Fail(kOutOfScratch);
  for (int64_t o = 0; o < x.extent(0); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t row = o * channels * inner + i;
      Load(x, row, inner, channels, values.get());
      for (int64_t c = 0; c < channels; ++c) {
        double squares = 0;
        const int64_t begin = c < (size - 1) / 2 ? 0 : c - (size - 1) / 2;
        const int64_t end = channels - c <= size / 2 ? channels : c + size / 2 + 1;
        for (int64_t s = begin; s < end; ++s) squares += values[s] * values[s];
        const double base = bias + alpha / static_cast<double>(size) * squares;
        const double y = values[c] / Pow(base, beta);
        Store(&y, row + c * inner, 1, 1, call.output(0));
      }
    }
  }
  return 0;
}
