// Programs some of whose products are made by a libcublasLt, and convolutions by a libcudnn, over the libcuda without a GPU, where a piece of work takes a microsecond, whatever it is: what is
// chosen, and that results are those of core/reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/tensor/comparison.h"
#include "core/tensor/precision.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/run_elsewhere.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kCuda[] = "x86-64-linux,cuda-sm80";
constexpr char kProduct[] = R"(graph "g" (%a: f32[9, 40], %b: f32[40, 11], %c: f32[11]) -> (%y) {
  %p = MatMul(%a, %b)
  %s = Add(%p, %c)
  %y = Relu(%s)
})";

constexpr char kConvolution[] =
    R"(graph "g" (%x: f32[1, 4, 3, 4], %w: f32[4, 2, 3, 3], %b: f32[4]) -> (%y) {
  %c = Conv(%x, %w, %b) {strides = [2, 1], pads = [1, 1, 1, 1], group = 2}
  %y = Relu(%c)
})";

class LibraryProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(compiler_, GraphCompiler::Create());
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("library_program"));
  }

  CompiledGraph Compile(const std::string& text, Precision precision = Precision::kTensorFloat32) {
    absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(text, kCuda, precision);
    EXPECT_OK(compiled.status());
    return *std::move(compiled);
  }

  // What was told of the steps, behind checking results.
  std::vector<std::string> Run(const CompiledGraph& compiled, const std::string& use,
                               const std::string& settings = "") {
    const std::vector<Tensor> inputs = RandomInputs(compiled.graph, 7);
    const absl::StatusOr<RanWithLibraries> ran = RunWithLibraries(
        compiled.artifact, inputs, compiled.graph.outputs.size(), use, settings, folder_.path());
    EXPECT_OK(ran.status());
    const absl::StatusOr<std::vector<Tensor>> exact =
        compiler_->tester().reference().Evaluate(compiled.graph, inputs);
    EXPECT_OK(exact.status());
    if (!ran.ok() || !exact.ok()) return {};
    for (size_t i = 0; i < exact->size(); ++i) {
      double largest = 0;
      for (const float value : (*exact)[i].values<float>()) {
        largest = std::max(largest, std::fabs(double{value}));
      }
      EXPECT_OK(CheckClose(ran->outputs[i], (*exact)[i], {0, largest / 128}));
    }
    trace_ = ran->trace;
    return ran->steps;
  }

  std::unique_ptr<GraphCompiler> compiler_;
  TemporaryFolder folder_;
  std::string trace_;
};

TEST_F(LibraryProgramTest, TheLibraryTakesStepsInAllPrecisions) {
  for (const Precision precision : {Precision::kFloat32, Precision::kTensorFloat32,
                                    Precision::kFloat16, Precision::kBfloat16}) {
    SCOPED_TRACE(Name(precision));
    const CompiledGraph compiled = Compile(kProduct, precision);
    EXPECT_THAT(Run(compiled, "always"), ElementsAre(StartsWith("cublasLt 12.4.5: MatMul")));
    EXPECT_THAT(trace_, HasSubstr("cublaslt_product"));
  }
}

TEST_F(LibraryProgramTest, OfEqualTimesTheProgramsOwnAreTaken) {
  const CompiledGraph compiled = Compile(kProduct);
  EXPECT_THAT(Run(compiled, "measured"), ElementsAre(StartsWith("own: MatMul")));
  // Of three calls, and none of the library's behind the measurement.
  const size_t last = trace_.rfind("cublaslt_product");
  ASSERT_NE(last, std::string::npos);
  EXPECT_EQ(trace_.find("graph", last), std::string::npos);
}

