// Whatever ParseNpy accepts, FormatNpy writes as a file that reads as the same tensor.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/tensor/npy.h"
#include "core/tensor/tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<slipway::Tensor> tensor = slipway::ParseNpy(bytes);
  if (!tensor.ok()) return 0;
  SLIPWAY_CHECK(static_cast<size_t>(tensor->byte_size()) <= size, "elements from nowhere");
  const absl::StatusOr<std::string> file = slipway::FormatNpy(*tensor);
  SLIPWAY_CHECK(file.ok(), file.status().message());
  const absl::StatusOr<slipway::Tensor> again = slipway::ParseNpy(*file);
  SLIPWAY_CHECK(again.ok(), again.status().message());
  SLIPWAY_CHECK(again->type() == tensor->type(), ToString(tensor->type()));
  SLIPWAY_CHECK(again->bytes() == tensor->bytes(), ToString(tensor->type()));
  return 0;
}
