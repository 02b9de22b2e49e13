// The reference against values worked out by hand or by another formula. ONNX's own backend-test
// cases (tests/conformance) cover the plain operators far more widely.
#include "core/reference/reference.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/base/files.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/kernels/winograd.h"
#include "core/operators/fused.h"
#include "core/operators/register_all.h"
#include "core/operators/strassen.h"
#include "core/operators/training.h"
#include "core/tensor/comparison.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

class ReferenceTest : public ::testing::Test {
 protected:
  // Runs a graph given as text. Errors are returned.
  absl::StatusOr<std::vector<Tensor>> Run(absl::string_view text,
                                          const std::vector<Tensor>& inputs = {}) {
    const auto graph = ParseGraph(text);
    if (!graph.ok()) return graph.status();
    return reference_.Evaluate(*graph, inputs);
  }

  // The one output of one node over constants: Node("Add(%a, %b)", "const %a: ...").
  absl::StatusOr<Tensor> Node(const std::string& constants, const std::string& node) {
    auto outputs =
        Run(absl::StrCat("graph \"t\" () -> (%y) {\n", constants, "\n%y = ", node, "\n}"));
    if (!outputs.ok()) return outputs.status();
    return (*outputs)[0];
  }

  std::vector<float> Floats(const std::string& constants, const std::string& node) {
    const auto y = Node(constants, node);
    EXPECT_OK(y.status());
    if (!y.ok()) return {};
    return std::vector<float>(y->values<float>().begin(), y->values<float>().end());
  }

  Tensor Random(std::vector<int64_t> shape) {
    Tensor tensor = Tensor::Zeros(DataType::kFloat32, shape);
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (float& value : tensor.mutable_values<float>()) value = distribution(random_);
    return tensor;
  }

  const OperatorRegistry registry_ = StandardOperators();
  const Reference reference_{registry_};
  std::mt19937 random_{7};
};

// What gives symbols their values and computes nothing, and what a pass writes out first.
const std::set<std::string> kNotEvaluated = {kBindSymbolsOperator, kGradientOperator};

TEST_F(ReferenceTest, HasAKernelForEveryOperator) {
  for (const std::string& op : registry_.Names()) {
    EXPECT_EQ(reference_.Supports(op), !kNotEvaluated.contains(op)) << op;
  }
}

// What the fuzzer begins with runs through, and has every operator in it.
TEST_F(ReferenceTest, RunsTheCorpus) {
  std::set<std::string> seen;
  for (const auto& file : std::filesystem::directory_iterator("core/reference/reference_corpus")) {
    SCOPED_TRACE(file.path().string());
    const auto text = ReadFile(file.path().string(), 1 << 20);
    ASSERT_OK(text.status());
    const auto graph = ParseGraph(*text);
    ASSERT_OK(graph.status());
    std::vector<Tensor> inputs;
    for (const ValueId id : graph->inputs) {
      const Shape& shape = graph->values[id].type->shape();
      inputs.push_back(Random(std::vector<int64_t>(shape.begin(), shape.end())));
    }
    EXPECT_OK(reference_.Evaluate(*graph, inputs).status());
    for (const slipway::Node& node : graph->nodes) seen.insert(node.op);
  }
  seen.insert(kNotEvaluated.begin(), kNotEvaluated.end());
  EXPECT_THAT(seen, ::testing::ElementsAreArray(registry_.Names()));
}

TEST_F(ReferenceTest, EvaluatesAGraph) {
  const auto outputs =
      Run("graph \"g\" (%x: f32[2], %s) -> (%z, %x, %c) {\n"
          "  const %c: f32[2] = {1, 2}\n  %y = Add(%x, %c)\n  %z = Reshape(%y, %s)\n}",
          {Tensor::Of<float>({2}, {10, 20}), Tensor::Of<int64_t>({2}, {2, 1})});
  ASSERT_OK(outputs.status());
  EXPECT_EQ(ToString((*outputs)[0].type()), "f32[2, 1]");
  EXPECT_THAT((*outputs)[0].values<float>(), ElementsAre(11, 22));
  EXPECT_THAT((*outputs)[1].values<float>(), ElementsAre(10, 20));
  EXPECT_THAT((*outputs)[2].values<float>(), ElementsAre(1, 2));
}

