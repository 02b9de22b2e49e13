// Whatever ParseNpz accepts has names of its own, and no more elements than it was allowed.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/tensor/npz.h"
#include "core/tensor/tensor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kMaxBytes = 1 << 20;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::vector<slipway::NamedTensor>> arrays =
      slipway::ParseNpz(bytes, kMaxBytes);
  if (!arrays.ok()) return 0;
  std::set<std::string> names;
  int64_t total = 0;
  for (const slipway::NamedTensor& array : *arrays) {
    SLIPWAY_CHECK(names.insert(array.name).second, array.name);
    total += array.tensor.byte_size();
  }
  SLIPWAY_CHECK(total <= kMaxBytes, "elements from nowhere");
  return 0;
}