TEST_F(LibraryProgramTest, APartedProductsLaunchesAreLeftOutWhereTheLibraryIsFaster) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, compiler_->tester().Parse(R"(graph "g"
 (%a: f32[9, 256], %b: f32[256, 11]) -> (%y) {
  %n = Neg(%a)
  %p = MatMul(%n, %b)
  %y = Softmax(%p)
})"));
  ProductDivision division{TensorTiles()[0], 2};
  for (const TensorTile& tile : TensorTiles()) {
    if (!tile.is_of_warp_groups && tile.rows <= division.tile.rows) division.tile = tile;
  }
  ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                       compiler_->Compile(graph, kCuda, Precision::kFloat16, division));
  EXPECT_THAT(Run(compiled, "measured"),
              ElementsAre(AllOf(StartsWith("cublasLt 12.4.5: MatMul"), EndsWith(", 2 of 2"))));
  // Where it has launches that do nothing, as well, the program's own are faster.
  ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("library_program"));
  EXPECT_THAT(Run(compiled, "measured", "idle=3,3"), ElementsAre(StartsWith("own: ")));
  // The second way is the faster one.
  ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("library_program"));
  EXPECT_THAT(Run(compiled, "measured", "idle=3,0"), ElementsAre(StartsWith("cublasLt")));
}

TEST_F(LibraryProgramTest, WhatWasMeasuredIsKept) {
  const CompiledGraph compiled = Compile(kProduct);
  EXPECT_THAT(Run(compiled, "always"), ElementsAre(StartsWith("cublasLt")));
  const auto count = [&] {
    size_t launches = 0;
    for (size_t at = trace_.find("cublaslt_product("); at != std::string::npos;
         at = trace_.find("cublaslt_product(", at + 1)) {
      ++launches;
    }
    return launches;
  };
  const size_t first = count();
  EXPECT_THAT(Run(compiled, "always"), ElementsAre(StartsWith("cublasLt")));
  EXPECT_LT(count(), first);
  EXPECT_LE(count(), 4u);  // Of the program alone.
  // Kept times decide, whatever would be measured now.
  EXPECT_THAT(Run(compiled, "measured", "idle=9,9"), ElementsAre(StartsWith("own")));
  // Another version of the library is measured anew.
  Run(compiled, "always", "cublaslt=12.6.0");
  EXPECT_GT(count(), 4u);
}

TEST_F(LibraryProgramTest, AWayWhoseResultIsWrongIsNotTaken) {
  const CompiledGraph compiled = Compile(kProduct);
  EXPECT_THAT(Run(compiled, "always", "wrong=0"), ElementsAre(StartsWith("cublasLt")));
  ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("library_program"));
  EXPECT_THAT(Run(compiled, "always", "wrong=0 ways=1"), ElementsAre(StartsWith("own")));
}

TEST_F(LibraryProgramTest, WhatFailsInTheLibraryIsMadeByTheProgram) {
  const CompiledGraph compiled = Compile(kProduct);
  for (const char* setting : {"cublasLtCreate=1", "cublasLtMatmulAlgoGetHeuristic=14", "ways=0",
                              "cublasLtMatmulDescCreate=3", "cublaslt=11.0.0"}) {
    EXPECT_THAT(Run(compiled, "always", setting), IsEmpty()) << setting;
  }
  EXPECT_THAT(Run(compiled, "always", "cublasLtMatmul=13"), ElementsAre(StartsWith("own")));
  // Each way once, and not again.
  ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("library_program"));
  EXPECT_THAT(Run(compiled, "always", "most=2"), ElementsAre(StartsWith("own")));
}

// A graph of several pieces, in which products of the library stand between launches.
TEST_F(LibraryProgramTest, ConvolutionsAndResidualsAreMadeByTheLibraryWithinAGraph) {
  const CompiledGraph compiled =
      Compile(R"(graph "g" (%x: f32[2, 16, 3, 4], %w: f32[18, 16, 1, 1], %b: f32[18],
  %v: f32[18, 18, 1, 1], %r: f32[2, 18, 3, 4]) -> (%y) {
  %n = Neg(%x)
  %c = Conv(%n, %w, %b)
  %t = Relu(%c)
  %d = Conv(%t, %v)
  %s = Add(%d, %r)
  %y = Relu(%s)
})");
  EXPECT_THAT(Run(compiled, "always"), AllOf(::testing::SizeIs(2), Each(StartsWith("cublasLt"))));
  EXPECT_THAT(trace_, AllOf(HasSubstr("captures: cublaslt_product"), HasSubstr("graph of")));
  // Of the first one the library has none.
  EXPECT_THAT(Run(compiled, "always", "row_bias=0"), ElementsAre(StartsWith("cublasLt")));
}

