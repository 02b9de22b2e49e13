// NumPy's .npz files, as np.savez and np.savez_compressed write them: ZIP archives of .npy files. Read without trust.
#ifndef SLIPWAY_CORE_TENSOR_NPZ_H_
#define SLIPWAY_CORE_TENSOR_NPZ_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/tensor/tensor.h"

namespace slipway {

// The arrays in the order of the file, with the names that it gives them. Every error but those of the archive as a whole
// names the array. INVALID_ARGUMENT says what is wrong with the bytes; UNIMPLEMENTED for what NumPy does not write
// (encryption, other compressions, archives in parts or with a directory beyond 4 GiB) and for arrays that ParseNpy
// does not read; DATA_LOSS for contents that do not have their checksum; RESOURCE_EXHAUSTED when the arrays together
// have more than `max_bytes`.
absl::StatusOr<std::vector<NamedTensor>> ParseNpz(absl::string_view bytes, int64_t max_bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TENSOR_NPZ_H_
