// Which instructions make the sums of small numbers, by disassembling: most machines that run tests lack them, so that nothing else
// would notice that they are not used any more. What the kernels compute is compared where these are emulated
// (bfloat16_kernels_test, integer_kernels_test).
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/codegen/kernel_compiler.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/builder.h"
#include "core/operators/register_all.h"
#include "core/target/target.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

// Recorded: those of all tiles of the kernel, whose innermost loops are unrolled.
constexpr int kBfloat16Sums = 28;
constexpr int kByteSums = 28;
constexpr int kShortByteSums = 48;

using Build = std::function<void(GraphBuilder&)>;

// How often each instruction stands in an object file.
std::map<std::string, int> InstructionsIn(const std::string& object) {
  const testing::TempTree tree;
  const testing::CommandResult disassembled =
      testing::RunCommand({.argv = {"/usr/bin/llvm-objdump-14", "-d", "--no-show-raw-insn",
                                    "--no-leading-addr", tree.Write("kernel.o", object)}});
  EXPECT_TRUE(disassembled.status.ok()) << disassembled.ToString();
  std::map<std::string, int> counts;
  std::istringstream lines(disassembled.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "{vex}") words >> word;
    ++counts[word];
  }
  return counts;
}

std::map<std::string, int> Compiled(const std::string& target, const Build& build) {
  const OperatorRegistry registry = StandardOperators();
  Lowerings lowerings;
  EXPECT_OK(RegisterAllLowerings(lowerings));
  GraphBuilder builder("g", registry);
  build(builder);
  absl::StatusOr<Graph> graph = std::move(builder).Build();
  EXPECT_OK(graph.status());
  const SystemClock clock;
  KernelCompiler compiler(registry, lowerings, clock, nullptr, {});
  const KernelRequest request = {"kernel", &*graph};
  const auto kernels = compiler.Compile({&request, 1}, ParseTarget(target)->host());
  EXPECT_OK(kernels.status());
  return InstructionsIn((*kernels)[0].object);
}

// A layer as NarrowProducts leaves it: 32 channels of 14 x 14 to 64.
Build Layer(DataType x_type, DataType w_type, int64_t block, int64_t terms) {
  return [=](GraphBuilder& b) {
    const ValueId x = b.Input("x", x_type, {1, 32 / block, 14, 14, block});
    const ValueId w =
        b.Input("w", w_type, {64 / block, 32 / block, 3, 3, block / terms, block, terms});
    const ValueId y = b.Add("slipway.ConvNCHWc", {x, w}, {{"pads", Ints({1, 1, 1, 1})}});
    const bool is_float = x_type == DataType::kBfloat16;
    b.Output(is_float ? b.Add("slipway.RoundToBfloat16", {b.Add("Relu", {y})}) : y);
  };
}

TEST(DotProductsTest, OfBfloat16) {
  const Build layer = Layer(DataType::kBfloat16, DataType::kBfloat16, 16, 2);
  for (const char* target : {"x86-64-v4-linux-bf16", "x86-64-v4-linux-bf16-vnni"}) {
    SCOPED_TRACE(target);
    std::map<std::string, int> counts = Compiled(target, layer);
    EXPECT_EQ(counts["vdpbf16ps"], kBfloat16Sums);
    EXPECT_GT(counts["vcvtneps2bf16"], 0);
    EXPECT_EQ(counts["vfmadd231ps"], 0);
  }
  EXPECT_EQ(Compiled("x86-64-v4-linux-vnni", layer)["vdpbf16ps"], 0);
}

// Where nothing is multiplied, too.
TEST(DotProductsTest, OfBfloat16AreReadByWhatRoundsAlone) {
  std::map<std::string, int> counts = Compiled("x86-64-v4-linux-bf16", [](GraphBuilder& b) {
    const ValueId x = b.Input("x", DataType::kFloat32, {1024});
    b.Output(b.Add("slipway.RoundToBfloat16", {b.Add("Relu", {x})}));
  });
  EXPECT_GT(counts["vcvtneps2bf16"] + counts["vcvtne2ps2bf16"], 0);
}

TEST(DotProductsTest, OfBytesInMatrices) {
  const Build product = [](GraphBuilder& b) {
    const ValueId x = b.Input("x", DataType::kUint8, {128, 768});
    const ValueId w = b.Input("w", DataType::kInt8, {48, 192, 16, 4});
    const ValueId bias = b.Input("bias", DataType::kInt32, {768});
    b.Output(b.Add("slipway.GemmPacked", {x, w, bias}, {{"columns", int64_t{768}}}));
  };
  std::map<std::string, int> counts = Compiled("x86-64-v4-linux-vnni", product);
  EXPECT_GT(counts["vpdpbusd"], 0);
  EXPECT_EQ(counts["vpmulld"] + counts["vpmaddwd"], 0);
  counts = Compiled("x86-64-v4-linux-amxint8", product);
  EXPECT_GT(counts["tdpbusd"], 0);
  EXPECT_EQ(counts["vpdpbusd"], 0);
}

