#include "core/kernels/fourier.h"

#include "core/kernels/math.h"

namespace slipway::kernels {
namespace {

constexpr int64_t kMostByDefinition = 32;

Complex operator+(Complex a, Complex b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
Complex operator-(Complex a, Complex b) { return {a.real - b.real, a.imaginary - b.imaginary}; }
Complex operator*(Complex a, Complex b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}
Complex Conjugate(Complex a) { return {a.real, -a.imaginary}; }

// exp(-2 pi i k / n)
Complex Root(int64_t k, int64_t n) {
  const double angle = -2 * kPi * static_cast<double>(k) / static_cast<double>(n);
  return {Cos(angle), Sin(angle)};
}

int64_t SizeFor(int64_t length) {
  if ((length & (length - 1)) == 0) return length;
  if (length <= kMostByDefinition) return 0;
  int64_t size = 1;
  while (size < 2 * length - 1) size *= 2;
  return size;
}

}  // namespace

Fourier::Fourier(const Call& call, int64_t length)
    : length_(length),
      size_(SizeFor(length)),
      roots_(call, is_short() ? length : size_),
      chirp_(call, is_short() || is_power() ? 0 : length),
      filter_(call, is_short() || is_power() ? 0 : size_),
      work_(call, is_short() ? length : size_) {
  if (!*this) return;
  const int64_t roots = is_short() ? length_ : size_;
  for (int64_t k = 0; k < roots; ++k) roots_[k] = Root(k, roots);
  if (is_short() || is_power()) return;
  for (int64_t n = 0; n < length_; ++n) {
    // Modulo 2 * length the angle stays small and exact. Extents are below 2^31, squares below 2^62.
    chirp_[n] = Root(n * n % (2 * length_), 2 * length_);
  }
  const double scale = 1 / static_cast<double>(size_);
  for (int64_t i = 0; i < size_; ++i) filter_[i] = {0, 0};
  for (int64_t n = 0; n < length_; ++n) {
    const Complex turned = {chirp_[n].real * scale, -chirp_[n].imaginary * scale};
    filter_[n] = turned;
    if (n > 0) filter_[size_ - n] = turned;
  }
  Radix2(filter_.get());
}

void Fourier::Transform(Complex* z, bool inverse) const {
  if (!inverse) return Forward(z);
  for (int64_t i = 0; i < length_; ++i) z[i] = Conjugate(z[i]);
  Forward(z);
  const double scale = static_cast<double>(length_);
  for (int64_t i = 0; i < length_; ++i) z[i] = {z[i].real / scale, -z[i].imaginary / scale};
}

void Fourier::Forward(Complex* z) const {
  if (is_short()) return ByDefinition(z);
  if (is_power()) return Radix2(z);
  ByChirp(z);
}

void Fourier::ByDefinition(Complex* z) const {
  for (int64_t k = 0; k < length_; ++k) {
    work_[k] = {0, 0};
    for (int64_t n = 0; n < length_; ++n) work_[k] = work_[k] + z[n] * roots_[k * n % length_];
  }
  for (int64_t k = 0; k < length_; ++k) z[k] = work_[k];
}

void Fourier::ByChirp(Complex* z) const {
  for (int64_t i = 0; i < size_; ++i) work_[i] = i < length_ ? z[i] * chirp_[i] : Complex{0, 0};
  Radix2(work_.get());
  // Multiplied, and back: the conjugate's transform is the inverse one, conjugated.
  for (int64_t i = 0; i < size_; ++i) work_[i] = Conjugate(work_[i] * filter_[i]);
  Radix2(work_.get());
  for (int64_t k = 0; k < length_; ++k) z[k] = Conjugate(work_[k]) * chirp_[k];
}

void Fourier::Radix2(Complex* z) const {
  for (int64_t i = 1, j = 0; i < size_; ++i) {
    int64_t bit = size_ / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) {
      const Complex taken = z[i];
      z[i] = z[j];
      z[j] = taken;
    }
  }
  for (int64_t half = 1; half < size_; half *= 2) {
    const int64_t step = size_ / (2 * half);
    for (int64_t first = 0; first < size_; first += 2 * half) {
      for (int64_t k = 0; k < half; ++k) {
        const Complex odd = z[first + k + half] * roots_[k * step];
        z[first + k + half] = z[first + k] - odd;
        z[first + k] = z[first + k] + odd;
      }
    }
  }
}

}  // namespace slipway::kernels
