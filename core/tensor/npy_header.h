// The header of an .npy file: a Python dictionary with three known keys. Internal to npy.cc.
#ifndef SLIPWAY_CORE_TENSOR_NPY_HEADER_H_
#define SLIPWAY_CORE_TENSOR_NPY_HEADER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/shape.h"

namespace slipway {

struct NpyHeader {
  std::string descriptor;  // "<f4"
  bool is_column_major = false;
  Shape shape;  // At most kMaxRank extents, none negative; otherwise unchecked.
};

// Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", keys in any order, each
// exactly once. INVALID_ARGUMENT says what was expected where; UNIMPLEMENTED for a structured type.
absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view text);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_NPY_HEADER_H_
