// JSON as tests read it. Test code only.

#ifndef SLIPWAY_TESTS_COMMON_JSON_H_
#define SLIPWAY_TESTS_COMMON_JSON_H_

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace slipway::testing {

using Json = nlohmann::json;

// The value of a text that is JSON (RFC 8259) from its first to its last byte. INVALID_ARGUMENT says where it is
// not, and names a key that an object has twice: readers differ in which they take.
inline absl::StatusOr<Json> ParseJson(const std::string& text) {
  std::vector<std::set<std::string>> keys;
  std::string twice;
  const auto note = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  try {
    Json value = Json::parse(text, note);
    if (twice.empty()) return value;
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return absl::InvalidArgumentError(absl::StrCat("key \"", twice, "\" comes twice"));
}

// Matches a text that is JSON with the same value as the text `expected`; numbers by value, members in any order.
MATCHER_P(IsJson, expected, "is JSON equal to " + ::testing::PrintToString(expected)) {
  const absl::StatusOr<Json> wanted = ParseJson(expected);
  const absl::StatusOr<Json> actual = ParseJson(arg);
  if (!wanted.ok() || !actual.ok()) {
    *result_listener << (wanted.ok() ? "" : "where the expected text is no JSON: ")
                     << (wanted.ok() ? actual : wanted).status();
    return false;
  }
  // A patch (RFC 6902) from what was wanted.
  if (*actual != *wanted) *result_listener << "which differs: " << Json::diff(*wanted, *actual);
  return *actual == *wanted;
}

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_JSON_H_
