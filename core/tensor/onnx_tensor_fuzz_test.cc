// Whatever ParseOnnxTensor accepts, FormatOnnxTensor writes as bytes that read as the same tensor.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/tensor/onnx_tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto parsed = slipway::ParseOnnxTensor(bytes);
  if (!parsed.ok()) return 0;
  const slipway::Tensor& tensor = parsed->tensor;
  SLIPWAY_CHECK(static_cast<size_t>(tensor.byte_size()) <= 8 * size, "elements from nowhere");
  const auto again = slipway::ParseOnnxTensor(slipway::FormatOnnxTensor(tensor, parsed->name));
  SLIPWAY_CHECK(again.ok(), again.status().message());
  SLIPWAY_CHECK(again->name == parsed->name, "the name changed");
  SLIPWAY_CHECK(again->tensor.type() == tensor.type(), ToString(tensor.type()));
  SLIPWAY_CHECK(again->tensor.bytes() == tensor.bytes(), ToString(tensor.type()));
  return 0;
}
