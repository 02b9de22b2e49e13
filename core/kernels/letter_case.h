// Upper and lower case of letters in UTF-8. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_LETTER_CASE_H_
#define SLIPWAY_CORE_KERNELS_LETTER_CASE_H_

#include <stdint.h>

namespace slipway::kernels {

// Writes `size` bytes to `to`: those from `from` with letters in the other case where they have one. Knows Unicode's simple
// mappings of Latin, Greek, Cyrillic, Armenian and full-width letters whose two forms take as many bytes; leaves all other
// characters, and what is no UTF-8, as they are.
void ChangeCase(const char* from, int64_t size, bool upper, char* to);

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_LETTER_CASE_H_