TEST_F(LibraryProgramTest, CudnnTakesConvolutionsInAllPrecisions) {
  const std::string windows = R"(graph "g" (%x: f32[1, 4, 3, 4], %w: f32[4, 4, 3, 3], %b: f32[4],
  %r: f32[1, 4, 3, 4]) -> (%y) {
  %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
  %s = Add(%c, %r)
  %y = Relu(%s)
})";
  for (const Precision precision : {Precision::kFloat32, Precision::kTensorFloat32,
                                    Precision::kFloat16, Precision::kBfloat16}) {
    SCOPED_TRACE(Name(precision));
    const CompiledGraph compiled = Compile(windows, precision);
    EXPECT_THAT(Run(compiled, "always"), ElementsAre(StartsWith("cudnn 9.8.0: Conv")));
    EXPECT_THAT(trace_, HasSubstr("cudnn_convolution"));
  }
  EXPECT_THAT(Run(Compile(kConvolution), "always"), ElementsAre(StartsWith("cudnn 9.8.0: Conv")));
}

// Weights that are constants lie in 16 bits, with channels inside.
TEST_F(LibraryProgramTest, CudnnTakesWeightsAsTheyAreLaidOut) {
  const CompiledGraph compiled = Compile(R"(graph "g" (%x: f32[1, 64, 2, 2]) -> (%y) {
  const %k: f32[] = {0.5}
  const %shape: i64[4] = {2, 64, 3, 3}
  %w = Expand(%k, %shape)
  %n = Neg(%x)
  %y = Conv(%n, %w) {pads = [1, 1, 1, 1]}
})",
                                         Precision::kFloat16);
  EXPECT_THAT(Run(compiled, "always"), ElementsAre(StartsWith("cudnn")));
  EXPECT_THAT(trace_, HasSubstr("captures: slipway_transpose_f16"));
}

TEST_F(LibraryProgramTest, AConvolutionIsMadeByWhoIsFaster) {
  const CompiledGraph compiled = Compile(kConvolution);
  // Of equal times the program's own; and what is kept needs no plan of the library's.
  EXPECT_THAT(Run(compiled, "measured"), ElementsAre(StartsWith("own: Conv")));
  EXPECT_THAT(trace_, HasSubstr("cudnn_convolution"));
  EXPECT_THAT(Run(compiled, "measured", "cudnnBackendExecute=5000"),
              ElementsAre(StartsWith("own: Conv")));
  EXPECT_THAT(trace_, Not(HasSubstr("cudnn_convolution")));
  // Another version is measured anew.
  EXPECT_THAT(Run(compiled, "always", "cudnn=90801"), ElementsAre(StartsWith("cudnn 9.8.1: Conv")));
}

TEST_F(LibraryProgramTest, WhatFailsInCudnnIsMadeByTheProgram) {
  const CompiledGraph compiled = Compile(kConvolution);
  for (const char* setting : {"cudnnCreate=1001", "cudnnBackendFinalize=4000", "ways=0",
                              "cudnnBackendFinalize=3000", "cudnn=80907"}) {
    EXPECT_THAT(Run(compiled, "always", setting), IsEmpty()) << setting;
  }
  EXPECT_THAT(Run(compiled, "always", "cudnnBackendExecute=5000"), ElementsAre(StartsWith("own")));
  // Some of its ways are not there, or wrong.
  ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("library_program"));
  EXPECT_THAT(Run(compiled, "always", "planless=0"), ElementsAre(StartsWith("cudnn")));
  ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("library_program"));
  EXPECT_THAT(Run(compiled, "always", "wrong=0 ways=1 fallback_ways=0"),
              ElementsAre(StartsWith("own")));
  // One that was measured once is not there any more.
  ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("library_program"));
  EXPECT_THAT(Run(compiled, "always"), ElementsAre(StartsWith("cudnn")));
  EXPECT_THAT(Run(compiled, "always", "planless=0"), ElementsAre(StartsWith("own")));
}

}  // namespace
}  // namespace slipway::testing
