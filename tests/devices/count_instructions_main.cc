// How many instructions one run of a model executes on emulated boards:
//   bazel run //tests/devices:count_instructions -- MODEL.onnx [TARGET...]
// By default for arm-64-linux, arm-32-linux-neon and riscv-64-linux. These are counts and no times: what an instruction costs, caches and
// memory are not in them.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/blob.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "tests/common/temp_tree.h"
#include "tests/devices/emulated_instructions.h"

namespace slipway::testing {
namespace {

absl::Status Run(const std::string& path, const std::vector<std::string>& targets) {
  SLIPWAY_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path, int64_t{2} << 30));
  ModelSource model;
  model.files = {{"model.onnx", Blob::Own(std::move(bytes))}};
  const TempTree tree;
  for (size_t i = 0; i < targets.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const int64_t count,
        InstructionsPerRun(model, targets[i], absl::StrCat("model_", i), tree));
    std::printf("%-24s %15lld instructions a run\n", targets[i].c_str(),
                static_cast<long long>(count));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace slipway::testing

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: count_instructions MODEL.onnx [TARGET...]\n");
    return 2;
  }
  std::vector<std::string> targets(argv + 2, argv + argc);
  if (targets.empty()) targets = {"arm-64-linux", "arm-32-linux-neon", "riscv-64-linux"};
  const absl::Status status = slipway::testing::Run(argv[1], targets);
  if (!status.ok()) std::fprintf(stderr, "count_instructions: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
