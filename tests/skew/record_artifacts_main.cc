// Records specimens of the artifacts that this version of Slipway makes, for later versions to read.
// Usage: record_artifacts FOLDER MODEL.graph...
//
// Makes FOLDER/MODEL/ for each: the text of the model, a .slip file a target, inputs, and what the
// reference evaluator makes of them. A specimen that is there already is an error.
#include <stdio.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/slip_file.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/compiler/compiler.h"
#include "core/graph/graph.h"
#include "core/passes/testing/pass_tester.h"
#include "core/target/target.h"
#include "core/tensor/npy.h"

namespace slipway::testing {
namespace {

// Of the lowest level, so that every machine of the architecture runs them.
constexpr const char* kTargets[] = {"x86-64-linux", "arm-64-linux"};
constexpr int64_t kMaxTextBytes = 1 << 20;

absl::Status WriteTensors(const std::string& folder, absl::string_view kind, const Graph& graph,
                          const std::vector<ValueId>& ids, const std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < ids.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(tensors[i]));
    const std::string name = absl::StrCat(kind, ".", graph.value(ids[i]).name, ".npy");
    SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, name), bytes, false));
  }
  return absl::OkStatus();
}

absl::Status Record(const std::string& parent, const std::string& path) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxTextBytes));
  const std::string folder = JoinPath(parent, std::filesystem::path(path).stem().string());
  if (std::filesystem::exists(folder)) {
    return absl::AlreadyExistsError(
        absl::StrCat("\"", folder, "\" is recorded, and what is recorded is never changed"));
  }
  const PassTester tester;
  SLIPWAY_ASSIGN_OR_RETURN(const Graph graph, tester.Parse(text));
  const std::vector<Tensor> inputs = RandomInputs(graph, 1);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                           tester.reference().Evaluate(graph, inputs));
  SLIPWAY_RETURN_IF_ERROR(MakeFolders(folder));
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, "model.graph"), text, false));
  SLIPWAY_RETURN_IF_ERROR(WriteTensors(folder, "input", graph, graph.inputs, inputs));
  SLIPWAY_RETURN_IF_ERROR(WriteTensors(folder, "output", graph, graph.outputs, outputs));
  const SystemClock clock;
  CompileEnvironment environment;
  environment.clock = &clock;
  CompilerOptions options;
  options.compile_key = Digest::Of(text).hex();
  for (const char* name : kTargets) {
    SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(name));
    SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel model,
                             CompileGraph(graph, target, options, environment));
    SLIPWAY_RETURN_IF_ERROR(
        WriteSlip(model.artifact, JoinPath(folder, absl::StrCat(name, ".slip"))));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway::testing

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: record_artifacts FOLDER MODEL.graph...\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    const absl::Status status = slipway::testing::Record(argv[1], argv[i]);
    if (!status.ok()) {
      fprintf(stderr, "%s: %s\n", argv[i], status.ToString().c_str());
      return 1;
    }
  }
  return 0;
}
