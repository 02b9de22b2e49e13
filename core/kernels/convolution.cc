#include "core/kernels/convolution.h"

#include "core/kernels/call.h"
#include "core/kernels/numbers.h"

namespace slipway::kernels {
namespace {

// sum + a * b; of integers, around the ends of their type.
template <typename Sum, typename T>
Sum AddProduct(Sum sum, T a, T b) {
  if constexpr (__is_same(Sum, int32_t)) {
    return static_cast<int32_t>(static_cast<uint32_t>(sum) +
                                static_cast<uint32_t>(int32_t{a} * int32_t{b}));
  } else {
    return sum + a * b;
  }
}

// Where a block's weights for an input channel and a column of the kernel begin, in those of a row of the kernel, and how far
// they lie apart.
template <typename T>
struct BlockWeights {
  BlockWeights(const ConvolutionShape& s, const T* row, int64_t kw, int64_t ci)
      : first(row), terms(s.terms) {
    const int64_t index = kw * s.in_block + ci;
    first += (index / terms) * terms * s.out_block + index % terms;
  }
  const T& operator[](int64_t co) const { return first[co * terms]; }
  const T* first;
  int64_t terms;
};

template <typename T>
void FillBias(int64_t blocks, int64_t positions, int64_t block, const T* bias, T* y) {
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t c = 0; c < block; ++c) *y++ = bias == nullptr ? T{0} : bias[b * block + c];
    }
  }
}

// Adds to the output row y what kernel column kw makes of the input row x, for one block of input
// channels and one of output channels. w are the weights of the kernel's row.
template <typename T, typename Sum>
void AddRow(const ConvolutionShape& s, int64_t kw, const T* x, const T* w, Sum* y) {
  const Range range = ValidOutputs(s.width, kw);
  const int64_t stride = s.width.stride;
  const T* first = x + InputIndex(s.width, range.begin, kw) * s.in_block;
  if (s.in_block == 1 && s.out_block == 1) {
    const T weight = w[kw];
    const int64_t count = range.end - range.begin;
    Sum* out = y + range.begin;
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) out[i] = AddProduct(out[i], weight, first[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = AddProduct(out[i], weight, first[i * stride]);
    }
    return;
  }
  for (int64_t ow = range.begin; ow < range.end; ++ow) {
    const T* in = first + (ow - range.begin) * stride * s.in_block;
    Sum* out = y + ow * s.out_block;
    for (int64_t ci = 0; ci < s.in_block; ++ci) {
      const T value = in[ci];
      const BlockWeights<T> weights(s, w, kw, ci);
      for (int64_t co = 0; co < s.out_block; ++co) {
        out[co] = AddProduct(out[co], value, weights[co]);
      }
    }
  }
}

}  // namespace

template <typename T, typename Sum>
void Convolution(const ConvolutionShape& s, const T* x, const T* w, const Sum* bias, Sum* y) {
  const int64_t in_blocks = s.in_channels / s.in_block;
  const int64_t out_blocks = s.out_channels / s.out_block;
  const int64_t in_blocks_per_group = in_blocks / s.group;
  const int64_t out_blocks_per_group = out_blocks / s.group;
  const int64_t in_row = s.width.input * s.in_block;
  const int64_t out_row = s.width.output * s.out_block;
  const int64_t in_plane = s.depth.input * s.height.input * in_row;
  const int64_t out_plane = s.depth.output * s.height.output * out_row;
  const int64_t kernel_size = s.depth.kernel * s.height.kernel * s.width.kernel;
  const int64_t weights = s.in_block * s.out_block;
  for (int64_t n = 0; n < s.batch; ++n) {
    FillBias(out_blocks, out_plane / s.out_block, s.out_block, bias,
             y + n * out_blocks * out_plane);
    for (int64_t ob = 0; ob < out_blocks; ++ob) {
      Sum* y_plane = y + (n * out_blocks + ob) * out_plane;
      const int64_t first_in_block = ob / out_blocks_per_group * in_blocks_per_group;
      for (int64_t ib = 0; ib < in_blocks_per_group; ++ib) {
        const T* x_plane = x + (n * in_blocks + first_in_block + ib) * in_plane;
        const T* w_kernel = w + (ob * in_blocks_per_group + ib) * kernel_size * weights;
        for (int64_t kd = 0; kd < s.depth.kernel; ++kd) {
          const Range depth = ValidOutputs(s.depth, kd);
          for (int64_t kh = 0; kh < s.height.kernel; ++kh) {
            const Range height = ValidOutputs(s.height, kh);
            const T* w_row = w_kernel + (kd * s.height.kernel + kh) * s.width.kernel * weights;
            for (int64_t od = depth.begin; od < depth.end; ++od) {
              for (int64_t oh = height.begin; oh < height.end; ++oh) {
                const int64_t id = InputIndex(s.depth, od, kd);
                const int64_t ih = InputIndex(s.height, oh, kh);
                const T* x_row = x_plane + (id * s.height.input + ih) * in_row;
                Sum* y_row = y_plane + (od * s.height.output + oh) * out_row;
                for (int64_t kw = 0; kw < s.width.kernel; ++kw) {
                  AddRow(s, kw, x_row, w_row, y_row);
                }
              }
            }
          }
        }
      }
    }
  }
}

