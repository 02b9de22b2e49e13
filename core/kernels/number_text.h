// Numbers as text, and back. Callable: see call.h. Strings are pairs, see strings.h.
//
// Floats become the shortest decimal number that reads back as the same float of their type, as Steele and White's (1990)
// algorithm finds it: plainly ("0.1", "5.0") from 1e-4 up to 1e16, otherwise as "1.5e-05"; "NaN", "INF", "-INF". What is read
// is rounded once, to the nearest, ties to even.
#ifndef SLIPWAY_CORE_KERNELS_NUMBER_TEXT_H_
#define SLIPWAY_CORE_KERNELS_NUMBER_TEXT_H_

#include <stdint.h>

#include "core/kernels/types.h"

extern "C" {
// Input: x of floats or integers. Outputs: places and contents.
int32_t slipway_StringOfNumber(void** arguments);
int32_t slipway_StringOfNumber_count(void** arguments);
// Inputs: places and contents. Output: floats, i64 or u64. Fails for a string that is none: decimal digits with
// sign, point and exponent, NaN and INF in any case; for integers digits with sign alone, within their bounds.
int32_t slipway_NumberOfString(void** arguments);
}

namespace slipway::kernels {

// The most bytes that FormatFloat and FormatInteger write.
inline constexpr int kMostNumberBytes = 32;

// Writes a number to `to`, a float of `type`. Returns its length.
int FormatFloat(double value, Type type, char* to);
int FormatInteger(bool is_negative, uint64_t magnitude, char* to);

// Reads all of `text` to `value`, rounded to a float of `type`. False where it is no such number.
bool ParseFloat(const char* text, int64_t size, Type type, double* value);
bool ParseInteger(const char* text, int64_t size, bool* is_negative, uint64_t* magnitude);

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_NUMBER_TEXT_H_
