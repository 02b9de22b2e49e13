// Normalizations over raw memory.
#ifndef SLIPWAY_CORE_KERNELS_NORMALIZATION_H_
#define SLIPWAY_CORE_KERNELS_NORMALIZATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace slipway::kernels {

// x [outer, channels, inner], parameters [channels].
template <typename T>
void BatchNormalization(int64_t outer, int64_t channels, int64_t inner, const T* x, const T* scale,
                        const T* bias, const T* mean, const T* variance, T epsilon, T* y) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < channels; ++c) {
      const T factor = scale[c] / std::sqrt(variance[c] + epsilon);
      for (int64_t i = 0; i < inner; ++i) *y++ = (*x++ - mean[c]) * factor + bias[c];
    }
  }
}

// Local response normalization across the channels of x [outer, channels, inner].
template <typename T>
void Lrn(int64_t outer, int64_t channels, int64_t inner, int64_t size, T alpha, T beta, T bias,
         const T* x, T* y) {
  for (int64_t o = 0; o < outer; ++o, x += channels * inner, y += channels * inner) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = std::max<int64_t>(c - (size - 1) / 2, 0);
      const int64_t last = std::min(c + size / 2, channels - 1);
      for (int64_t i = 0; i < inner; ++i) {
        T squares = 0;
        for (int64_t s = first; s <= last; ++s) squares += x[s * inner + i] * x[s * inner + i];
        y[c * inner + i] =
            x[c * inner + i] / std::pow(bias + alpha / static_cast<T>(size) * squares, beta);
      }
    }
  }
}

// Along the middle of x [outer, extent, inner].
template <typename T>
void Softmax(int64_t outer, int64_t extent, int64_t inner, const T* x, T* y) {
  for (int64_t o = 0; o < outer; ++o, x += extent * inner, y += extent * inner) {
    for (int64_t i = 0; i < inner && extent > 0; ++i) {
      T highest = x[i];
      for (int64_t e = 1; e < extent; ++e) highest = std::max(highest, x[e * inner + i]);
      T sum = 0;
      for (int64_t e = 0; e < extent; ++e) {
        sum += y[e * inner + i] = std::exp(x[e * inner + i] - highest);
      }
      for (int64_t e = 0; e < extent; ++e) y[e * inner + i] /= sum;
    }
  }
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_NORMALIZATION_H_
