// Strings as kernels read them: an operand of places and one of contents. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_STRING_OPERAND_H_
#define SLIPWAY_CORE_KERNELS_STRING_OPERAND_H_

#include <stdint.h>

#include "core/kernels/call.h"

namespace slipway::kernels {

inline constexpr int64_t kMostStringBytes = 0x7fffffff;
inline constexpr char kBadPlace[] = "a string is outside of its contents";
inline constexpr char kTooManyBytes[] = "the strings have more than 2^31 - 1 bytes together";

inline int64_t Place(int64_t offset, int64_t length) { return offset << 32 | length; }

struct String {
  const char* data;
  int64_t size;
};

inline int Compare(const String& a, const String& b) {
  const int64_t common = a.size < b.size ? a.size : b.size;
  for (int64_t i = 0; i < common; ++i) {
    const auto left = static_cast<unsigned char>(a.data[i]);
    const auto right = static_cast<unsigned char>(b.data[i]);
    if (left != right) return left < right ? -1 : 1;
  }
  return a.size < b.size ? -1 : a.size > b.size ? 1 : 0;
}

inline bool Same(const String& a, const String& b) {
  return a.size == b.size && Compare(a, b) == 0;
}

// A tensor of strings.
class StringOperand {
 public:
  StringOperand(const Operand& places, const Operand& contents)
      : places_(places), contents_(contents) {}

  const Operand& places() const { return places_; }
  int64_t elements() const { return places_.elements(); }
  int64_t place(int64_t i) const { return places_.data<const int64_t>()[i]; }
  int64_t offset(int64_t i) const { return place(i) >> 32; }
  // Whether each string lies within the contents. Ask it before anything else.
  bool IsGood() const {
    const int64_t size = contents_.elements();
    for (int64_t i = 0; i < elements(); ++i) {
      const int64_t length = place(i) & 0xffffffff;
      if (offset(i) < 0 || offset(i) > size || length > size - offset(i)) return false;
    }
    return true;
  }
  String operator[](int64_t i) const {
    return {contents_.data<const char>() + offset(i), place(i) & 0xffffffff};
  }

 private:
  Operand places_;
  Operand contents_;
};

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_STRING_OPERAND_H_
