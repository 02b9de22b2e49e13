#include "core/kernels/letter_case.h"

namespace slipway::kernels {
namespace {

// Lower case letters [first, last] and how far below the upper case ones lie; 1 where the two alternate, upper case first,
// and `first` is a lower case one.
struct Letters {
  uint32_t first;
  uint32_t last;
  uint32_t distance;
};
constexpr Letters kLetters[] = {
    {'a', 'z', 32},     {0xe0, 0xf6, 32},    {0xf8, 0xfe, 32},    {0x101, 0x12f, 1},
    {0x133, 0x137, 1},  {0x13a, 0x148, 1},   {0x14b, 0x177, 1},   {0x17a, 0x17e, 1},
    {0x3ad, 0x3af, 37}, {0x3b1, 0x3c1, 32},  {0x3c3, 0x3cb, 32},  {0x430, 0x44f, 32},
    {0x450, 0x45f, 80}, {0x461, 0x481, 1},   {0x48b, 0x4bf, 1},   {0x4d1, 0x52f, 1},
    {0x561, 0x586, 48}, {0x1e01, 0x1e95, 1}, {0x1ea1, 0x1eff, 1}, {0xff41, 0xff5a, 32},
};

uint32_t InCase(uint32_t letter, bool upper) {
  for (const Letters& letters : kLetters) {
    const uint32_t shift = upper ? 0 : letters.distance;
    const uint32_t lower = letter + shift;
    if (lower < letters.first || lower > letters.last) continue;
    if (letters.distance == 1 && (lower - letters.first) % 2 != 0) continue;
    return upper ? letter - letters.distance : lower;
  }
  return letter;
}

// The bytes of the character that begins with `lead`; 1 for what begins none.
int LengthOf(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  return lead >= 0xe0 && lead <= 0xef ? 3 : 1;
}

}  // namespace

void ChangeCase(const char* from, int64_t size, bool upper, char* to) {
  for (int64_t i = 0; i < size;) {
    const auto lead = static_cast<unsigned char>(from[i]);
    int length = LengthOf(lead);
    if (length > size - i) length = 1;
    uint32_t letter = length == 1 ? lead : lead & (0xff >> (length + 1));
    bool is_good = length > 1 || lead < 0x80;
    for (int k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(from[i + k]);
      is_good &= byte >> 6 == 2;
      letter = letter << 6 | (byte & 0x3f);
    }
    if (!is_good) length = 1;
    const uint32_t changed = is_good ? InCase(letter, upper) : letter;
    if (changed == letter) {
      for (int k = 0; k < length; ++k) to[i + k] = from[i + k];
    } else if (length == 1) {
      to[i] = static_cast<char>(changed);
    } else {
      for (int k = 0; k < length; ++k) {
        const uint32_t bits = changed >> (6 * (length - 1 - k));
        to[i + k] =
            static_cast<char>(k > 0 ? 0x80 | (bits & 0x3f) : (0xf00 >> length & 0xf0) | bits);
      }
    }
    i += length;
  }
}

}  // namespace slipway::kernels
