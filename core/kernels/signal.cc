#include "core/kernels/signal.h"

#include "core/kernels/call.h"
#include "core/kernels/extents.h"
#include "core/kernels/fourier.h"
#include "core/kernels/math.h"
#include "core/kernels/saturate.h"

namespace slipway::kernels {
namespace {

// Number n of a signal whose numbers lie `stride` apart and have `parts` parts.
template <typename T>
Complex NumberAt(const T* x, int64_t n, int64_t stride, int64_t parts) {
  const T* number = x + n * stride;
  return {Widen(number[0]), parts == 2 ? Widen(number[1]) : 0};
}

struct DftOptions {
  explicit DftOptions(const Call& call)
      : axis(AxisOf(call)), inverse(call.Integer(0) != 0), onesided(call.Integer(1) != 0) {
    if (axis < 0) return;
    length = call.input(0).extent(axis);
    if (inverse && onesided) length = (length - 1) * 2;
    if (call.input(1).present()) length = CountOf(call.input(1));
    made = onesided && !inverse ? length / 2 + 1 : length;
  }
  // The last but one without an axis; -1 for one along which there is no signal.
  static int AxisOf(const Call& call) {
    const int rank = call.input(0).rank();
    const Operand axis = call.input(2);
    if (!axis.present()) return rank - 2;
    const int named = axis.elements() == 1 ? AxisAt(axis, 0, rank) : -1;
    return named == rank - 1 ? -1 : named;
  }