TEST_F(ReferenceTest, RefusesInputsThatDoNotFit) {
  const std::string text = "graph \"g\" (%x: f32[2]) -> (%y) { %y = Relu(%x) }";
  EXPECT_THAT(Run(text).status().message(), HasSubstr("has 1 inputs, 0 were given"));
  EXPECT_THAT(Run(text, {Tensor::Of<float>({1}, {1})}).status().message(),
              HasSubstr("input \"x\" must be f32[2], not f32[1]"));
  EXPECT_THAT(Run(text, {Tensor()}).status().message(), HasSubstr("not set"));
}

TEST_F(ReferenceTest, ErrorsNameTheNode) {
  const auto gathered = Node("const %x: f32[2] = {1, 2} const %i: i64[1] = {2}", "Gather(%x, %i)");
  EXPECT_EQ(gathered.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(gathered.status().message(),
              HasSubstr("node \"y\" (Gather): an index is outside of its dimension"));
  EXPECT_THAT(
      Node("const %x: i32[1] = {1} const %z: i32[1] = {0}", "Div(%x, %z)").status().message(),
      HasSubstr("divides an integer by 0"));
  EXPECT_EQ(Node("const %x: bool[1] = {true}", "Relu(%x)").status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST_F(ReferenceTest, IntegersWrapAround) {
  const auto sum = Node("const %x: i8[2] = {127, -128} const %z: i8[2] = {1, -1}", "Add(%x, %z)");
  ASSERT_OK(sum.status());
  EXPECT_THAT(sum->values<int8_t>(), ElementsAre(-128, 127));
  const auto quotient = Node(
      "const %x: i64[2] = {-9223372036854775808, -7} const %z: i64[2] = {-1, 2}", "Div(%x, %z)");
  ASSERT_OK(quotient.status());
  EXPECT_THAT(quotient->values<int64_t>(), ElementsAre(std::numeric_limits<int64_t>::min(), -3));
}

TEST_F(ReferenceTest, NanGoesThrough) {
  const std::string x =
      "const %x: f32[3] = {nan, -1, 2} const %z: f32[] = {0} const %o: f32[] = {1}";
  for (const char* node :
       {"Relu(%x)", "Max(%x, %z)", "Max(%z, %x)", "Min(%z, %x)", "Min(%x, %z)", "Clip(%x, %z, %o)",
        "LeakyRelu(%x)", "HardSigmoid(%x)", "HardSwish(%x)", "Sigmoid(%x)", "Elu(%x)"}) {
    EXPECT_TRUE(std::isnan(Floats(x, node).at(0))) << node;
    EXPECT_FALSE(std::isnan(Floats(x, node).at(1))) << node;
  }
  const std::string image = "const %x: f32[1, 1, 1, 3] = {1, nan, 2}";
  EXPECT_TRUE(std::isnan(Floats(image, "MaxPool(%x) {kernel_shape = [1, 3]}").at(0)));
  EXPECT_TRUE(std::isnan(Floats(image + " const %a: i64[1] = {3}", "ReduceMax(%x, %a)").at(0)));
  EXPECT_TRUE(std::isnan(Floats(image, "GlobalMaxPool(%x)").at(0)));
}

TEST_F(ReferenceTest, PadsWrapAndTakeAxes) {
  const std::string x =
      "const %x: f32[2, 2] = {1, 2, 3, 4} const %p: i64[2] = {3, 1}"
      " const %a: i64[1] = {-1}";
  EXPECT_THAT(Floats(x, "Pad(%x, %p, _, %a) {mode = \"wrap\"}"),
              ElementsAre(2, 1, 2, 1, 2, 1, 4, 3, 4, 3, 4, 3));
  EXPECT_THAT(Floats(x, "Pad(%x, %p, _, %a)"), ElementsAre(0, 0, 0, 1, 2, 0, 0, 0, 0, 3, 4, 0));
}

// Element by element from the definition, whatever of a shape is padded, cut off or left as it is.
TEST_F(ReferenceTest, PadsAreWhatTheyAreDefinedToBe) {
  const auto draw = [this](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  };
  for (int round = 0; round < 200; ++round) {
    const std::string mode =
        std::vector<std::string>{"constant", "edge", "reflect", "wrap"}[round % 4];
    std::vector<int64_t> x_shape, y_shape, begins, ends;
    for (int d = 0; d < 3; ++d) {
      const int64_t extent = draw(2, 4);
      const bool is_padded = draw(0, 1) == 1;
      x_shape.push_back(extent);
      begins.push_back(is_padded ? draw(-1, 1) : 0);
      ends.push_back(is_padded ? draw(0, 1) : 0);
      y_shape.push_back(begins[d] + extent + ends[d]);
    }
    const Tensor x = Random(x_shape);
    const auto source = [&](int64_t at, int64_t extent) -> int64_t {
      if (at >= 0 && at < extent) return at;
      if (mode == "edge") return at < 0 ? 0 : extent - 1;
      if (mode == "wrap") return (at + extent) % extent;
      return mode == "reflect" ? (at < 0 ? -at : 2 * (extent - 1) - at) : -1;
    };
    std::vector<float> expected;
    for (int64_t i = 0; i < y_shape[0]; ++i) {
      for (int64_t j = 0; j < y_shape[1]; ++j) {
        for (int64_t k = 0; k < y_shape[2]; ++k) {
          const int64_t a = source(i - begins[0], x_shape[0]);
          const int64_t b = source(j - begins[1], x_shape[1]);
          const int64_t c = source(k - begins[2], x_shape[2]);
          const bool is_inside = a >= 0 && b >= 0 && c >= 0;
          const int64_t at = (a * x_shape[1] + b) * x_shape[2] + c;
          expected.push_back(is_inside ? x.values<float>()[at] : 7);
        }
      }
    }
    const std::string text = absl::StrCat(
        "graph \"p\" (%x: f32[", absl::StrJoin(x_shape, ", "), "]) -> (%y) {\nconst %p: i64[6] = {",
        absl::StrJoin(begins, ", "), ", ", absl::StrJoin(ends, ", "),
        "}\nconst %v: f32[] = {7}\n%y = Pad(%x, %p, %v) {mode = \"", mode, "\"}\n}");
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> outputs, Run(text, {x}));
    EXPECT_THAT(outputs[0].shape(), ::testing::ElementsAreArray(y_shape)) << text;
    EXPECT_THAT(outputs[0].values<float>(), ::testing::ElementsAreArray(expected)) << text;
  }
}

TEST_F(ReferenceTest, SpaceToDepthOrdersChannelsEitherWay) {
  const std::string x = "const %x: f32[1, 2, 2, 2] = {0, 1, 2, 3, 4, 5, 6, 7}";
  EXPECT_THAT(Floats(x, "SpaceToDepth(%x) {blocksize = 2}"), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(Floats(x, "SpaceToDepth(%x) {blocksize = 2, mode = \"CRD\"}"),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(ReferenceTest, AveragesOfDilatedWindows) {
  const std::string x = "const %x: f32[1, 1, 1, 5] = {1, 2, 4, 8, 16}";
  EXPECT_THAT(Floats(x, "AveragePool(%x) {kernel_shape = [1, 2], dilations = [1, 3]}"),
              ElementsAre(4.5, 9));
}

TEST_F(ReferenceTest, UnaryFunctions) {
  const std::string x = "const %x: f32[3] = {-2, 0, 0.5}";
  EXPECT_THAT(Floats(x, "Elu(%x) {alpha = 2.0}"),
              ElementsAre(FloatNear(2 * (std::exp(-2.0f) - 1), 1e-6), 0, 0.5));
  EXPECT_THAT(Floats(x, "HardSigmoid(%x) {alpha = 0.5, beta = 0.25}"), ElementsAre(0, 0.25, 0.5));
  EXPECT_THAT(Floats(x, "Sigmoid(%x)"), ElementsAre(FloatNear(1 / (1 + std::exp(2.0f)), 1e-6), 0.5,
                                                    FloatNear(1 / (1 + std::exp(-0.5f)), 1e-6)));
  EXPECT_THAT(Floats("const %x: f32[2] = {-1000, 1000}", "Sigmoid(%x)"), ElementsAre(0, 1));
}

TEST_F(ReferenceTest, GlobalPoolsSeeEverything) {
  const std::string x = "const %x: f32[1, 2, 1, 3] = {1, 2, 6, -1, -2, -3}";
  EXPECT_THAT(Floats(x, "GlobalAveragePool(%x)"), ElementsAre(3, -2));
  EXPECT_THAT(Floats(x, "GlobalMaxPool(%x)"), ElementsAre(6, -1));
}

TEST_F(ReferenceTest, PoolsAtTheBorder) {
  const std::string x = "const %x: f32[1, 1, 1, 3] = {3, 6, 9}";
  EXPECT_THAT(Floats(x, "AveragePool(%x) {kernel_shape = [1, 2], pads = [0, 1, 0, 1]}"),
              ElementsAre(3, 4.5, 7.5, 9));
  EXPECT_THAT(Floats(x,
                     "AveragePool(%x) {kernel_shape = [1, 2], pads = [0, 1, 0, 1], "
                     "count_include_pad = 1}"),
              ElementsAre(1.5, 4.5, 7.5, 4.5));
  // The last window of ceil_mode sees one element; what lies beyond never counts.
  EXPECT_THAT(Floats(x,
                     "AveragePool(%x) {kernel_shape = [1, 2], strides = [1, 2], ceil_mode = 1, "
                     "count_include_pad = 1}"),
              ElementsAre(4.5, 9));
}

TEST_F(ReferenceTest, LrnAndBatchNormalization) {
  const std::string x = "const %x: f32[1, 3, 1] = {1, 2, 3}";
  const auto expected = [](float v, float squares) {
    return FloatNear(v / std::pow(2 + 0.5f / 3 * squares, 0.75f), 1e-6);
  };
  EXPECT_THAT(Floats(x, "LRN(%x) {size = 3, alpha = 0.5, beta = 0.75, bias = 2.0}"),
              ElementsAre(expected(1, 5), expected(2, 14), expected(3, 13)));
  EXPECT_THAT(Floats(x + " const %s: f32[3] = {1, 2, 3} const %b: f32[3] = {0, 1, 2}"
                         " const %m: f32[3] = {1, 1, 1} const %v: f32[3] = {4, 4, 4}",
                     "BatchNormalization(%x, %s, %b, %m, %v) {epsilon = 0.0}"),
              ElementsAre(0, 2, 5));
}

// The blocked operators against the plain ones, through Pack and Unpack.

// Weights [Co, Ci, KH, KW] to [Co/co, Ci/ci, KH, KW, ci, co] by the definition.
Tensor PackWeights(const Tensor& w, int64_t ci, int64_t co) {
  const Shape& s = w.shape();
  Tensor packed = Tensor::Zeros(DataType::kFloat32, {s[0] / co, s[1] / ci, s[2], s[3], ci, co});
  for (int64_t o = 0; o < s[0]; ++o) {
    for (int64_t i = 0; i < s[1]; ++i) {
      for (int64_t k = 0; k < s[2] * s[3]; ++k) {
        const int64_t at =
            ((((o / co) * (s[1] / ci) + i / ci) * s[2] * s[3] + k) * ci + i % ci) * co + o % co;
        packed.mutable_values<float>()[at] = w.values<float>()[(o * s[1] + i) * s[2] * s[3] + k];
      }
    }
  }
  return packed;
}

struct ConvCase {
  int64_t in_channels, out_channels, group, in_block, out_block;
  const char* attributes;
};

TEST_F(ReferenceTest, BlockedConvolutionIsTheConvolution) {
  const ConvCase cases[] = {
      {8, 16, 1, 8, 16, "pads = [1, 1, 1, 1]"},
      {16, 8, 1, 4, 8, "pads = [0, 1, 2, 0], strides = [2, 1]"},
      {8, 8, 2, 4, 2, "pads = [1, 1, 1, 1], dilations = [1, 2]"},
      {3, 8, 1, 1, 8, "pads = [1, 1, 1, 1], strides = [2, 2]"},
  };
  for (const ConvCase& c : cases) {
    SCOPED_TRACE(c.attributes);
    const Tensor x = Random({2, c.in_channels, 9, 7});
    const Tensor w = Random({c.out_channels, c.in_channels / c.group, 3, 3});
    const Tensor b = Random({c.out_channels});
    const auto plain = Run(
        absl::StrCat("graph \"p\" (%x, %w, %b) -> (%y) { %y = Conv(%x, %w, %b) {group = ", c.group,
                     ", ", c.attributes, "} }"),
        {x, w, b});
    ASSERT_OK(plain.status());

    Tensor packed = PackWeights(w, c.in_block, c.out_block);
    std::string pack = absl::StrCat("%p = slipway.Pack(%x) {block = ", c.in_block, "}");
    if (c.in_block == 1) {
      // A plain x: w has no dimension for blocks of input channels.
      const Shape& s = packed.shape();
      packed = *packed.Reshaped({s[0], s[1], s[2], s[3], s[5]});
      pack = "%p = Identity(%x)";
    }
    const auto blocked = Run(absl::StrCat("graph \"b\" (%x, %w, %b) -> (%y) {\n", pack,
                                          "\n%c = slipway.ConvNCHWc(%p, %w, %b) {group = ", c.group,
                                          ", ", c.attributes, "}\n%y = slipway.Unpack(%c)\n}"),
                             {x, packed, b});
    ASSERT_OK(blocked.status());
    EXPECT_OK(CheckClose((*blocked)[0], (*plain)[0], {1e-5, 1e-5}));
  }
}

TEST_F(ReferenceTest, BlockedDepthwiseConvolutionIsTheConvolution) {
  const Tensor x = Random({2, 8, 9, 7});
  const Tensor w = Random({8, 1, 3, 3});
  const Tensor b = Random({8});
  const char* attributes = "pads = [1, 0, 1, 1], strides = [2, 1]";
  const auto plain = Run(absl::StrCat("graph \"p\" (%x, %w, %b) -> (%y) {"
                                      " %y = Conv(%x, %w, %b) {group = 8, ",
                                      attributes, "} }"),
                         {x, w, b});
  ASSERT_OK(plain.status());
  Tensor packed = Tensor::Zeros(DataType::kFloat32, {2, 3, 3, 4});
  for (int64_t c = 0; c < 8; ++c) {
    for (int64_t k = 0; k < 9; ++k) {
      packed.mutable_values<float>()[(c / 4 * 9 + k) * 4 + c % 4] = w.values<float>()[c * 9 + k];
    }
  }
  const auto blocked = Run(absl::StrCat("graph \"b\" (%x, %w, %b) -> (%y) {\n"
                                        "%p = slipway.Pack(%x) {block = 4}\n"
                                        "%c = slipway.DepthwiseConvNCHWc(%p, %w, %b) {",
                                        attributes, "}\n%y = slipway.Unpack(%c) {block = 4}\n}"),
                           {x, packed, b});
  ASSERT_OK(blocked.status());
  EXPECT_OK(CheckClose((*blocked)[0], (*plain)[0], {1e-5, 1e-5}));
}

TEST_F(ReferenceTest, WinogradsConvolutionIsTheConvolution) {
  const Tensor x = Random({2, 8, 9, 7});
  const Tensor w = Random({12, 8, 3, 3});
  const Tensor b = Random({12});
  for (const kernels::WinogradMatrices& matrices : kernels::kWinograd) {
    const char* attributes = "pads = [1, 0, 2, 1]";
    const auto plain = Run(absl::StrCat("graph \"p\" (%x, %w, %b) -> (%y) {"
                                        " %y = Conv(%x, %w, %b) {",
                                        attributes, "} }"),
                           {x, w, b});
    ASSERT_OK(plain.status());
    const int64_t t = matrices.tile;
    Tensor transformed = Tensor::Zeros(DataType::kFloat32, {t, t, 3, 2, 4, 4});
    for (int64_t co = 0; co < 12; ++co) {
      for (int64_t ci = 0; ci < 8; ++ci) {
        const int64_t at = ((co / 4 * 2 + ci / 4) * 4 + ci % 4) * 4 + co % 4;
        kernels::TransformWinogradWeights(
            matrices, /*count=*/1, &w.values<float>()[(co * 8 + ci) * 9], /*w_stride=*/1,
            &transformed.mutable_values<float>()[at], /*transformed_stride=*/3 * 2 * 4 * 4);
      }
    }
    const auto tiled = Run(absl::StrCat("graph \"b\" (%x, %w, %b) -> (%y) {\n"
                                        "%p = slipway.Pack(%x) {block = 4}\n"
                                        "%c = slipway.WinogradConvNCHWc(%p, %w, %b) {",
                                        attributes, "}\n%y = slipway.Unpack(%c) {block = 4}\n}"),
                           {x, transformed, b});
    ASSERT_OK(tiled.status());
    EXPECT_OK(CheckClose((*tiled)[0], (*plain)[0], {1e-5, 2e-5})) << matrices.outputs;
  }
}

TEST_F(ReferenceTest, BlockedPoolsAreThePools) {
  const Tensor x = Random({1, 8, 9, 7});
  for (const char* pool : {"MaxPool", "AveragePool"}) {
    const char* attributes =
        "{kernel_shape = [3, 2], pads = [1, 1, 1, 0], strides = [2, 2], ceil_mode = 1}";
    const auto plain =
        Run(absl::StrCat("graph \"p\" (%x) -> (%y) { %y = ", pool, "(%x) ", attributes, "}"), {x});
    ASSERT_OK(plain.status());
    const auto blocked =
        Run(absl::StrCat("graph \"b\" (%x) -> (%y) {\n%p = slipway.Pack(%x) {block = 4}\n",
                         "%c = slipway.", pool, "NCHWc(%p) ", attributes,
                         "\n%y = slipway.Unpack(%c)\n}"),
            {x});
    ASSERT_OK(blocked.status());
    EXPECT_OK(CheckClose((*blocked)[0], (*plain)[0], {1e-6, 1e-6}));
  }
}

TEST_F(ReferenceTest, PackedGemmIsTheGemm) {
  const Tensor x = Random({3, 5});
  const Tensor w = Random({5, 6});
  const Tensor b = Random({6});
  const auto plain = Run("graph \"p\" (%x, %w, %b) -> (%y) { %y = Gemm(%x, %w, %b) }", {x, w, b});
  ASSERT_OK(plain.status());
  Tensor packed = Tensor::Zeros(DataType::kFloat32, {2, 5, 4});  // 6 columns in blocks of 4.
  for (int64_t k = 0; k < 5; ++k) {
    for (int64_t n = 0; n < 6; ++n) {
      packed.mutable_values<float>()[(n / 4 * 5 + k) * 4 + n % 4] = w.values<float>()[k * 6 + n];
    }
  }
  const auto blocked =
      Run("graph \"b\" (%x, %w, %b) -> (%y) {"
          " %y = slipway.GemmPacked(%x, %w, %b) {columns = 6} }",
          {x, packed, b});
  ASSERT_OK(blocked.status());
  EXPECT_OK(CheckClose((*blocked)[0], (*plain)[0], {1e-6, 1e-6}));
}

// The same numbers as i32, in pairs of 16 bits and in fours of 8.
TEST_F(ReferenceTest, ProductsOfSmallIntegersAreTheProducts) {
  const std::vector<int32_t> x = {1, 255, 0, 17, 200, 3, 90, 8};               // [2, 4]
  const std::vector<int32_t> w = {-128, 127, 5, 1, 2, 3, -7, 0, 90, 4, 4, 4};  // [4, 3]
  const std::vector<int32_t> bias = {100, -3, 7};
  const auto wide = Run("graph \"p\" (%x, %w) -> (%y) { %y = MatMul(%x, %w) }",
                        {Tensor::Of<int32_t>({2, 4}, x), Tensor::Of<int32_t>({4, 3}, w)});
  ASSERT_OK(wide.status());
  // 3 columns in blocks of 2, so many terms together.
  const auto packed = [&w](int64_t terms) {
    std::vector<int32_t> to;
    for (int64_t block = 0; block < 2; ++block) {
      for (int64_t step = 0; step < 4; step += terms) {
        for (int64_t column = block * 2; column < block * 2 + 2; ++column) {
          for (int64_t k = step; k < step + terms; ++k) {
            to.push_back(column < 3 ? w[static_cast<size_t>(k * 3 + column)] : 0);
          }
        }
      }
    }
    return to;
  };
  const auto as = []<typename T>(T, Shape shape, const std::vector<int32_t>& from) {
    return Tensor::Of<T>(std::move(shape), std::vector<T>(from.begin(), from.end()));
  };
  const auto shorts = Run("graph \"s\" (%x, %w) -> (%y) { %y = slipway.IntegerGemm(%x, %w) }",
                          {as(int16_t{}, {2, 4}, x), as(int16_t{}, {4, 3}, w)});
  ASSERT_OK(shorts.status());
  EXPECT_EQ((*shorts)[0].bytes(), (*wide)[0].bytes());
  const auto pairs =
      Run("graph \"s\" (%x, %w) -> (%y) { %y = slipway.GemmPacked(%x, %w) {columns = 3} }",
          {as(int16_t{}, {2, 4}, x), as(int16_t{}, {2, 2, 2, 2}, packed(2))});
  ASSERT_OK(pairs.status());
  EXPECT_EQ((*pairs)[0].bytes(), (*wide)[0].bytes());
  const auto bytes =
      Run("graph \"s\" (%x, %w, %b) -> (%y) { %y = slipway.GemmPacked(%x, %w, %b) {columns = 3} }",
          {as(uint8_t{}, {2, 4}, x), as(int8_t{}, {2, 1, 2, 4}, packed(4)),
           Tensor::Of<int32_t>({3}, bias)});
  ASSERT_OK(bytes.status());
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ((*bytes)[0].values<int32_t>()[i], (*wide)[0].values<int32_t>()[i] + bias[i % 3]);
  }
}

// 5 rows of 6 steps, 8 columns in blocks of 2; the same weights by the sums that the definition asks for.
TEST_F(ReferenceTest, ProductsOfHalvesAreTheProducts) {
  const Tensor x = Random({5, 6});
  const Tensor w = Random({6, 8});
  const Tensor b = Random({8});
  const auto plain = Run("graph \"p\" (%x, %w, %b) -> (%y) { %y = Gemm(%x, %w, %b) }", {x, w, b});
  ASSERT_OK(plain.status());
  Tensor sums = Tensor::Zeros(DataType::kFloat32, {2, 7, 3, 2});
  float* next = sums.mutable_values<float>().data();
  for (int64_t pair = 0; pair < 2; ++pair) {
    for (const auto& row : kStrassen.right) {
      for (int64_t step = 0; step < 3; ++step) {
        for (int64_t c = 0; c < 2; ++c, ++next) {
          for (int64_t q = 0; q < kStrassenQuarters; ++q) {
            const int64_t k = q / 2 * 3 + step, column = (pair * 2 + q % 2) * 2 + c;
            *next += static_cast<float>(row[q]) * w.values<float>()[k * 8 + column];
          }
        }
      }
    }
  }
  const auto halved = Run(
      "graph \"h\" (%x, %w, %b) -> (%y) { %y = slipway.StrassenGemm(%x, %w, %b) }", {x, sums, b});
  ASSERT_OK(halved.status());
  EXPECT_OK(CheckClose((*halved)[0], (*plain)[0], {1e-5, 1e-5}));
}

TEST_F(ReferenceTest, FusedGroupsAreTheirBodies) {
  const auto outputs =
      Run("graph \"g\" (%x: f32[2]) -> (%a, %b) {\n"
          "  %a, %b = slipway.Fused(%x) {body = graph \"body\" (%i: f32[2]) -> (%p, %q) {\n"
          "    const %one: f32[] = {1}\n"
          "    %p = Add(%i, %one) : f32[2]\n    %q = Relu(%p) : f32[2]\n  }} : f32[2], "
          "f32[2]\n}",
          {Tensor::Of<float>({2}, {-3, 3})});
  ASSERT_OK(outputs.status());
  EXPECT_THAT((*outputs)[0].values<float>(), ElementsAre(-2, 4));
  EXPECT_THAT((*outputs)[1].values<float>(), ElementsAre(0, 4));
}

TEST_F(ReferenceTest, EmptyTensorsAreFine) {
  const std::string x = "const %x: f32[0, 3] = {}";
  EXPECT_THAT(Floats(x, "Relu(%x)"), ElementsAre());
  EXPECT_THAT(Floats(x, "Softmax(%x)"), ElementsAre());
  EXPECT_THAT(Floats(x, "ReduceSum(%x)"), ElementsAre(0));
  EXPECT_THAT(Floats(x + " const %w: f32[3, 2] = {1, 2, 3, 4, 5, 6}", "MatMul(%x, %w)"),
              ElementsAre());
  EXPECT_THAT(Floats(x + " const %z: f32[1, 3] = {1, 2, 3}", "Concat(%x, %z) {axis = 0}"),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(Floats(x, "Transpose(%x)"), ElementsAre());
}

TEST_F(ReferenceTest, TopKOrdersEqualOnesByPlaceAndNanAsLargest) {
  const std::string x = "const %x: f32[2, 4] = {3, 1, 3, nan, 2, 2, 1, 2}\nconst %k: i64[1] = {3}";
  EXPECT_THAT(Floats(x, "Identity(%x)"), ::testing::SizeIs(8));
  const auto graph = [&](const char* attributes) {
    return absl::StrCat("graph \"t\" () -> (%y, %i) {\n", x, "\n%y, %i = TopK(%x, %k) {",
                        attributes, "}\n}");
  };
  const auto indices = [](const absl::StatusOr<std::vector<Tensor>>& outputs) {
    EXPECT_OK(outputs.status());
    if (!outputs.ok()) return std::vector<int64_t>();
    const auto values = (*outputs)[1].values<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  };
  EXPECT_THAT(indices(Run(graph("axis = -1"))), ElementsAre(3, 0, 2, 0, 1, 3));
  EXPECT_THAT(indices(Run(graph("largest = 0"))), ElementsAre(1, 0, 2, 2, 0, 1));
}

TEST_F(ReferenceTest, RefusesMoreThanThereIs) {
  EXPECT_THAT(
      Node("const %x: f32[2] = {1, 2}\nconst %k: i64[1] = {3}", "TopK(%x, %k)").status().message(),
      HasSubstr("\"k\" is 3, axis 0 has 2 elements"));
}

}  // namespace
}  // namespace slipway
