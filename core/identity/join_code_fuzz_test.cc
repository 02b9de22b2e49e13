// Whatever JoinCode::Parse accepts has one spelling, and is what that spelling says.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/identity/join_code.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<slipway::JoinCode> code = slipway::JoinCode::Parse(text);
  if (!code.ok()) return 0;
  SLIPWAY_CHECK(code->secret.size() == 16 && code->authority.size() == 20,
                "a code has 36 characters");
  const absl::StatusOr<slipway::JoinCode> again = slipway::JoinCode::Parse(code->ToString());
  SLIPWAY_CHECK(again.ok() && again->secret == code->secret && again->authority == code->authority,
                "a code is read back");
  return 0;
}
