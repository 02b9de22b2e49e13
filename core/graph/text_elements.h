// How one tensor element or float is written in the text form. Private to the printer and parser.
#ifndef SLIPWAY_CORE_GRAPH_TEXT_ELEMENTS_H_
#define SLIPWAY_CORE_GRAPH_TEXT_ELEMENTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/dtype.h"

namespace slipway::text_internal {

// Whether elements of this type are written as numbers; the others' bytes are written in hex.
bool HasNumericText(DataType dtype);

// The element whose little-endian bytes these are. REQUIRES: HasNumericText(dtype).
std::string FormatElement(DataType dtype, absl::string_view bytes);

// The bytes of an element from its text. INVALID_ARGUMENT when it is no such number or out of range.
absl::StatusOr<std::string> ParseElement(DataType dtype, absl::string_view text);

// Shortest text that reads back to the same bits; always with ".", "e", "inf" or "nan".
std::string FormatFloat(float value);
absl::StatusOr<float> ParseFloat(absl::string_view text);

// INVALID_ARGUMENT when it is no decimal integer of 64 bits.
absl::StatusOr<int64_t> ParseInt(absl::string_view text);

// C-like: \" \\ \n \t \xHH; every other byte outside printable ASCII is \xHH.
std::string Quote(absl::string_view text);

}  // namespace slipway::text_internal

#endif  // SLIPWAY_CORE_GRAPH_TEXT_ELEMENTS_H_
