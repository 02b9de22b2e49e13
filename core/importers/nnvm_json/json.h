// JSON (RFC 8259) as NNVM's graphs use it, read without trust. Private to this folder.
#ifndef SLIPWAY_CORE_IMPORTERS_NNVM_JSON_JSON_H_
#define SLIPWAY_CORE_IMPORTERS_NNVM_JSON_JSON_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

inline constexpr int kMaxJsonNesting = 64;
inline constexpr int64_t kMaxJsonValues = 8'000'000;  // Of one text.

// A value type.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  // In the text's order.

  Json() = default;                                        // null
  Json(bool value) : content_(value) {}                    // NOLINT: values are JSON.
  Json(double value) : content_(value) {}                  // NOLINT
  Json(std::string value) : content_(std::move(value)) {}  // NOLINT
  Json(Array value) : content_(std::move(value)) {}        // NOLINT
  Json(Object value) : content_(std::move(value)) {}       // NOLINT

  // Null where it is of another kind.
  const double* number() const { return std::get_if<double>(&content_); }
  const std::string* text() const { return std::get_if<std::string>(&content_); }
  const Array* array() const { return std::get_if<Array>(&content_); }
  const Object* object() const { return std::get_if<Object>(&content_); }
  // The first member of this name; null where there is none or this is no object.
  const Json* Find(absl::string_view name) const;

 private:
  std::variant<std::monostate, bool, double, std::string, Array, Object> content_;
};

// INVALID_ARGUMENT says what was expected at which byte; RESOURCE_EXHAUSTED names the limit.
absl::StatusOr<Json> ParseJson(absl::string_view text);

}  // namespace slipway

#endif  // SLIPWAY_CORE_IMPORTERS_NNVM_JSON_JSON_H_
