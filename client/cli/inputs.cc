#include "client/cli/inputs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/exit_code.h"
#include "client/cli/tensor_files.h"
#include "client/cli/tensor_summary.h"
#include "core/artifact/input_match.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
absl::StatusOr<std::vector<NamedTensor>> ReadInputs(const std::vector<std::string>& flags,
                                                    const ArtifactSummary& program) {
  std::vector<NamedTensor> inputs;
  InputNames names(program.inputs);
  for (const std::string& flag : flags) {
    // Names of inputs may hold "=", files are rather called simply.
    const size_t equals = flag.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return WrongCall(absl::StrCat("flag \"--input\" takes NAME=FILE, not \"", flag, "\""));
    }
    const std::string name = flag.substr(0, equals);
    const std::string path = flag.substr(equals + 1);
    const absl::StatusOr<size_t> position = names.Take(name);
    if (!position.ok()) return WrongCall(position.status().message());
    absl::StatusOr<Tensor> tensor = ReadTensorFile(path);
    if (!tensor.ok()) {
      return WrongCall(
          absl::StrCat("input \"", name, "\", \"", path, "\": ", tensor.status().message()));
    }
    const absl::Status fits = CheckInput(program.inputs[*position], tensor->type());
    if (!fits.ok()) return WrongCall(absl::StrCat(fits.message(), " by \"", path, "\""));
    inputs.push_back({name, *std::move(tensor)});
  }
  return inputs;
}

absl::StatusOr<std::vector<WrittenOutput>> WriteOutputs(std::vector<NamedTensor> outputs,
                                                        const std::string& folder) {
  std::vector<WrittenOutput> written;
  if (!folder.empty()) SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
  for (NamedTensor& output : outputs) {
    std::string path;
    if (!folder.empty()) {
      path = JoinPath(folder, FileNameFor(output.name) + ".npy");
      SLIPWAY_RETURN_IF_ERROR_WITH(WriteTensorFile(output.tensor, path),
                                   absl::StrCat("output \"", output.name, "\""));
    }
    written.push_back({std::move(output), std::move(path)});
  }
  return written;
}

}  // namespace slipway::cli
