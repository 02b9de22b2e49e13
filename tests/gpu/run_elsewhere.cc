#include "tests/gpu/run_elsewhere.h"

#include <cstdio>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"
#include "core/tensor/npy.h"
#include "tests/common/command.h"

namespace slipway::testing {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;
constexpr int kRuns = 2;
constexpr char kTrace[] = "trace";

// Of a GPU that runs the program: a late one, or the only one.
int CapabilityFor(const Target& target) {
  constexpr int kLate = 120;
  for (const DeviceTarget& device : target.devices) {
    if (device.is_specific) return device.level;
  }
  return kLate;
}

// With files in `folder`; `settings` are those of the libcuda; `libraries` is what run_program is told of them, if anything.
absl::Status RunProgram(const Artifact& artifact, const std::vector<Tensor>& inputs,
                        const std::string& settings, const std::string& folder,
                        const std::string& libraries = "") {
  const std::string program = JoinPath(folder, "program.slip");
  SLIPWAY_RETURN_IF_ERROR(WriteSlip(artifact, program));
  for (size_t i = 0; i < inputs.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(inputs[i]));
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, absl::StrCat("input_", i, ".npy")),
                                                bytes, /*durable=*/false));
  }
  CommandOptions command;
  command.argv = {RunfilePath("tests/gpu/run_program"), program, folder};
  if (!libraries.empty()) command.argv.push_back(libraries);
  command.environment = {
      {"LD_LIBRARY_PATH", RunfilePath("core/runtime/drivers/cuda/testing")},
      {"SLIPWAY_FAKE_CUDA",
       absl::StrCat("capability=", CapabilityFor(artifact.manifest().target()), settings)},
      {"SLIPWAY_FAKE_CUDA_TRACE", JoinPath(folder, kTrace)}};
  const CommandResult run = RunCommand(command);
  return run.status.ok() ? absl::OkStatus() : absl::InternalError(run.ToString());
}

absl::StatusOr<std::vector<Tensor>> ReadOutputs(size_t outputs, const std::string& folder) {
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

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunElsewhere(const Artifact& artifact,
                                                 const std::vector<Tensor>& inputs, size_t outputs,
                                                 const std::string& folder) {
  SLIPWAY_RETURN_IF_ERROR(RunProgram(artifact, inputs, /*settings=*/"", folder));
  return ReadOutputs(outputs, folder);
}

absl::StatusOr<RanWithLibraries> RunWithLibraries(const Artifact& artifact,
                                                  const std::vector<Tensor>& inputs, size_t outputs,
                                                  const std::string& use,
                                                  const std::string& settings,
                                                  const std::string& folder) {
  std::remove(JoinPath(folder, kTrace).c_str());
  SLIPWAY_RETURN_IF_ERROR(RunProgram(artifact, inputs, absl::StrCat(" ", settings), folder, use));
  RanWithLibraries ran;
  SLIPWAY_ASSIGN_OR_RETURN(ran.outputs, ReadOutputs(outputs, folder));
  SLIPWAY_ASSIGN_OR_RETURN(ran.trace, ReadFile(JoinPath(folder, kTrace), kMaxBytes));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string steps,
                           ReadFile(JoinPath(folder, "libraries"), kMaxBytes));
  ran.steps = absl::StrSplit(steps, '\n', absl::SkipEmpty());
  return ran;
}

absl::StatusOr<std::map<std::string, int64_t>> CountElsewhere(const Artifact& artifact,
                                                              const std::vector<Tensor>& inputs,
                                                              const std::string& folder) {
  std::remove(JoinPath(folder, kTrace).c_str());
  SLIPWAY_RETURN_IF_ERROR(RunProgram(artifact, inputs, " counts=1", folder));
  SLIPWAY_ASSIGN_OR_RETURN(const std::string trace, ReadFile(JoinPath(folder, kTrace), kMaxBytes));
  std::map<std::string, int64_t> counts;
  for (const absl::string_view line : absl::StrSplit(trace, '\n')) {
    // "NAME did 24 add.s32, 8 mma.sync".
    const std::pair<absl::string_view, absl::string_view> said =
        absl::StrSplit(line, absl::MaxSplits(" did ", 1));
    for (const absl::string_view part : absl::StrSplit(said.second, ", ", absl::SkipEmpty())) {
      const std::pair<absl::string_view, std::string> counted = absl::StrSplit(part, ' ');
      int64_t count = 0;
      if (!absl::SimpleAtoi(counted.first, &count)) {
        return absl::InternalError(absl::StrCat("no count: ", line));
      }
      counts[counted.second] += count;
    }
  }
  for (auto& [name, count] : counts) count /= kRuns;
  return counts;
}

}  // namespace slipway::testing
