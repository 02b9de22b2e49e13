// NVIDIA's own assembler takes what is written for its devices, where there is one (assembler.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/codegen/depthwise/depthwise_tile.h"
#include "core/codegen/rows/row_division.h"
#include "core/codegen/tensor_cores/attention_tile.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/runtime/drivers/cuda/converting_code.h"
#include "core/runtime/drivers/cuda/peak_loops.h"
#include "tests/common/status_matchers.h"
#include "tests/gpu/assembler.h"
#include "tests/gpu/compiled_graph.h"
#include "tests/gpu/depthwise_graphs.h"
#include "tests/gpu/graphs.h"
#include "tests/gpu/product_graphs.h"
#include "tests/gpu/row_graphs.h"

namespace slipway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// One of each text that differs, and later devices, which get the text of an earlier one.
constexpr const char* kCapabilities[] = {"50", "61", "70", "75", "80", "90", "100"};

enum class MaskKind { kNone, kTensor, kCausal };
constexpr const char* kMaskNames[] = {"", " masked", " causal"};
const char* NameOf(MaskKind mask) { return kMaskNames[static_cast<int>(mask)]; }

// As networks of images begin.
constexpr char kFirstLayer[] =
    R"(graph "g" (%x: f32[8, 3, 224, 224], %w: f32[64, 3, 7, 7]) -> (%y) {
  %y = Conv(%x, %w) {pads = [3, 3, 3, 3], strides = [2, 2]}
})";

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
    if (!said.ok()) return "";
    // Where products of warp groups cannot overlap with what is around them it waits for each, and says so: "(C7510) Potential Performance Loss: ...".
    EXPECT_THAT(*said, Not(HasSubstr("(C7")));
    EXPECT_THAT(*said, Not(HasSubstr("warning")));
    return *said;
  }

  // What it says of the one kernel of a graph, made with this tile.
  std::string AssembleWith(const Graph& graph, const TensorTile& tile, Precision precision,
                           const std::string& capability, int parts = 1) {
    const absl::StatusOr<CompiledGraph> compiled = compiler_->Compile(
        graph, absl::StrCat("x86-64-linux,cuda-sm", capability), precision, {tile, parts});
    EXPECT_OK(compiled.status());
    return compiled.ok() ? Assemble(*compiled, capability) : "";
  }

  // Attention of so many heads of this size.
  Graph Attention(int size, MaskKind mask) const {
    return *compiler_->tester().Parse(
        absl::StrCat("graph \"g\" (%q: f32[8, 12, 512, ", size, "], %k: f32[8, 12, 512, ", size,
                     "], %v: f32[8, 12, 512, ", size, "], %m: f32[512, 512]) -> (%y",
                     mask == MaskKind::kTensor ? "" : ", %m", R"() {
  const %scale: f32[] = {0.125}
  const %low: f32[512, 512] = splat -inf
  const %one: i64[] = {1}
  %t = Transpose(%k) {perm = [0, 1, 3, 2]}
  %p = MatMul(%q, %t)
  %s = Mul(%p, %scale)
  %c = Trilu(%low, %one) {upper = 1}
  %a = Add(%s, )",
                     mask == MaskKind::kCausal ? "%c" : "%m", R"()
  %w = Softmax()",
                     mask == MaskKind::kNone ? "%s" : "%a", R"() {axis = 3}
  %y = MatMul(%w, %v)
})"));
  }

  // What it says of the one kernel of attention, made with this tile.
  std::string AssembleAttention(const Graph& graph, const AttentionTile& tile, Precision precision,
                                const std::string& capability) {
    const std::string target = absl::StrCat("x86-64-linux,cuda-sm", capability);
    const absl::StatusOr<CompiledGraph> chosen = compiler_->Compile(graph, target, precision);
    EXPECT_OK(chosen.status());
    if (!chosen.ok()) return "";
    const std::string name = chosen->schedules[0].substr(0, chosen->schedules[0].find(' '));
    const absl::StatusOr<CompiledGraph> compiled =
        compiler_->Compile(graph, target, precision,
                           absl::StrCat(name, " attention queries=", tile.queries,
                                        " keys=", tile.keys, " warps=", tile.warps, "\n"));
    EXPECT_OK(compiled.status());
    return compiled.ok() ? Assemble(*compiled, capability) : "";
  }

  // A graph whose second input is a constant.
  Graph WithConstantWeights(absl::string_view text) const {
    Graph graph = *compiler_->tester().Parse(text);
    graph.value(graph.inputs[1]).constant = RandomInputs(graph, 7)[1];
    graph.inputs.erase(graph.inputs.begin() + 1);
    return graph;
  }

  // A product of weights: a layer of BERT's, and one of ResNet-50's.
  Graph Layer(bool is_convolution) const {
    return WithConstantWeights(
        is_convolution
            ? R"(graph "g" (%x: f32[2, 256, 28, 28], %w: f32[256, 256, 3, 3], %b: f32[256], %r: f32[2, 256, 28, 28]) -> (%y) {
  %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
  %s = Add(%c, %r)
  %y = Relu(%s)
})"
            : R"(graph "g" (%x: f32[512, 768], %w: f32[768, 512], %b: f32[512]) -> (%y) {
  %p = MatMul(%x, %w)
  %s = Add(%p, %b)
  %y = Gelu(%s)
})");
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

