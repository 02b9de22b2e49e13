// Whatever ParseGraph accepts prints as text that parses to an equal graph.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const slipway::ParseOptions options{.max_splat_bytes = 1 << 16};
  const auto graph = slipway::ParseGraph(text, options);
  if (!graph.ok()) return 0;
  const std::string printed = slipway::Print(*graph);
  const auto again = slipway::ParseGraph(printed, options);
  SLIPWAY_CHECK(again.ok(), again.status().message());
  SLIPWAY_CHECK(slipway::Print(*again) == printed, printed);
  return 0;
}
