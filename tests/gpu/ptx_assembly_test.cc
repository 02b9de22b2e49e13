// NVIDIA's own assembler takes what is written for its devices, where there is one (assembler.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/assembler.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/graphs.h"
#include "tests/gpu/product_graphs.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;

// Programs are for these, and whoever assembles them for a device may have one of any of them.
constexpr const char* kCapabilities[] = {"50", "60", "70", "75", "80", "86", "89", "90", "100", "120"};

class PtxAssemblyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("ptx"));
    assembler_ = Assembler::Find(folder_.path());
    if (!assembler_.has_value()) {
      GTEST_SKIP() << "no ptxas below $CUDA_HOME, in $PATH or in /usr/local/cuda";
    }
    ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create());
  }

  // What the assembler says of it.
  std::string Assemble(const CompiledGraph& compiled, const std::string& capability) {
    const absl::StatusOr<std::string> said =
        assembler_->Assemble(DeviceTextOf(compiled.artifact), capability);
    EXPECT_OK(said.status());
    return said.ok() ? *said : "";
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

  TemporaryFolder folder_;
  std::optional<Assembler> assembler_;
  std::unique_ptr<GraphCompiler> compiler_;
};

TEST_F(PtxAssemblyTest, NvidiasAssemblerTakesEveryKernel) {
  for (const char* capability : kCapabilities) {
    if (!assembler_->AssemblesFor(capability)) {
      std::cout << "this ptxas does not assemble for sm" << capability << "\n";
      continue;
    }
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
