// Natural numbers of many digits, for exact conversion between text and floats. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_BIG_NUMBER_H_
#define SLIPWAY_CORE_KERNELS_BIG_NUMBER_H_

#include <stdint.h>

namespace slipway::kernels {

// REQUIRES, of every operation: its result has less than kMostBits.
class BigNumber {
 public:
  static constexpr int kMostBits = 8192;

  explicit BigNumber(uint64_t value) {
    while (value != 0) {
      limbs_[size_++] = static_cast<uint32_t>(value);
      value >>= 32;
    }
  }

  bool IsZero() const { return size_ == 0; }
  int bits() const { return size_ == 0 ? 0 : 32 * size_ - __builtin_clz(limbs_[size_ - 1]); }

  // this = this * factor + added
  void MultiplyAdd(uint32_t factor, uint32_t added) {
    uint64_t carry = added;
    for (int i = 0; i < size_; ++i) {
      carry += uint64_t{limbs_[i]} * factor;
      limbs_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_[size_++] = static_cast<uint32_t>(carry);
  }
  void MultiplyByPowerOfTen(int exponent) {
    for (; exponent >= 9; exponent -= 9) MultiplyAdd(1000000000, 0);
    for (; exponent > 0; --exponent) MultiplyAdd(10, 0);
  }
  void ShiftLeft(int bits) {
    const int limbs = bits / 32;
    if (size_ == 0 || bits == 0) return;
    for (int i = size_ - 1; i >= 0; --i) limbs_[i + limbs] = limbs_[i];
    for (int i = 0; i < limbs; ++i) limbs_[i] = 0;
    size_ += limbs;
    if (bits % 32 != 0) MultiplyAdd(uint32_t{1} << bits % 32, 0);
  }
  void Add(const BigNumber& other) {
    uint64_t carry = 0;
    for (int i = 0; i < size_ || i < other.size_ || carry != 0; ++i) {
      carry += (i < size_ ? uint64_t{limbs_[i]} : 0) + (i < other.size_ ? other.limbs_[i] : 0);
      limbs_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
      if (i >= size_) size_ = i + 1;
    }
  }
  // REQUIRES: other is not greater.
  void Subtract(const BigNumber& other) {
    int64_t borrow = 0;
    for (int i = 0; i < size_; ++i) {
      borrow += int64_t{limbs_[i]} - (i < other.size_ ? int64_t{other.limbs_[i]} : 0);
      limbs_[i] = static_cast<uint32_t>(borrow);
      borrow >>= 32;
    }
    while (size_ > 0 && limbs_[size_ - 1] == 0) --size_;
  }
  friend int Compare(const BigNumber& a, const BigNumber& b) {
    if (a.size_ != b.size_) return a.size_ < b.size_ ? -1 : 1;
    for (int i = a.size_ - 1; i >= 0; --i) {
      if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
    }
    return 0;
  }

 private:
  int size_ = 0;  // The last limb is not 0.
  uint32_t limbs_[kMostBits / 32];
};

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_BIG_NUMBER_H_
