// Whatever ParseTarget accepts has a canonical text, which parses to the same target.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/target/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<slipway::Target> target = slipway::ParseTarget(text);
  if (!target.ok()) return 0;
  const absl::StatusOr<slipway::Target> again = slipway::ParseTarget(target->ToString());
  SLIPWAY_CHECK(again.ok(), again.status().message());
  SLIPWAY_CHECK(*again == *target, target->ToString());
  SLIPWAY_CHECK(again->ToString() == target->ToString(), target->ToString());
  SLIPWAY_CHECK(slipway::CheckRunsOn(*target, *again).ok(), target->ToString());
  return 0;
}
