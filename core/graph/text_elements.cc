#include "core/graph/text_elements.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/tensor/small_float.h"

namespace slipway::text_internal {
namespace {

template <typename T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using Type = uint32_t;
};
template <>
struct BitsOf<double> {
  using Type = uint64_t;
};

template <typename T>
T Load(absl::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <typename T>
std::string Store(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

absl::Status BadNumber(absl::string_view text, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text.substr(0, 40), "\" is not ", wanted));
}

template <typename T>
std::string FormatFloating(T value) {
  using Bits = typename BitsOf<T>::Type;
  if (std::isnan(value)) {
    Bits bits;
    std::memcpy(&bits, &value, sizeof bits);
    const T usual = std::numeric_limits<T>::quiet_NaN();
    if (std::memcmp(&usual, &value, sizeof value) == 0) return "nan";
    return absl::StrCat("nan(", absl::Hex(bits), ")");
  }
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <typename T>
absl::StatusOr<T> ParseFloating(absl::string_view text) {
  using Bits = typename BitsOf<T>::Type;
  if (text == "inf") return std::numeric_limits<T>::infinity();
  if (text == "-inf") return -std::numeric_limits<T>::infinity();
  if (text == "nan") return std::numeric_limits<T>::quiet_NaN();
  const char* end = text.data() + text.size();
  if (text.size() > 5 && text.substr(0, 4) == "nan(" && text.back() == ')') {
    Bits bits = 0;
    const auto parsed = std::from_chars(text.data() + 4, end - 1, bits, 16);
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if (parsed.ec == std::errc() && parsed.ptr == end - 1 && std::isnan(value)) return value;
    return BadNumber(text, "a NaN");
  }
  T value = 0;
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(value)) {
    return BadNumber(text, sizeof(T) == 4 ? "a 32-bit float" : "a 64-bit float");
  }
  return value;
}

template <typename T>
absl::StatusOr<T> ParseInteger(absl::string_view text) {
  T value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return BadNumber(text, absl::StrCat("an integer of ", sizeof(T) * 8,
                                        std::is_signed_v<T> ? " bits" : " bits, unsigned"));
  }
  return value;
}

template <typename T>
std::string FormatTyped(absl::string_view bytes) {
  if constexpr (std::is_floating_point_v<T>) {
    return FormatFloating(Load<T>(bytes));
  } else {
    return absl::StrCat(
        static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(Load<T>(bytes)));
  }
}

template <typename T>
absl::StatusOr<std::string> ParseTyped(absl::string_view text) {
  if constexpr (std::is_floating_point_v<T>) {
    SLIPWAY_ASSIGN_OR_RETURN(const T value, ParseFloating<T>(text));
    return Store(value);
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(const T value, ParseInteger<T>(text));
    return Store(value);
  }
}

// Integers of fewer bits than the byte they take.
template <typename T>
absl::StatusOr<std::string> ParseNarrow(DataType dtype, absl::string_view text) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string byte, ParseTyped<T>(text));
  int64_t bad = 0;
  if (AreElements(dtype, byte, &bad)) return byte;
  return BadNumber(text, absl::StrCat("a number of type ", Name(dtype)));
}

absl::StatusOr<std::string> ParseBool(absl::string_view text) {
  if (text == "true") return std::string(1, '\1');
  if (text == "false") return std::string(1, '\0');
  return BadNumber(text, "true or false");
}

}  // namespace

bool HasNumericText(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kComplex64:
    case DataType::kComplex128:
    case DataType::kString:
    case DataType::kInvalid:
      return false;
    default:
      return !IsSmallFloat(dtype);
  }
}

std::string FormatElement(DataType dtype, absl::string_view bytes) {
  switch (dtype) {
    case DataType::kFloat32: {
      // In a list of floats "1" says as much as "1.0".
      std::string text = FormatTyped<float>(bytes);
      if (text.size() > 2 && text.substr(text.size() - 2) == ".0") text.resize(text.size() - 2);
      return text;
    }
    case DataType::kFloat64:
      return FormatTyped<double>(bytes);
    case DataType::kInt8:
    case DataType::kInt4:
    case DataType::kInt2:
      return FormatTyped<int8_t>(bytes);
    case DataType::kInt16:
      return FormatTyped<int16_t>(bytes);
    case DataType::kInt32:
      return FormatTyped<int32_t>(bytes);
    case DataType::kInt64:
      return FormatTyped<int64_t>(bytes);
    case DataType::kUint8:
    case DataType::kUint4:
    case DataType::kUint2:
      return FormatTyped<uint8_t>(bytes);
    case DataType::kUint16:
      return FormatTyped<uint16_t>(bytes);
    case DataType::kUint32:
      return FormatTyped<uint32_t>(bytes);
    case DataType::kUint64:
      return FormatTyped<uint64_t>(bytes);
    case DataType::kBool:
      return bytes[0] != 0 ? "true" : "false";
    default:
      return "";
  }
}

absl::StatusOr<std::string> ParseElement(DataType dtype, absl::string_view text) {
  switch (dtype) {
    case DataType::kFloat32:
      return ParseTyped<float>(text);
    case DataType::kFloat64:
      return ParseTyped<double>(text);
    case DataType::kInt8:
      return ParseTyped<int8_t>(text);
    case DataType::kInt16:
      return ParseTyped<int16_t>(text);
    case DataType::kInt32:
      return ParseTyped<int32_t>(text);
    case DataType::kInt64:
      return ParseTyped<int64_t>(text);
    case DataType::kUint8:
      return ParseTyped<uint8_t>(text);
    case DataType::kUint16:
      return ParseTyped<uint16_t>(text);
    case DataType::kUint32:
      return ParseTyped<uint32_t>(text);
    case DataType::kUint64:
      return ParseTyped<uint64_t>(text);
    case DataType::kInt4:
    case DataType::kInt2:
      return ParseNarrow<int8_t>(dtype, text);
    case DataType::kUint4:
    case DataType::kUint2:
      return ParseNarrow<uint8_t>(dtype, text);
    case DataType::kBool:
      return ParseBool(text);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("elements of type ", Name(dtype), " are written in hex"));
  }
}

std::string FormatFloat(float value) { return FormatFloating(value); }
absl::StatusOr<float> ParseFloat(absl::string_view text) { return ParseFloating<float>(text); }
absl::StatusOr<int64_t> ParseInt(absl::string_view text) { return ParseInteger<int64_t>(text); }

std::string Quote(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c < 0x20 || c > 0x7e) {
      absl::StrAppendFormat(&quoted, "\\x%02x", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace slipway::text_internal
