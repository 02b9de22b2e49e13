// NVIDIA's own assembler takes what is written for its devices, where there is one: below $CUDA_HOME, or in $PATH.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/graphs.h"

namespace slipway::testing {
namespace {

std::string FindAssembler() {
  std::vector<std::string> folders;
  if (const char* home = getenv("CUDA_HOME")) folders.push_back(JoinPath(home, "bin"));
  if (const char* path = getenv("PATH")) {
    for (const absl::string_view folder : absl::StrSplit(path, ':')) folders.emplace_back(folder);
  }
  for (const std::string& folder : folders) {
    const std::string file = JoinPath(folder, "ptxas");
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

TEST(PtxAssembly, NvidiasAssemblerTakesEveryKernel) {
  const std::string assembler = FindAssembler();
  if (assembler.empty()) GTEST_SKIP() << "no ptxas below $CUDA_HOME or in $PATH";
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<GraphCompiler> compiler, GraphCompiler::Create());
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("ptx"));
  const std::string file = JoinPath(folder.path(), "kernels.ptx");
  for (const char* capability : {"80", "90"}) {
    for (const SmallGraph& graph : SmallGraphs()) {
      SCOPED_TRACE(absl::StrCat(graph.name, " for sm", capability));
      ASSERT_OK_AND_ASSIGN(
          const CompiledGraph compiled,
          compiler->Compile(graph.text, absl::StrCat("x86-64-linux,cuda-sm", capability)));
      ASSERT_OK(WriteFileAtomically(file, DeviceTextOf(compiled.artifact), /*durable=*/false));
      CommandOptions command;
      command.argv = {assembler, absl::StrCat("-arch=sm_", capability), "-o",
                      JoinPath(folder.path(), "kernels.cubin"), file};
      const CommandResult run = RunCommand(command);
      EXPECT_TRUE(run.status.ok()) << run.ToString();
    }
  }
}

}  // namespace
}  // namespace slipway::testing
