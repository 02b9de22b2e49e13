#include "core/artifact/signature.h"

#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace slipway {

PortType PortType::Of(const TensorType& type) {
  PortType port{type.dtype, {}};
  for (const int64_t extent : type.shape) {
    port.extents.push_back({extent, extent, absl::StrCat(extent)});
  }
  return port;
}

bool PortType::Admits(const TensorType& type) const {
  if (type.dtype != dtype || type.shape.size() != extents.size()) return false;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (type.shape[i] < extents[i].min || type.shape[i] > extents[i].max) return false;
  }
  return true;
}

TensorType PortType::Smallest() const {
  TensorType type{dtype, {}};
  for (const PortExtent& extent : extents) type.shape.push_back(extent.min);
  return type;
}

std::string ToString(const PortType& type) {
  return absl::StrCat(Name(type.dtype), "[",
                      absl::StrJoin(type.extents, ", ",
                                    [](std::string* out, const PortExtent& extent) {
                                      absl::StrAppend(out, absl::Utf8SafeCEscape(extent.text));
                                    }),
                      "]");
}

}  // namespace slipway
