// What a person says of a kernel's tensors: "x=f32[batch,64]".
#ifndef SLIPWAY_CLIENT_PACK_DESCRIBED_TENSOR_H_
#define SLIPWAY_CLIENT_PACK_DESCRIBED_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/dtype.h"

namespace slipway {

struct DescribedExtent {
  int64_t value = 0;   // Where there is no symbol.
  std::string symbol;  // A name for an extent that is known when the program runs.
};

struct DescribedTensor {
  std::string name;
  DataType dtype = DataType::kInvalid;
  std::vector<DescribedExtent> extents;  // Outermost first.
};

// NAME=TYPE[EXTENT,...]: a type is called as core/tensor/dtype.h does, an extent is a number or, beginning with a letter
// or "_", a symbol; a scalar is "f32[]". The name is all before the last "=". INVALID_ARGUMENT says what is wrong.
absl::StatusOr<DescribedTensor> ParseDescribedTensor(absl::string_view text);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_PACK_DESCRIBED_TENSOR_H_
