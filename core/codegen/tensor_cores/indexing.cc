#include "core/codegen/tensor_cores/indexing.h"

#include "absl/algorithm/container.h"

namespace slipway {

Indexing MergedIndexing(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides) {
  Indexing merged;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    if (!merged.extents.empty() && merged.strides.back() == strides[i] * extents[i]) {
      merged.extents.back() *= extents[i];
      merged.strides.back() = strides[i];
    } else {
      merged.extents.push_back(extents[i]);
      merged.strides.push_back(strides[i]);
    }
  }
  if (absl::c_all_of(merged.strides, [](int64_t stride) { return stride == 0; })) return {};
  return merged;
}

std::vector<int64_t> BroadcastStrides(const Shape& shape, size_t rank) {
  std::vector<int64_t> strides(rank);
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t extent = shape[shape.size() - 1 - i];
    strides[rank - 1 - i] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return strides;
}

}  // namespace slipway
