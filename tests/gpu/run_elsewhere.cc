#include "tests/gpu/run_elsewhere.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"
#include "core/tensor/npy.h"
#include "tests/common/command.h"

namespace slipway::testing {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;

// Of a GPU that runs the program: a late one, or the only one.
int CapabilityFor(const Target& target) {
  constexpr int kLate = 120;
  for (const DeviceTarget& device : target.devices) {
    if (device.is_specific) return device.level;
  }
  return kLate;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunElsewhere(const Artifact& artifact,
                                                 const std::vector<Tensor>& inputs, size_t outputs,
                                                 const std::string& folder) {
  const std::string program = JoinPath(folder, "program.slip");
  SLIPWAY_RETURN_IF_ERROR(WriteSlip(artifact, program));
  for (size_t i = 0; i < inputs.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(inputs[i]));
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, absl::StrCat("input_", i, ".npy")),
                                                bytes, /*durable=*/false));
  }
  CommandOptions command;
  command.argv = {RunfilePath("tests/gpu/run_program"), program, folder};
  command.environment = {{"LD_LIBRARY_PATH", RunfilePath("core/runtime/drivers/cuda/testing")},
                         {"SLIPWAY_FAKE_CUDA",
                          absl::StrCat("capability=", CapabilityFor(artifact.manifest().target()))},
                         {"SLIPWAY_FAKE_CUDA_TRACE", JoinPath(folder, "trace")}};
  const CommandResult run = RunCommand(command);
  if (!run.status.ok()) return absl::InternalError(run.ToString());
  std::vector<Tensor> read;
  for (size_t i = 0; i < outputs; ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const std::string bytes,
        ReadFile(JoinPath(folder, absl::StrCat("output_", i, ".npy")), kMaxBytes));
    read.emplace_back();
    SLIPWAY_ASSIGN_OR_RETURN(read.back(), ParseNpy(bytes));
  }
  return read;
}

}  // namespace slipway::testing
