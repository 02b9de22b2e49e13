// Whatever ImportOnnx accepts verifies.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/graph/verifier.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const slipway::OperatorRegistry& registry =
      *new slipway::OperatorRegistry(slipway::StandardOperators());
  slipway::OnnxFiles files;
  files.main = slipway::Blob::Own(std::string(reinterpret_cast<const char*>(data), size));
  files.external["w"] = slipway::Blob::Own("0123456789abcdef");
  const auto graph = slipway::ImportOnnx(files, registry, {.dims = {{"N", {2, 2}}}});
  if (!graph.ok()) return 0;
  const absl::Status verified = slipway::Verify(*graph, registry);
  SLIPWAY_CHECK(verified.ok(), verified.message());
  return 0;
}