  int axis;
  bool inverse;
  bool onesided;
  int64_t length = 0;  // Of the transform.
  int64_t made = 0;    // What y has along the axis.
};

const char* DftExtents(const Call& call, Extents& extents) {
  const DftOptions options(call);
  if (options.axis < 0) return "the axis (input 2) is none that a signal lies along";
  if (options.length < 1 || options.length > kMostExtent) {
    return "a transform of less than 1 number, or of more than 2^31 - 1";
  }
  const Operand x = call.input(0);
  for (int d = 0; d < x.rank() - 1; ++d) {
    extents.Add(0, d == options.axis ? options.made : x.extent(d));
  }
  extents.Add(0, options.onesided && options.inverse ? 1 : 2);
  return nullptr;
}

template <typename T>
int32_t Dft(const Call& call) {
  const Operand x = call.input(0);
  const Operand y = call.output(0);
  const DftOptions options(call);
  const auto [axis, inverse, onesided, length, made] = options;
  const int last = x.rank() - 1;
  const int64_t parts = x.extent(last);
  const int64_t y_parts = y.extent(last);
  const int64_t inner = x.Product(axis + 1, last);
  const int64_t given = x.extent(axis);
  const Fourier fourier(call, length);
  const Scratch<Complex> z(call, length);
  if (!fourier || !z) return call.Fail(kOutOfScratch);
  // Of a one-sided spectrum the other half is the conjugate of this one.
  const int64_t own = inverse && onesided ? length / 2 + 1 : length;
  for (int64_t o = 0; o < x.Product(0, axis); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const T* from = x.data<const T>() + (o * given * inner + i) * parts;
      for (int64_t n = 0; n < length; ++n) {
        const int64_t source = n < own ? n : length - n;
        z[n] = source < given ? NumberAt(from, source, inner * parts, parts) : Complex{0, 0};
        if (n >= own) z[n].imaginary = -z[n].imaginary;
      }
      // What must be real is taken as if it were.
      if (inverse && onesided) {
        z[0].imaginary = 0;
        if (length % 2 == 0) z[length / 2].imaginary = 0;
      }
      fourier.Transform(z.get(), inverse);
      T* to = y.data<T>() + (o * made * inner + i) * y_parts;
      for (int64_t k = 0; k < made; ++k, to += inner * y_parts) {
        to[0] = Narrow<T>(z[k].real);
        if (y_parts == 2) to[1] = Narrow<T>(z[k].imaginary);
      }
    }
  }
  return 0;
}

int64_t FrameLength(const Call& call) {
  if (call.input(2).present()) return call.input(2).extent(0);
  return call.input(3).present() ? CountOf(call.input(3)) : call.input(0).extent(1);
}

const char* StftExtents(const Call& call, Extents& extents) {
  const Operand x = call.input(0);
  const int64_t step = CountOf(call.input(1));
  const int64_t length = FrameLength(call);
  const int64_t signal = x.extent(1);
  if (call.input(3).present() && CountOf(call.input(3)) != length) {
    return "the window has not the length of a frame";
  }
  if (step < 1 || length < 1 || length > signal) return "the signal holds no such frames";
  extents.Add(0, x.extent(0));
  extents.Add(0, (signal - length) / step + 1);
  extents.Add(0, call.Integer(0) != 0 ? length / 2 + 1 : length);
  extents.Add(0, 2);
  return nullptr;
}

template <typename T>
int32_t Stft(const Call& call) {
  const Operand x = call.input(0);
  const Operand window = call.input(2);
  const Operand y = call.output(0);
  const int64_t step = CountOf(call.input(1));
  const int64_t parts = x.extent(2);
  const int64_t signal = x.extent(1);
  const int64_t frames = y.extent(1);
  const int64_t bins = y.extent(2);
  const int64_t length = FrameLength(call);
  if (parts != 1 && parts != 2) return call.Fail("the signal has neither real nor complex numbers");
  if (length < 1 || step < 0 || (frames - 1) * step + length > signal) {
    return call.Fail("the frames reach beyond the signal");
  }
  const Fourier fourier(call, length);
  const Scratch<Complex> z(call, length);
  if (!fourier || !z) return call.Fail(kOutOfScratch);
  T* to = y.data<T>();
  for (int64_t f = 0; f < x.extent(0) * frames; ++f) {
    const T* from = x.data<const T>() + (f / frames * signal + f % frames * step) * parts;
    for (int64_t n = 0; n < length; ++n) {
      const double weight = window.present() ? Widen(window.data<const T>()[n]) : 1;
      const Complex number = NumberAt(from, n, parts, parts);
      z[n] = {number.real * weight, number.imaginary * weight};
    }
    fourier.Transform(z.get(), false);
    for (int64_t k = 0; k < bins; ++k) {
      *to++ = Narrow<T>(z[k].real);
      *to++ = Narrow<T>(z[k].imaginary);
    }
  }
  return 0;
}

double WindowAt(SignalWindow window, double turn) {
  switch (window) {
    case SignalWindow::kHann: {
      const double sine = Sin(kPi * turn);
      return sine * sine;
    }
    case SignalWindow::kHamming:
      return 25.0 / 46 - 21.0 / 46 * Cos(2 * kPi * turn);
    case SignalWindow::kBlackman:
      break;
  }
  return 0.42 - 0.5 * Cos(2 * kPi * turn) + 0.08 * Cos(4 * kPi * turn);
}

const char* MelWeightMatrixExtents(const Call& call, Extents& extents) {
  const int64_t length = CountOf(call.input(1));
  if (length < 0) return kBadExtent;
  extents.Add(0, length / 2 + 1);
  extents.Add(0, CountOf(call.input(0)));
  return nullptr;
}

template <typename T>
int32_t MelWeightMatrix(const Call& call) {
  const Operand y = call.output(0);
  const int64_t rows = y.extent(0);
  const int64_t bins = y.extent(1);
  const auto length = static_cast<double>(CountOf(call.input(1)));
  const double rate = NumberAt(call.input(2), 0);
  const auto mel = [](double hertz) { return 2595 * Log1p(hertz / 700) / Log(10); };
  const double low = mel(NumberAt(call.input(3), 0));
  const double step = (mel(NumberAt(call.input(4), 0)) - low) / static_cast<double>(bins + 2);
  // The row where triangle i - 1 ends, i has its peak and i + 1 begins; -1 where there is none.
  const auto row = [&](int64_t i) -> int64_t {
    const double hertz = 700 * Expm1((low + static_cast<double>(i) * step) / 2595 * Log(10));
    const double at = Floor((length + 1) * hertz / rate);
    return at >= 0 && at < static_cast<double>(rows) ? static_cast<int64_t>(at) : -1;
  };
  T* to = y.data<T>();
  __builtin_memset(to, 0, static_cast<uint64_t>(y.elements()) * sizeof(T));
  const auto set = [&](int64_t at, int64_t bin, double value) {
    to[at * bins + bin] = CutTo<T>(value);
  };
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t begin = row(bin);
    const int64_t peak = row(bin + 1);
    const int64_t end = row(bin + 2);
    if (begin < 0 || peak < begin || end < peak) {
      return call.Fail("the edges do not lie in order between 0 and half of the sample rate");
    }
    for (int64_t at = begin; at < peak; ++at) {
      set(at, bin, static_cast<double>(at - begin) / static_cast<double>(peak - begin));
    }
    set(peak, bin, 1);
    for (int64_t at = peak + 1; at < end; ++at) {
      set(at, bin, static_cast<double>(end - at) / static_cast<double>(end - peak));
    }
  }
  return 0;
}