template <typename T, typename Sum>
void DepthwiseConvolution(const ConvolutionShape& s, const T* x, const T* w, const Sum* bias,
                          Sum* y) {
  const int64_t block = s.in_block;
  const int64_t blocks = s.in_channels / block;
  const int64_t in_row = s.width.input * block;
  const int64_t out_row = s.width.output * block;
  const int64_t in_plane = s.depth.input * s.height.input * in_row;
  const int64_t out_plane = s.depth.output * s.height.output * out_row;
  const int64_t kernel_size = s.depth.kernel * s.height.kernel * s.width.kernel;
  for (int64_t n = 0; n < s.batch; ++n) {
    FillBias(blocks, out_plane / block, block, bias, y + n * blocks * out_plane);
    for (int64_t b = 0; b < blocks; ++b) {
      const T* x_plane = x + (n * blocks + b) * in_plane;
      Sum* y_plane = y + (n * blocks + b) * out_plane;
      const T* filter = w + b * kernel_size * block;
      for (int64_t kd = 0; kd < s.depth.kernel; ++kd) {
        const Range depth = ValidOutputs(s.depth, kd);
        for (int64_t kh = 0; kh < s.height.kernel; ++kh) {
          const Range height = ValidOutputs(s.height, kh);
          for (int64_t kw = 0; kw < s.width.kernel; ++kw, filter += block) {
            const Range width = ValidOutputs(s.width, kw);
            for (int64_t od = depth.begin; od < depth.end; ++od) {
              for (int64_t oh = height.begin; oh < height.end; ++oh) {
                const T* x_row = x_plane + (InputIndex(s.depth, od, kd) * s.height.input +
                                            InputIndex(s.height, oh, kh)) *
                                               in_row;
                Sum* y_row = y_plane + (od * s.height.output + oh) * out_row;
                for (int64_t ow = width.begin; ow < width.end; ++ow) {
                  const T* in = x_row + InputIndex(s.width, ow, kw) * block;
                  for (int64_t c = 0; c < block; ++c) {
                    y_row[ow * block + c] = AddProduct(y_row[ow * block + c], in[c], filter[c]);
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

template void Convolution(const ConvolutionShape&, const float*, const float*, const float*,
                          float*);
template void Convolution(const ConvolutionShape&, const double*, const double*, const double*,
                          double*);
template void DepthwiseConvolution(const ConvolutionShape&, const float*, const float*,
                                   const float*, float*);
template void DepthwiseConvolution(const ConvolutionShape&, const double*, const double*,
                                   const double*, double*);
template void Convolution(const ConvolutionShape&, const int16_t*, const int16_t*, const int32_t*,
                          int32_t*);
template void DepthwiseConvolution(const ConvolutionShape&, const int16_t*, const int16_t*,
                                   const int32_t*, int32_t*);

namespace {

constexpr int kZero = 4;  // The parameter.

ConvolutionShape ShapeOf(const Call& call) {
  ConvolutionShape shape;
  static_cast<SpatialWindow&>(shape) = WindowAt(call, kZero + 1, call.input(0), call.output(0));
  shape.batch = call.input(0).extent(0);
  shape.group = call.Integer(0);
  shape.in_block = call.Integer(1);
  shape.out_block = call.Integer(2);
  shape.terms = call.Integer(3);
  shape.in_channels = call.input(0).extent(1) * shape.in_block;
  shape.out_channels = call.output(0).extent(1) * shape.out_block;
  return shape;
}

template <typename T, typename Sum, typename Function>
int32_t Run(const Call& call, Function function) {
  const Operand bias = call.input(2);
  function(call.input(0).data<const T>(), call.input(1).data<const T>(),
           bias.present() ? bias.data<const Sum>() : nullptr, call.output(0).data<Sum>());
  return 0;
}

// Narrow floats by way of copies in f64.
template <typename Function>
int32_t RunWidened(const Call& call, Function function) {
  const auto elements = [](const Operand& x) { return x.present() ? x.elements() : 0; };
  const auto widen = [&](const Operand& from, const Scratch<double>& to) {
    for (int64_t i = 0; i < elements(from); ++i) to[i] = NumberAt(from, i);
  };
  const Operand y = call.output(0);
  const Scratch<double> x(call, call.input(0).elements());
  const Scratch<double> w(call, call.input(1).elements());
  const Scratch<double> bias(call, elements(call.input(2)));
  const Scratch<double> wide(call, y.elements());
  if (!x || !w || !bias || !wide) return call.Fail(kOutOfScratch);
  widen(call.input(0), x);
  widen(call.input(1), w);
  widen(call.input(2), bias);
  function(x.get(), w.get(), call.input(2).present() ? bias.get() : nullptr, wide.get());
  for (int64_t i = 0; i < y.elements(); ++i) SetNumber(y, i, wide[i]);
  return 0;
}

// Bytes less what surrounds them, in i16, around which are zeros: to the sums that is missing as many times the weights.
template <typename Function>
int32_t RunBytes(const Call& call, Function function) {
  const int64_t zero = call.Integer(kZero);
  const Operand y = call.output(0);
  const Operand weights = call.input(1);
  const int64_t channels = y.extent(1) * call.Integer(2);
  const Scratch<int16_t> x(call, call.input(0).elements());
  const Scratch<int16_t> w(call, weights.elements());
  const Scratch<int32_t> bias(call, channels);
  if (!x || !w || !bias) return call.Fail(kOutOfScratch);
  for (int64_t i = 0; i < call.input(0).elements(); ++i) {
    x[i] = static_cast<int16_t>(call.input(0).data<const uint8_t>()[i] - zero);
  }
  const Operand given = call.input(2);
  for (int64_t i = 0; i < channels; ++i) {
    bias[i] = given.present() ? given.data<const int32_t>()[i] : 0;
  }
  const ConvolutionShape shape = ShapeOf(call);
  const int64_t each_block = weights.elements() / (channels / shape.out_block);
  for (int64_t i = 0; i < weights.elements(); ++i) {
    w[i] = weights.data<const int8_t>()[i];
    const int64_t channel = i / each_block * shape.out_block + i / shape.terms % shape.out_block;
    bias[channel] = AddProduct(bias[channel], static_cast<int16_t>(zero), w[i]);
  }
  function(static_cast<const int16_t*>(x.get()), static_cast<const int16_t*>(w.get()),
           static_cast<const int32_t*>(bias.get()), y.data<int32_t>());
  return 0;
}

template <typename Function>
int32_t RunAny(const Call& call, Function function) {
  if (call.input(0).type() == Type::kInt16) return Run<int16_t, int32_t>(call, function);
  if (call.input(0).type() == Type::kUint8) return RunBytes(call, function);
  return DispatchFloat(call, call.input(0).type(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) >= sizeof(float)) {
      return Run<T, T>(call, function);
    } else {
      return RunWidened(call, function);
    }
  });
}

}  // namespace
}  // namespace slipway::kernels

using namespace slipway::kernels;  // NOLINT

int32_t slipway_Conv(void** arguments) {
  const Call call(arguments);
  const ConvolutionShape shape = ShapeOf(call);
  return RunAny(call, [&](const auto* x, const auto* w, const auto* bias, auto* y) {
    Convolution(shape, x, w, bias, y);
  });
}

int32_t slipway_DepthwiseConv(void** arguments) {
  const Call call(arguments);
  const ConvolutionShape shape = ShapeOf(call);
  return RunAny(call, [&](const auto* x, const auto* w, const auto* bias, auto* y) {
    DepthwiseConvolution(shape, x, w, bias, y);
  });
}