// What the driver brings tensors to another form with, for libraries.
TEST_F(PtxAssemblyTest, CodeThatConvertsTensorsFits) {
  for (const char* capability : {"80", "90", "100"}) {
    if (!assembler_->AssemblesFor(capability)) continue;
    SCOPED_TRACE(capability);
    ASSERT_OK_AND_ASSIGN(const std::string said,
                         assembler_->Assemble(ConvertingCode::Text(), capability));
    const KernelResources resources = ReadResources(said);
    EXPECT_EQ(resources.spilled_bytes, 0);
    EXPECT_GE(GroupsAtATime(resources, 256), 8);
  }
}

// Whoever measures what a GPU does at most must not be slowed down by spills, nor have work taken away.
TEST_F(PtxAssemblyTest, LoopsOfPeaksDoAllTheirWork) {
  for (const int capability : {75, 80, 90, 100}) {
    if (!assembler_->AssemblesFor(absl::StrCat(capability))) continue;
    for (const CudaSumLoop& loop : CudaSumLoops(capability)) {
      SCOPED_TRACE(absl::StrCat(loop.entry, " for sm", capability));
      const bool is_of_groups = loop.text.find("wgmma") != std::string::npos;
      ASSERT_OK_AND_ASSIGN(
          const std::string said,
          assembler_->Assemble(loop.text, absl::StrCat(capability, is_of_groups ? "a" : "")));
      EXPECT_THAT(said, Not(HasSubstr("(C7")));
      const KernelResources resources = ReadResources(said);
      EXPECT_EQ(resources.spilled_bytes, 0);
      EXPECT_GE(GroupsAtATime(resources, loop.instances), loop.groups);
      if (loop.type == "f32" || !assembler_->can_disassemble()) continue;
      ASSERT_OK_AND_ASSIGN(const InstructionMix mix, assembler_->MainLoop());
      // It may have several turns.
      const int products = CountOf(mix, "HMMA") + CountOf(mix, "HGMMA");
      EXPECT_GE(products, 16);
      EXPECT_EQ(products % 16, 0);
    }
    ASSERT_OK_AND_ASSIGN(const std::string said, assembler_->Assemble(CudaReading(capability).text,
                                                                      absl::StrCat(capability)));
    EXPECT_EQ(ReadResources(said).spilled_bytes, 0);
  }
}

