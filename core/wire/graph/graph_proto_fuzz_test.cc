// Whatever ParseGraphFile accepts is written as a file that is read as an equal graph.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/graph/graph.h"
#include "core/wire/graph/graph_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph =
      slipway::ParseGraphFile(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!graph.ok()) return 0;
  const auto written = slipway::FormatGraphFile(*graph);
  SLIPWAY_CHECK(written.ok(), written.status().message());
  const auto again = slipway::ParseGraphFile(*written);
  SLIPWAY_CHECK(again.ok(), again.status().message());
  SLIPWAY_CHECK(*again == *graph, "another graph");
  return 0;
}
