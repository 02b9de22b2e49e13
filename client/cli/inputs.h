// Inputs named on the command line, read and checked against what a program takes; outputs, written.
#ifndef SLIPWAY_CLIENT_CLI_INPUTS_H_
#define SLIPWAY_CLIENT_CLI_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/artifact_summary.h"
#include "client/cli/render.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

// From "NAME=FILE.npy" or "NAME=FILE.pb" (ONNX's TensorProto). A wrong call when a name, type or shape is not
// the program's (what it takes is listed), a name is given twice, or a file cannot be read.
absl::StatusOr<std::vector<NamedTensor>> ReadInputs(const std::vector<std::string>& flags,
                                                    const ArtifactSummary& program);

// Writes outputs as .npy files into a folder, which is made if needed; an empty one: writes nothing.
absl::StatusOr<std::vector<WrittenOutput>> WriteOutputs(std::vector<NamedTensor> outputs,
                                                        const std::string& folder);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_INPUTS_H_