TEST_F(PtxAssemblyTest, ProductsOnTensorCoresStayInRegisters) {
  for (const char* capability : {"80", "90", "90a"}) {
    for (const ProductGraph& graph : ProductGraphs()) {
      SCOPED_TRACE(absl::StrCat(graph.name, " for sm", capability));
      ASSERT_OK_AND_ASSIGN(
          const CompiledGraph compiled,
          compiler_->Compile(graph.text, absl::StrCat("x86-64-linux,cuda-sm", capability),
                             Precision::kFloat16));
      EXPECT_THAT(Assemble(compiled, capability), HasSubstr("0 bytes spill stores"));
    }
  }
}

constexpr Precision kPrecisions[] = {Precision::kTensorFloat32, Precision::kFloat16,
                                     Precision::kBfloat16};

TEST_F(PtxAssemblyTest, EveryTileStaysInRegistersAndLeavesRoom) {
  for (const bool is_convolution : {false, true}) {
    const Graph layer = Layer(is_convolution);
    for (const Precision precision : kPrecisions) {
      for (const TensorTile& tile : TensorTiles()) {
        if (tile.is_of_warp_groups) continue;
        SCOPED_TRACE(absl::StrCat(tile.rows, " x ", tile.columns, " of ", Name(precision)));
        const KernelResources resources = ReadResources(AssembleWith(layer, tile, precision, "80"));
        EXPECT_EQ(resources.spilled_bytes, 0);
        // One group multiplies while another one waits.
        EXPECT_GE(GroupsAtATime(resources, tile.instances()), 2);
      }
      EXPECT_THAT(AssembleWith(layer, TensorTiles()[0], precision, "90", /*parts=*/2),
                  HasSubstr(" 0 bytes spill stores"));
    }
  }
}

// Both ways of either factor, of which nothing is laid out before: most registers hold what is on its way.
constexpr ProductGraph kOfInputs[] = {
    {"product of rows", R"(graph "g" (%a: f32[512, 768], %b: f32[768, 512], %c: f32[512]) -> (%y) {
  %p = MatMul(%a, %b)
  %y = Add(%p, %c)
})"},
    {"product of columns", R"(graph "g" (%a: f32[768, 512], %b: f32[512, 768]) -> (%y) {
  %y = Gemm(%a, %b) {transA = 1, transB = 1}
})"},
    {"windows", R"(graph "g" (%x: f32[1, 32, 28, 28], %w: f32[256, 32, 3, 3]) -> (%y) {
  %y = Conv(%x, %w) {pads = [1, 1, 1, 1]}
})"},
};

TEST_F(PtxAssemblyTest, EveryTileOfWarpGroupsStaysInRegisters) {
  std::vector<std::pair<std::string, Graph>> graphs = {
      {"layer", Layer(/*is_convolution=*/false)},
      {"convolution", Layer(/*is_convolution=*/true)},
      {"first layer", WithConstantWeights(kFirstLayer)}};
  for (const ProductGraph& graph : kOfInputs) {
    graphs.emplace_back(graph.name, *compiler_->tester().Parse(graph.text));
  }
  for (const auto& [name, graph] : graphs) {
    for (const Precision precision : kPrecisions) {
      for (const TensorTile& tile : TensorTiles()) {
        if (!tile.is_of_warp_groups) continue;
        for (const int parts : {1, 2}) {
          const KernelResources resources =
              ReadResources(AssembleWith(graph, tile, precision, "90a", parts));
          const std::string what =
              absl::StrCat(name, ", ", tile.rows, " x ", tile.columns, " of ", Name(precision),
                           ", ", parts, " parts: ", resources.registers, " registers");
          SCOPED_TRACE(what);
          std::cout << what << "\n";
          // Where entries of a table, weights and what windows see are all on their way to the largest tile, three registers are missing.
          const bool is_full = name == "windows" && tile.rows * tile.columns == 128 * 256;
          EXPECT_LE(resources.spilled_bytes, is_full ? 12 : 0);
          EXPECT_LE((resources.registers + 7) / 8 * 8 * tile.instances(), 1 << 16);
        }
      }
    }
  }
}

