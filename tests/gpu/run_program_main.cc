// Runs a program twice (with libraries three times), on the devices that it is for: run_program PROGRAM.slip FOLDER [measured|always], which has input_0.npy and so on, and gets
// output_0.npy and so on; what vendors' compilers make is kept below it, and, with the last word, which says when vendors' libraries are used, so are times of
// products. "libraries" there has a line for each step that a library could make: whether it does, and the step.
#include <stdlib.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/artifact.h"
#include "core/artifact/program_steps.h"
#include "core/artifact/slip_file.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/runtime/load_program.h"
#include "core/runtime/program.h"
#include "core/runtime/vendor_library.h"
#include "core/tensor/npy.h"
#include "core/tensor/tensor.h"

namespace slipway {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;

absl::Status WriteLibraries(const Program& program, const std::string& file) {
  std::string lines;
  for (const StepInfo& step : program.steps()) {
    if (!step.library.has_value()) continue;
    absl::StrAppend(&lines, step.library->is_used ? step.library->name : "own", ": ", step.name,
                    "\n");
  }
  return WriteFileAtomically(file, lines, /*durable=*/false);
}

absl::Status Run(const std::string& path, const std::string& folder, const std::string& libraries) {
  setenv("POCL_CACHE_DIR", JoinPath(folder, "pocl").c_str(), 1);
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, ReadSlip(path));
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::unique_ptr<Program> program,
      LoadProgram(artifact, {.opencl_cache_folder = JoinPath(folder, "opencl"),
                             .libraries = FindLibraryUse(libraries).value_or(LibraryUse::kNever),
                             .library_times_file = JoinPath(folder, "library_times")}));
  SLIPWAY_RETURN_IF_ERROR(WriteLibraries(*program, JoinPath(folder, "libraries")));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < program->signature().inputs.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const std::string bytes,
        ReadFile(JoinPath(folder, absl::StrCat("input_", i, ".npy")), kMaxBytes));
    SLIPWAY_ASSIGN_OR_RETURN(Tensor input, ParseNpy(bytes));
    inputs.push_back(std::move(input));
  }
  // Nothing may hang on what memory held before; the second call may be captured, and the third replayed.
  std::vector<Tensor> outputs(program->signature().outputs.size());
  for (int run = 0; run < (libraries.empty() ? 2 : 3); ++run) {
    SLIPWAY_RETURN_IF_ERROR(context->Run(inputs, absl::MakeSpan(outputs)));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(outputs[i]));
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(
        JoinPath(folder, absl::StrCat("output_", i, ".npy")), bytes, /*durable=*/false));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const absl::Status status = slipway::Run(argv[1], argv[2], argc == 4 ? argv[3] : "");
  if (status.ok()) return 0;
  std::cerr << status << "\n";
  return 1;
}
