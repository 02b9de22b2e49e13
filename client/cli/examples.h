// Examples: inputs of calls as users have them, in files, a call a file.
#ifndef SLIPWAY_CLIENT_CLI_EXAMPLES_H_
#define SLIPWAY_CLIENT_CLI_EXAMPLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/artifact/signature.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

// The files that `paths` name: .npz, .npy or .pb files, or folders of them, whose other files are left alone; of a folder in the
// order of their names. A wrong call when a path is not there or there is none at all.
absl::StatusOr<std::vector<std::string>> ListExamples(const std::vector<std::string>& paths);

// In the order of `inputs`: the arrays of a .npz file that bear their names, or of a program with one input the tensor of a .npy
// or .pb file. A wrong call, which names the file, when one is missing, unknown, or of another type, or holds a number that is not
// finite.
absl::StatusOr<std::vector<Tensor>> ReadExample(const std::string& path,
                                                absl::Span<const NamedType> inputs);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_EXAMPLES_H_