TEST_F(PtxAssemblyTest, AttentionStaysInRegistersAndLeavesRoom) {
  for (const int size : {16, 32, 48, 64, 80, 96, 112, 128}) {
    for (const MaskKind mask : {MaskKind::kNone, MaskKind::kTensor, MaskKind::kCausal}) {
      const Graph graph = Attention(size, mask);
      for (const Precision precision : kPrecisions) {
        const int bytes = precision == Precision::kTensorFloat32 ? 4 : 2;
        for (const AttentionTile& tile : AttentionTiles()) {
          if (!CanAttend(tile, size, size, bytes)) continue;
          SCOPED_TRACE(absl::StrCat(tile.queries, " queries, ", tile.keys, " keys of ", size,
                                    " of ", Name(precision), NameOf(mask)));
          const KernelResources resources =
              ReadResources(AssembleAttention(graph, tile, precision, "80"));
          std::cout << Name(precision) << " " << size << NameOf(mask) << " " << tile.queries << "x"
                    << tile.keys << ": " << resources.registers << " registers, "
                    << resources.spilled_bytes << " spilled, "
                    << GroupsAtATime(resources, tile.instances()) << " groups\n";
          EXPECT_EQ(resources.spilled_bytes, 0);
          EXPECT_GE(GroupsAtATime(resources, tile.instances()), 2);
        }
      }
    }
  }
}

TEST_F(PtxAssemblyTest, DepthwiseStaysInRegistersAndLeavesRoom) {
  for (const DepthwiseGraph& graph : DepthwiseGraphs()) {
    const std::string target = "x86-64-linux,cuda-sm80";
    ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(graph.text, target));
    const std::string name = chosen.schedules[0].substr(0, chosen.schedules[0].find(' '));
    for (const DepthwiseTile& tile : DepthwiseTiles()) {
      SCOPED_TRACE(absl::StrCat(graph.name, ", ", tile.rows, " x ", tile.columns));
      ASSERT_OK_AND_ASSIGN(const CompiledGraph compiled,
                           compiler_->Compile(graph.text, target, Precision::kFloat32,
                                              absl::StrCat(name, " depthwise rows=", tile.rows,
                                                           " columns=", tile.columns, "\n")));
      const KernelResources resources = ReadResources(Assemble(compiled, "80"));
      std::cout << graph.name << " " << tile.rows << " x " << tile.columns << ": "
                << resources.registers << " registers\n";
      EXPECT_EQ(resources.spilled_bytes, 0);
      EXPECT_GE(GroupsAtATime(resources, kDepthwiseThreads), 3);
    }
  }
}

TEST_F(PtxAssemblyTest, RowsStayInRegistersAndLeaveRoom) {
  for (const char* capability : {"80", "90"}) {
    const std::string target = absl::StrCat("x86-64-linux,cuda-sm", capability);
    for (const RowGraph& graph : RowGraphs()) {
      ASSERT_OK_AND_ASSIGN(const CompiledGraph chosen, compiler_->Compile(graph.text, target));
      const std::string name = chosen.schedules[0].substr(0, chosen.schedules[0].find(' '));
      for (const RowDivision& division : RowDivisions(graph.size, graph.layout)) {
        SCOPED_TRACE(absl::StrCat(graph.name, ", ", division.warps, " warps"));
        const std::string parts = division.parts > 1 ? absl::StrCat(" parts=", division.parts) : "";
        ASSERT_OK_AND_ASSIGN(
            const CompiledGraph compiled,
            compiler_->Compile(
                graph.text, target, Precision::kFloat32,
                absl::StrCat(name, " warp-rows warps=", division.warps, parts, "\n")));
        const KernelResources resources = ReadResources(Assemble(compiled, capability));
        std::cout << graph.name << " by " << division.warps << " warps: " << resources.registers
                  << " registers\n";
        EXPECT_EQ(resources.spilled_bytes, 0);
        EXPECT_LE(resources.registers, 80);
      }
    }
  }
}

