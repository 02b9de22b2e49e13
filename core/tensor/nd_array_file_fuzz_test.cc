// Whatever ParseNdArrayFile accepts is written as a file with the same arrays, where it can be.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/tensor/nd_array_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto arrays =
      slipway::ParseNdArrayFile(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!arrays.ok()) return 0;
  const auto written = slipway::FormatNdArrayFile(*arrays);
  if (!written.ok()) return 0;
  const auto again = slipway::ParseNdArrayFile(*written);
  SLIPWAY_CHECK(again.ok(), again.status().message());
  SLIPWAY_CHECK(again->size() == arrays->size(), "another number of arrays");
  for (size_t i = 0; i < arrays->size(); ++i) {
    SLIPWAY_CHECK((*again)[i].name == (*arrays)[i].name &&
                      (*again)[i].tensor.type() == (*arrays)[i].tensor.type() &&
                      (*again)[i].tensor.bytes() == (*arrays)[i].tensor.bytes(),
                  "another array");
  }
  return 0;
}
