#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/library/library_files.h"
#include "client/library/library_plan.h"
#include "client/library/module_files.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "tests/common/command.h"
#include "tests/conformance/engine.h"

namespace slipway {

absl::StatusOr<std::vector<Tensor>> RunInNode(const Artifact& artifact,
                                              absl::Span<const Tensor> inputs) {
  const absl::StatusOr<LibraryPlan> plan = PlanLibrary(artifact);
  // What is open, or found out while running.
  if (absl::IsFailedPrecondition(plan.status())) {
    return absl::UnimplementedError(plan.status().message());
  }
  SLIPWAY_RETURN_IF_ERROR(plan.status());
  LibraryOptions options;
  options.name = "model";
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<LibraryFile> files, RenderModule(*plan, options));
  SLIPWAY_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("module"));
  const std::string module = JoinPath(folder.path(), "module");
  const std::string in = JoinPath(folder.path(), "in");
  const std::string out = JoinPath(folder.path(), "out");
  SLIPWAY_RETURN_IF_ERROR(WriteLibrary(files, module));
  std::string bytes;
  for (const Tensor& input : inputs) absl::StrAppend(&bytes, input.bytes());
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(in, bytes, /*durable=*/false));
  const testing::CommandResult ran = testing::RunCommand(
      {.argv = {"/usr/bin/node", testing::RunfilePath("tests/library/run_module.mjs"), module, in,
                out}});
  if (!ran.status.ok()) return absl::InternalError(ran.ToString());
  SLIPWAY_ASSIGN_OR_RETURN(const std::string results, ReadFile(out, int64_t{1} << 30));
  absl::string_view rest = results;
  std::vector<Tensor> outputs;
  for (const LibraryPort& port : plan->outputs) {
    const auto size = static_cast<size_t>(port.type.byte_size());
    SLIPWAY_ASSIGN_OR_RETURN(Tensor output, Tensor::FromBytes(port.type, rest.substr(0, size)));
    rest.remove_prefix(size);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace slipway
