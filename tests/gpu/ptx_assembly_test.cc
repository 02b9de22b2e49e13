// NVIDIA's own assembler takes what is written for its devices, where there is one: below $CUDA_HOME, or in $PATH.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/graphs.h"
#include "tests/gpu/product_graphs.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

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

class PtxAssemblyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    assembler_ = FindAssembler();
    if (assembler_.empty()) GTEST_SKIP() << "no ptxas below $CUDA_HOME or in $PATH";
    ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create());
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("ptx"));
  }

  // What the assembler says of it.
  std::string Assemble(const CompiledGraph& compiled, const std::string& capability) {
    const std::string file = JoinPath(folder_.path(), "kernels.ptx");
    EXPECT_OK(WriteFileAtomically(file, DeviceTextOf(compiled.artifact), /*durable=*/false));
    CommandOptions command;
    command.argv = {assembler_,
                    "-v",
                    absl::StrCat("-arch=sm_", capability),
                    "-o",
                    JoinPath(folder_.path(), "kernels.cubin"),
                    file};
    const CommandResult run = RunCommand(command);
    EXPECT_TRUE(run.status.ok()) << run.ToString();
    return run.ToString();
  }

  // Of the one kernel of a graph, made with this tile.
  void ExpectNoSpills(const char* text, const TensorTile& tile, const std::string& capability) {
    const std::string target = absl::StrCat("x86-64-linux,cuda-sm", capability);
    ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen,
                         compiler_->Compile(text, target, Precision::kBfloat16));
    const std::string name = chosen.schedules[0].substr(0, chosen.schedules[0].find(' '));
    ASSERT_OK_AND_ASSIGN(
        const CompiledGraph compiled,
        compiler_->Compile(
            text, target, Precision::kBfloat16,
            absl::StrCat(name, " product rows=", tile.rows, " columns=", tile.columns,
                         " high=", tile.warps_of_rows, " wide=", tile.warps_of_columns, "\n")));
    const std::string said = Assemble(compiled, capability);
    EXPECT_THAT(said, HasSubstr("0 bytes spill stores"));
  }

  std::string assembler_;
  std::unique_ptr<GraphCompiler> compiler_;
  TemporaryFolder folder_;
};

TEST_F(PtxAssemblyTest, NvidiasAssemblerTakesEveryKernel) {
  for (const char* capability : {"80", "90"}) {
    for (const SmallGraph& graph : SmallGraphs()) {
      SCOPED_TRACE(absl::StrCat(graph.name, " for sm", capability));
      ASSERT_OK_AND_ASSIGN(
          const CompiledGraph compiled,
          compiler_->Compile(graph.text, absl::StrCat("x86-64-linux,cuda-sm", capability)));
      Assemble(compiled, capability);
    }
  }
}

TEST_F(PtxAssemblyTest, ProductsOnTensorCoresStayInRegisters) {
  for (const char* capability : {"80", "90"}) {
    for (const ProductGraph& graph : ProductGraphs()) {
      SCOPED_TRACE(absl::StrCat(graph.name, " for sm", capability));
      ASSERT_OK_AND_ASSIGN(
          const CompiledGraph compiled,
          compiler_->Compile(graph.text, absl::StrCat("x86-64-linux,cuda-sm", capability),
                             Precision::kFloat16));
      EXPECT_THAT(Assemble(compiled, capability), HasSubstr("0 bytes spill stores"));
    }
    for (const TensorTile& tile : TensorTiles()) {
      SCOPED_TRACE(absl::StrCat(tile.rows, " x ", tile.columns, " for sm", capability));
      ExpectNoSpills(R"(graph "g" (%a: f32[512, 512], %b: f32[512, 512], %c: f32[512]) -> (%y) {
  %p = MatMul(%a, %b)
  %s = Add(%p, %c)
  %y = Gelu(%s)
})",
                     tile, capability);
      ExpectNoSpills(
          R"(graph "g" (%x: f32[2, 256, 28, 28], %w: f32[256, 256, 3, 3], %b: f32[256], %r: f32[2, 256, 28, 28]) -> (%y) {
  %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
  %s = Add(%c, %r)
  %y = Relu(%s)
})",
          tile, capability);
    }
  }
}

}  // namespace
}  // namespace slipway::testing
