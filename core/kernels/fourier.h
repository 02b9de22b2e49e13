// Fourier transforms of any length. Freestanding: see call.h.
//
// Lengths that are powers of 2 by J. W. Cooley and J. W. Tukey, "An algorithm for the machine calculation of complex
// Fourier series", 1965; short ones by the definition; others by L. Bluestein, "A linear filtering approach to the
// computation of discrete Fourier transform", 1970, as a convolution of a length that is a power of 2.
#ifndef SLIPWAY_CORE_KERNELS_FOURIER_H_
#define SLIPWAY_CORE_KERNELS_FOURIER_H_

#include <stdint.h>

#include "core/kernels/call.h"

namespace slipway::kernels {

struct Complex {
  double real;
  double imaginary;
};

// The transforms of one length. Test it before use: there may be no memory.
class Fourier {
 public:
  // REQUIRES: length >= 1.
  Fourier(const Call& call, int64_t length);
  explicit operator bool() const { return roots_ && chirp_ && filter_ && work_; }

  // In place: z[k] becomes the sum of z[n] * exp(-2 pi i k n / length), or, inverse, the sum with the other sign
  // divided by the length.
  void Transform(Complex* z, bool inverse) const;

 private:
  void Forward(Complex* z) const;
  void ByDefinition(Complex* z) const;
  void ByChirp(Complex* z) const;
  // A transform of size_ elements, a power of 2.
  void Radix2(Complex* z) const;

  bool is_short() const { return size_ == 0; }
  bool is_power() const { return size_ == length_; }

  int64_t length_;
  int64_t size_;             // Of the transforms by Radix2; 0 where there are none.
  Scratch<Complex> roots_;   // exp(-2 pi i k / n), n = size_, or length_ where it is short.
  Scratch<Complex> chirp_;   // exp(-pi i n^2 / length)
  Scratch<Complex> filter_;  // The transform of the chirp that is convolved with, divided by size_.
  Scratch<Complex> work_;
};

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_FOURIER_H_