// Lookups in tables of bytes: two permutations a vector, and no byte is taken out of one.
TEST(DotProductsTest, TablesAreRegistersWhereBytesArePermuted) {
  const Build lookup = [](GraphBuilder& b) {
    const ValueId x = b.Input("x", DataType::kFloat32, {1024});
    const ValueId codes = b.Add("QuantizeLinear", {x, b.Constant("s", Tensor::Scalar(0.01f)),
                                                   b.Constant("z", Tensor::Scalar<uint8_t>(9))});
    std::vector<int64_t> table(256);
    for (int64_t i = 0; i < 256; ++i) table[i] = i * 7 % 256;
    b.Output(b.Add("slipway.Lookup", {codes}, {{"to", int64_t{2}}, {"table", Ints(table)}}));
  };
  std::map<std::string, int> counts = Compiled("x86-64-v4-linux-vbmi", lookup);
  EXPECT_GT(counts["vpermi2b"] + counts["vpermt2b"], 0);
  EXPECT_EQ(counts["vpextrb"] + counts["vpinsrb"], 0);
  counts = Compiled("x86-64-v4-linux-vnni", lookup);
  EXPECT_EQ(counts["vpermi2b"] + counts["vpermt2b"], 0);
  EXPECT_GT(counts["vpinsrb"], 0);
}

// A product of matrices as PackGemm and NarrowProducts leave it.
Build Product(int64_t rows, int64_t depth) {
  return [=](GraphBuilder& b) {
    const ValueId x = b.Input("x", DataType::kBfloat16, {rows, depth});
    const ValueId w = b.Input("w", DataType::kBfloat16, {48, depth / 2, 16, 2});
    const ValueId bias = b.Input("bias", DataType::kFloat32, {768});
    b.Output(b.Add("slipway.GemmPacked", {x, w, bias}, {{"columns", int64_t{768}}}));
  };
}

TEST(DotProductsTest, OfBfloat16InMatrices) {
  for (const int64_t rows : {1, 128}) {
    SCOPED_TRACE(rows);
    std::map<std::string, int> counts = Compiled("x86-64-v4-linux-bf16", Product(rows, 768));
    EXPECT_GT(counts["vdpbf16ps"], 0);
    EXPECT_EQ(counts["vfmadd231ps"], 0);
  }
}

TEST(DotProductsTest, OfBfloat16InTileRegisters) {
  for (const int64_t rows : {1, 16, 40, 128}) {
    SCOPED_TRACE(rows);
    std::map<std::string, int> counts = Compiled("x86-64-v4-linux-amxbf16", Product(rows, 768));
    EXPECT_GT(counts["tdpbf16ps"], 0);
    EXPECT_EQ(counts["vdpbf16ps"] + counts["vfmadd231ps"], 0);
    // A sum stays in its register, and registers are free again in the end.
    EXPECT_EQ(counts["tilestored"], rows == 1 || rows == 16 ? 2 : 4);
    EXPECT_GT(counts["tilerelease"], 0);
  }
  // A fraction of a register's row at once, and too little of one.
  EXPECT_GT(Compiled("x86-64-v4-linux-amxbf16", Product(128, 48))["tdpbf16ps"], 0);
  EXPECT_EQ(Compiled("x86-64-v4-linux-amxbf16", Product(128, 34))["tdpbf16ps"], 0);
}

// Sums of convolutions stay in their registers over the whole reduction: four of them, or two where a block is one.
TEST(DotProductsTest, OfConvolutionsInTileRegisters) {
  for (const int64_t block : {16, 32}) {
    SCOPED_TRACE(block);
    std::map<std::string, int> counts = Compiled(
        "x86-64-v4-linux-amxbf16", Layer(DataType::kBfloat16, DataType::kBfloat16, block, 2));
    EXPECT_GT(counts["tdpbf16ps"], 0);
    EXPECT_EQ(counts["tilestored"], block == 16 ? 2 : 4);
    EXPECT_EQ(counts["vdpbf16ps"] + counts["vfmadd231ps"], 0);
  }
  std::map<std::string, int> counts =
      Compiled("x86-64-v4-linux-amxint8", Layer(DataType::kUint8, DataType::kInt8, 32, 4));
  EXPECT_GT(counts["tdpbusd"], 0);
  EXPECT_EQ(counts["tilestored"], 4);
  EXPECT_EQ(counts["vpdpbusd"], 0);
}

TEST(DotProductsTest, OfBytes) {
  const struct {
    const char* target;
    int64_t block;
    int sums;
  } rows[] = {{"x86-64-v4-linux-vnni", 16, kByteSums},
              {"x86-64-v4-linux-bf16-vnni", 16, kByteSums},
              {"x86-64-v3-linux-avxvnni", 8, kShortByteSums}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.target);
    std::map<std::string, int> counts =
        Compiled(row.target, Layer(DataType::kUint8, DataType::kInt8, row.block, 4));
    EXPECT_EQ(counts["vpdpbusd"], row.sums);
    // Which saturate.
    EXPECT_EQ(counts["vpdpbusds"] + counts["vpmaddubsw"], 0);
  }
  std::map<std::string, int> emulated =
      Compiled("x86-64-v3-linux", Layer(DataType::kUint8, DataType::kInt8, 8, 4));
  EXPECT_EQ(emulated["vpdpbusd"] + emulated["vpmaddubsw"], 0);
}

TEST(DotProductsTest, OfPairs) {
  std::map<std::string, int> counts =
      Compiled("x86-64-v4-linux-vnni", Layer(DataType::kInt16, DataType::kInt16, 16, 2));
  EXPECT_GT(counts["vpdpwssd"], 0);
  EXPECT_EQ(counts["vpmaddwd"], 0);
}

}  // namespace
}  // namespace slipway
