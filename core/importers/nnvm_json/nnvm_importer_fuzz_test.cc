// Whatever ImportNnvm accepts verifies.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/graph/verifier.h"
#include "core/importers/nnvm_json/nnvm_importer.h"
#include "core/operators/register_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const slipway::OperatorRegistry& registry =
      *new slipway::OperatorRegistry(slipway::StandardOperators());
  slipway::NnvmFiles files;
  files.symbol = absl::string_view(reinterpret_cast<const char*>(data), size);
  const auto graph = slipway::ImportNnvm(files, registry, {.dims = {{"x[0]", 1}, {"x[1]", 2}}});
  if (!graph.ok()) return 0;
  const absl::Status verified = slipway::Verify(*graph, registry);
  SLIPWAY_CHECK(verified.ok(), verified.message());
  return 0;
}