// What else a warp does in its main loop, for each mma. Each quarter of a multiprocessor of A100 issues an instruction a clock and multiplies for 8 clocks at one
// mma, so that up to 7 others cost nothing while none waits. Limits are those of today's code; whoever makes it better lowers them.
TEST_F(PtxAssemblyTest, MainLoopsMultiplyMostOfTheTime) {
  if (!assembler_->can_disassemble()) GTEST_SKIP() << "no nvdisasm beside ptxas or in $PATH";
  const struct {
    bool is_convolution;
    Precision precision;
    double limit;
  } rows[] = {{false, Precision::kFloat16, 1.7},       {true, Precision::kFloat16, 2.6},
              {false, Precision::kBfloat16, 1.7},      {true, Precision::kBfloat16, 2.6},
              {false, Precision::kTensorFloat32, 3.1}, {true, Precision::kTensorFloat32, 4.0}};
  for (const auto& row : rows) {
    for (const char* capability : {"80", "90"}) {
      SCOPED_TRACE(absl::StrCat(row.is_convolution ? "convolution" : "product", " of ",
                                Name(row.precision), " for sm", capability));
      AssembleWith(Layer(row.is_convolution), TensorTiles()[0], row.precision, capability);
      ASSERT_OK_AND_ASSIGN(const InstructionMix mix, assembler_->MainLoop());
      const int products = CountOf(mix, "HMMA");
      EXPECT_EQ(products, 64);
      EXPECT_EQ(CountOf(mix, "BAR"), 1);
      int others = CountOf(mix, "") - products;
      // Tensors that begin anywhere are loaded element by element, which is another way through.
      if (!row.is_convolution) others -= CountOf(mix, "LDG.E.CONSTANT");
      std::cout << Name(row.precision) << (row.is_convolution ? " convolution" : " product")
                << " sm" << capability << ": " << others << " beside " << products << "\n";
      EXPECT_LE(others, row.limit * products);
    }
  }
}

// The same of windows of few channels, whose elements alternate from one of the depth to the next: by padded windows, as networks begin, and by patches.
TEST_F(PtxAssemblyTest, WindowsOfFewChannelsAreReadByTheirTable) {
  if (!assembler_->can_disassemble()) GTEST_SKIP() << "no nvdisasm beside ptxas or in $PATH";
  const struct {
    const char* name;
    const char* text;
    double limit;
  } rows[] = {
      {"7 x 7 of 3", kFirstLayer, 6.4},
      {"patches of 16 x 16",
       R"(graph "g" (%x: f32[8, 3, 224, 224], %w: f32[768, 3, 16, 16]) -> (%y) {
  %y = Conv(%x, %w) {strides = [16, 16]}
})",
       3.5},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const KernelResources resources = ReadResources(
        AssembleWith(WithConstantWeights(row.text), TensorTiles()[0], Precision::kFloat16, "80"));
    EXPECT_EQ(resources.spilled_bytes, 0);
    ASSERT_OK_AND_ASSIGN(const InstructionMix mix, assembler_->MainLoop());
    const int products = CountOf(mix, "HMMA");
    EXPECT_EQ(products, 64);
    const int others = CountOf(mix, "") - products;
    std::cout << row.name << ": " << others << " beside " << products << ", " << resources.registers
              << " registers\n";
    EXPECT_LE(others, row.limit * products);
  }
}