template <typename T>
int32_t CausalConv(const Call& call) {
  const Operand x = call.input(0);
  const Operand bias = call.input(2);
  const Operand past = call.input(3);
  const Operand y = call.output(0);
  const Operand present = call.output(1);
  const bool activated = call.Integer(0) != 0;
  const int64_t channels = x.extent(1);
  const int64_t length = x.extent(2);
  const int64_t kernel = call.input(1).extent(2);
  for (int64_t p = 0; p < x.extent(0) * channels; ++p) {
    // What was, then what comes.
    const auto at = [&](int64_t i) {
      if (i >= kernel - 1) return x.data<const T>()[p * length + i - (kernel - 1)];
      return past.present() ? past.data<const T>()[p * (kernel - 1) + i] : Narrow<T>(0);
    };
    const T* weights = call.input(1).data<const T>() + p % channels * kernel;
    for (int64_t i = 0; y.present() && i < length; ++i) {
      double sum = bias.present() ? Widen(bias.data<const T>()[p % channels]) : 0;
      for (int64_t k = 0; k < kernel; ++k) sum += Widen(weights[k]) * Widen(at(i + k));
      if (activated) sum /= 1 + Exp(-sum);
      y.data<T>()[p * length + i] = Narrow<T>(sum);
    }
    for (int64_t i = 0; present.present() && i < kernel - 1; ++i) {
      present.data<T>()[p * (kernel - 1) + i] = at(length + i);
    }
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_DFT_extents(void** arguments) { return WriteExtents(Call(arguments), DftExtents); }

int32_t slipway_DFT(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, DftExtents)) return call.Fail(wrong);
  return DispatchFloat(call, call.input(0).type(),
                       [&](auto zero) { return Dft<decltype(zero)>(call); });
}

int32_t slipway_STFT_extents(void** arguments) {
  return WriteExtents(Call(arguments), StftExtents);
}

int32_t slipway_STFT(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, StftExtents)) return call.Fail(wrong);
  return DispatchFloat(call, call.input(0).type(),
                       [&](auto zero) { return Stft<decltype(zero)>(call); });
}

int32_t slipway_SignalWindow_count(void** arguments) {
  const Call call(arguments);
  const int64_t size = CountOf(call.input(0));
  return size < 0 || size > kMostExtent ? call.Fail(kBadExtent) : call.Count(size);
}

int32_t slipway_SignalWindow(void** arguments) {
  const Call call(arguments);
  if (call.output(0).extent(0) != CountOf(call.input(0))) return call.Fail(kOtherExtents);
  const auto window = static_cast<SignalWindow>(call.Integer(0));
  return DispatchNumber(call, call.output(0).type(), [&](auto zero) {
    using T = decltype(zero);
    const Operand y = call.output(0);
    const int64_t turn = y.elements() - (call.Integer(1) != 0 ? 0 : 1);
    for (int64_t i = 0; i < y.elements(); ++i) {
      const double value =
          turn == 0 ? 1 : WindowAt(window, static_cast<double>(i) / static_cast<double>(turn));
      y.data<T>()[i] = CutTo<T>(value);
    }
    return 0;
  });
}

int32_t slipway_MelWeightMatrix_extents(void** arguments) {
  return WriteExtents(Call(arguments), MelWeightMatrixExtents);
}

int32_t slipway_MelWeightMatrix(void** arguments) {
  const Call call(arguments);
  if (const char* wrong = WrongExtents(call, MelWeightMatrixExtents)) return call.Fail(wrong);
  return DispatchNumber(call, call.output(0).type(),
                        [&](auto zero) { return MelWeightMatrix<decltype(zero)>(call); });
}

int32_t slipway_CausalConvWithState(void** arguments) {
  const Call call(arguments);
  return DispatchFloat(call, call.input(0).type(),
                       [&](auto zero) { return CausalConv<decltype(zero)>(call); });
}