// The same of warp groups, whose four warps multiply 64 x 256 in 128 clocks of a multiprocessor of H100, each quarter of which issues an instruction a clock for two
// warps: up to 127 others beside each product cost nothing while none waits.
TEST_F(PtxAssemblyTest, WarpGroupsMultiplyWhileTheyLoad) {
  if (!assembler_->can_disassemble()) GTEST_SKIP() << "no nvdisasm beside ptxas or in $PATH";
  const struct {
    bool is_convolution;
    Precision precision;
    double limit;
  } rows[] = {{false, Precision::kFloat16, 34},       {true, Precision::kFloat16, 62},
              {false, Precision::kBfloat16, 34},      {true, Precision::kBfloat16, 62},
              {false, Precision::kTensorFloat32, 69}, {true, Precision::kTensorFloat32, 89}};
  TensorTile tile;
  for (const TensorTile& any : TensorTiles()) {
    if (any.is_of_warp_groups && any.rows * any.columns > tile.rows * tile.columns) tile = any;
  }
  for (const auto& row : rows) {
    SCOPED_TRACE(
        absl::StrCat(row.is_convolution ? "convolution" : "product", " of ", Name(row.precision)));
    AssembleWith(Layer(row.is_convolution), tile, row.precision, "90a");
    ASSERT_OK_AND_ASSIGN(const InstructionMix mix, assembler_->MainLoop());
    const int products = CountOf(mix, "HGMMA");
    EXPECT_EQ(products, 4);
    EXPECT_EQ(CountOf(mix, "BAR"), 1);
    EXPECT_EQ(CountOf(mix, "WARPGROUP.DEPBAR"), 1);
    int others = CountOf(mix, "") - products;
    if (!row.is_convolution) others -= CountOf(mix, "LDG.E.CONSTANT");
    std::cout << Name(row.precision) << (row.is_convolution ? " convolution" : " product")
              << " sm90a: " << others << " beside " << products << "\n";
    EXPECT_LE(others, row.limit * products);
  }
}

// The same of attention, which has more to do: of each score a power, a sum, a largest one.
TEST_F(PtxAssemblyTest, AttentionMultipliesMuchOfTheTime) {
  if (!assembler_->can_disassemble()) GTEST_SKIP() << "no nvdisasm beside ptxas or in $PATH";
  const struct {
    int size;
    Precision precision;
    MaskKind mask;
    double limit;  // Where causal, with what is done on the diagonal alone.
  } rows[] = {{64, Precision::kFloat16, MaskKind::kNone, 6.5},
              {64, Precision::kFloat16, MaskKind::kTensor, 7.8},
              {64, Precision::kFloat16, MaskKind::kCausal, 7.5},
              {128, Precision::kFloat16, MaskKind::kNone, 5.1},
              {64, Precision::kTensorFloat32, MaskKind::kNone, 5.8}};
  for (const auto& row : rows) {
    for (const char* capability : {"80", "90"}) {
      SCOPED_TRACE(
          absl::StrCat("heads of ", row.size, " of ", Name(row.precision), " for sm", capability));
      const int bytes = row.precision == Precision::kTensorFloat32 ? 4 : 2;
      const AttentionTile tile = ChooseAttentionTile(kA100, 96, 512, row.size, row.size, bytes);
      AssembleAttention(Attention(row.size, row.mask), tile, row.precision, capability);
      ASSERT_OK_AND_ASSIGN(const InstructionMix mix, assembler_->MainLoop());
      const int products = CountOf(mix, "HMMA");
      EXPECT_EQ(products, tile.warp_queries() / 16 * tile.keys / 8 * row.size * bytes / 32 * 2);
      EXPECT_EQ(CountOf(mix, "BAR"), 2);
      int others = CountOf(mix, "") - products;
      // Tensors that begin anywhere are loaded element by element, which is another way through.
      if (bytes == 2) others -= CountOf(mix, "LDG.E.CONSTANT");
      std::cout << Name(row.precision) << " heads of " << row.size << NameOf(row.mask) << " sm"
                << capability << ": " << others << " beside " << products << "\n";
      EXPECT_LE(others, row.limit * products);
    }
  }
}

}  // namespace
}  // namespace slipway::testing
