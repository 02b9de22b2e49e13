#include "core/passes/gradient_pass.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/graph/edit.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/passes/gradients/register_all.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::RandomInputs;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Every operator with a rule: the inputs, constants and node (%y is derived). Inputs are normal; what must lie
// elsewhere is moved there first.
struct Case {
  const char* inputs;
  const char* body;
};
constexpr char kX[] = "%x: f64[2, 3]";
constexpr char kXZ[] = "%x: f64[2, 3], %z: f64[3]";
constexpr char kImage[] = "%x: f64[2, 4, 5, 6]";
const Case kCases[] = {
    // Arithmetic, with what is broadcast.
    {kXZ, "%y = Add(%x, %z)"},
    {kXZ, "%y = Sub(%z, %x)"},
    {kXZ, "%y = Mul(%x, %z)"},
    {kXZ, "%y = Div(%x, %z)"},
    {kXZ, "%y = Sum(%x, %z, %x)"},
    {kXZ, "%y = Mean(%x, %z)"},
    {kXZ, "%y = Max(%x, %z)"},
    {kXZ, "%y = Min(%x, %z)"},
    {kXZ, "%p = Exp(%x)\n %y = Pow(%p, %z)"},
    {kXZ, "%y = Mod(%x, %z) {fmod = 1}"},
    // Elementwise.
    {kX, "%y = Abs(%x)"},
    {kX, "%u = Tanh(%x)\n %y = Acos(%u)"},
    {kX, "%e = Exp(%x)\n const %one: f64[] = {1.5}\n %u = Add(%e, %one)\n %y = Acosh(%u)"},
    {kX, "%u = Tanh(%x)\n %y = Asin(%u)"},
    {kX, "%y = Asinh(%x)"},
    {kX, "%y = Atan(%x)"},
    {kX, "%u = Tanh(%x)\n %y = Atanh(%u)"},
    {"%x: f64[2, 3]", "const %k: f64[3] = {1, 2, 3}\n %s = Mul(%x, %k)\n %y = Cast(%s) {to = 11}"},
    {"%x: f64[9], %l: f64[], %h: f64[]",
     "const %a: f64[] = {0.7}\n const %c: f64[] = {0.1}\n %t = Mul(%l, %c)\n %u = Sub(%t, %a)\n"
     "%v = Mul(%h, %c)\n %w = Add(%v, %a)\n %y = Clip(%x, %u, %w)"},
    {kX, "%y = Cos(%x)"},
    {kX, "%y = Cosh(%x)"},
    {kX, "%y = Dropout(%x)"},
    {kX, "%y = Elu(%x) {alpha = 0.7}"},
    {kX, "%y = Erf(%x)"},
    {kX, "%y = Exp(%x)"},
    {kX, "%y = HardSigmoid(%x) {alpha = 0.4}"},
    {"%x: f64[20]", "const %k: f64[] = {3}\n %u = Mul(%x, %k)\n %y = HardSwish(%u)"},
    {kX, "%y = Identity(%x)"},
    {kX, "%y = slipway.Again(%x)"},
    {kX, "%y = LeakyRelu(%x) {alpha = 0.1}"},
    {kX, "%u = Exp(%x)\n %y = Log(%u)"},
    {kX, "%y = Neg(%x)"},
    {kX, "%y = Reciprocal(%x)"},
    {kX, "%y = Relu(%x)"},
    {kX, "%y = Sigmoid(%x)"},
    {kX, "%y = Sin(%x)"},
    {kX, "%y = Sinh(%x)"},
    {kX, "%u = Exp(%x)\n %y = Sqrt(%u)"},
    {kX, "%y = Tan(%x)"},
    {kX, "%y = Tanh(%x)"},
    {kXZ, "const %c: bool[2, 1] = {true, false}\n %y = Where(%c, %x, %z)"},
    // Activations.
    {kX, "%y = Celu(%x) {alpha = 0.7}"},
    {kX, "%y = Gelu(%x)"},
    {kX, "%y = Gelu(%x) {approximate = \"tanh\"}"},
    {kX, "%y = Mish(%x)"},
    {kXZ, "%y = PRelu(%x, %z)"},
    {kX, "%y = Selu(%x)"},
    {kX, "%y = Shrink(%x) {bias = 0.3, lambd = 0.4}"},
    {kX, "%y = Softplus(%x)"},
    {kX, "%y = Softsign(%x)"},
    {kX, "%y = Swish(%x) {alpha = 1.5}"},
    {kX, "%y = ThresholdedRelu(%x) {alpha = 0.2}"},
    // Reductions.
    {kX, "const %a: i64[] = {1}\n %y = CumSum(%x, %a) {exclusive = 1}"},
    {kX, "%y = ReduceL1(%x)"},
    {kX, "const %a: i64[1] = {1}\n %y = ReduceL2(%x, %a)"},
    {kX, "const %a: i64[1] = {1}\n %e = Exp(%x)\n %y = ReduceLogSum(%e, %a) {keepdims = 0}"},
    {kX, "const %a: i64[1] = {1}\n %y = ReduceLogSumExp(%x, %a)"},
    {kX, "const %a: i64[1] = {-1}\n %y = ReduceMax(%x, %a)"},
    {kX, "const %a: i64[1] = {0}\n %y = ReduceMean(%x, %a) {keepdims = 0}"},
    {kX, "const %a: i64[1] = {0}\n %y = ReduceMin(%x, %a)"},
    {kX, "const %a: i64[1] = {1}\n %y = ReduceProd(%x, %a) {keepdims = 0}"},
    {kX, "%y = ReduceSum(%x)"},
    {kX, "const %a: i64[1] = {1}\n %y = ReduceSumSquare(%x, %a)"},
    // Matrices.
    {"%x: f64[2, 3], %z: f64[3, 4], %c: f64[4]", "%y = Gemm(%x, %z, %c) {alpha = 0.5, beta = 2.0}"},
    {"%x: f64[3, 2], %z: f64[4, 3]", "%y = Gemm(%x, %z) {transA = 1, transB = 1}"},
    {"%x: f64[3, 2], %z: f64[3, 4]", "%y = Gemm(%x, %z) {transA = 1}"},
    {"%x: f64[2, 3], %z: f64[4, 3]", "%y = Gemm(%x, %z) {transB = 1}"},
    {"%x: f64[2, 1, 2, 3], %z: f64[4, 3, 2]", "%y = MatMul(%x, %z)"},
    {"%x: f64[3], %z: f64[4, 3, 2]", "%y = MatMul(%x, %z)"},
    {"%x: f64[4, 2, 3], %z: f64[3]", "%y = MatMul(%x, %z)"},
    {"%x: f64[3], %z: f64[3]", "%y = MatMul(%x, %z)"},
    // Convolutions: strides that leave a rest, dilations, groups, uneven pads, one and three dimensions.
    {"%x: f64[2, 4, 5, 6], %w: f64[6, 2, 3, 2], %b: f64[6]",
     "%y = Conv(%x, %w, %b) {group = 2, strides = [2, 3], pads = [1, 0, 2, 1], dilations = [1, "
     "2]}"},
    {"%x: f64[1, 2, 7], %w: f64[3, 2, 2]", "%y = Conv(%x, %w) {strides = [3]}"},
    {"%x: f64[1, 2, 3, 3, 4], %w: f64[2, 1, 2, 2, 2]", "%y = Conv(%x, %w) {group = 2}"},
    {"%x: f64[1, 2, 4, 4], %w: f64[2, 2, 3, 3]", "%y = Conv(%x, %w) {auto_pad = \"SAME_UPPER\"}"},
    {"%x: f64[2, 4, 3, 3], %w: f64[4, 3, 2, 3], %b: f64[6]",
     "%y = ConvTranspose(%x, %w, %b) {group = 2, strides = [2, 2], pads = [0, 1, 1, 0], "
     "output_padding = [1, 0]}"},
    {"%x: f64[1, 2, 5], %w: f64[2, 3, 3]", "%y = ConvTranspose(%x, %w) {dilations = [2]}"},
    // Pools.
    {kImage, "%y = MaxPool(%x) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 0, 0]}"},
    {kImage, "%y = AveragePool(%x) {kernel_shape = [3, 2], strides = [2, 2], pads = [1, 1, 1, 0]}"},
    {kImage,
     "%y = AveragePool(%x) {kernel_shape = [2, 2], count_include_pad = 1, pads = [1, 1, 0, 0]}"},
    {kImage, "%y = GlobalAveragePool(%x)"},
    {kImage, "%y = GlobalMaxPool(%x)"},
    // Normalizations.
    {"%x: f64[3, 2, 4], %s: f64[2], %b: f64[2], %m: f64[2], %r: f64[2]",
     "%v = Exp(%r)\n %y = BatchNormalization(%x, %s, %b, %m, %v) {epsilon = 0.1}"},
    {"%x: f64[3, 2, 4], %s: f64[2], %b: f64[2]",
     "const %m: f64[2] = {0, 0}\n const %v: f64[2] = {1, 1}\n"
     "%y, %n, %o = BatchNormalization(%x, %s, %b, %m, %v) {training_mode = 1}"},
    {"%x: f64[2, 4, 3], %s: f64[4], %b: f64[4]",
     "%y = GroupNormalization(%x, %s, %b) {num_groups = 2}"},
    {"%x: f64[2, 3, 4], %s: f64[3], %b: f64[3]", "%y = InstanceNormalization(%x, %s, %b)"},
    {"%x: f64[2, 3, 4], %s: f64[4], %b: f64[4]", "%y = LayerNormalization(%x, %s, %b)"},
    {"%x: f64[2, 3, 4], %s: f64[3, 4]", "%y = RMSNormalization(%x, %s) {axis = 1}"},
    {kX, "%y = LogSoftmax(%x)"},
    {kX, "%y = LpNormalization(%x) {p = 1}"},
    {kX, "%y = LpNormalization(%x) {axis = 0}"},
    {"%x: f64[2, 3, 2, 2]", "%y = MeanVarianceNormalization(%x)"},
    {kX, "%y = Softmax(%x) {axis = 0}"},
    // Losses.
    {"%x: f64[2, 3, 2]",
     "const %l: i64[2, 2] = {0, 2, 1, 1}\n %y = SoftmaxCrossEntropyLoss(%x, %l)"},
    {kX, "const %l: i64[2] = {0, 2}\n %y = SoftmaxCrossEntropyLoss(%x, %l) {reduction = \"none\"}"},
    {kX,
     "const %l: i64[2] = {0, 2}\n %y = NegativeLogLikelihoodLoss(%x, %l) {reduction = \"sum\"}"},
    // Indexing.
    {"%x: f64[2, 4, 3]", "const %i: i64[2, 2] = {0, 3, 3, -1}\n %y = Gather(%x, %i) {axis = 1}"},
    {kX, "const %i: i64[] = {1}\n %y = Gather(%x, %i)"},
    {kX, "const %i: i64[2, 2] = {0, 1, 1, 1}\n %y = GatherElements(%x, %i)"},
    {kX, "const %i: i64[3, 1] = {0, 1, 1}\n %y = GatherND(%x, %i)"},
    {"%x: f64[2, 3], %u: f64[1, 2]",
     "const %i: i64[1, 2] = {1, 0}\n %y = ScatterElements(%x, %i, %u)"},
    {"%x: f64[2, 3], %u: f64[2, 2]",
     "const %i: i64[2, 2] = {1, 0, 1, 0}\n %y = ScatterElements(%x, %i, %u) {reduction = \"add\"}"},
    {"%x: f64[4, 2], %u: f64[2, 2]", "const %i: i64[2, 1] = {3, 1}\n %y = ScatterND(%x, %i, %u)"},
    {kX, "const %k: i64[1] = {2}\n %y, %i = TopK(%x, %k)"},
    // Movement.
    {kXZ, "const %s: i64[2] = {1, 3}\n %r = Reshape(%z, %s)\n %y = Concat(%x, %r) {axis = 0}"},
    {"%x: f64[1, 8, 2, 2]", "%y = DepthToSpace(%x) {blocksize = 2, mode = \"CRD\"}"},
    {"%x: f64[1, 2, 2, 4]", "%y = SpaceToDepth(%x) {blocksize = 2}"},
    {"%x: f64[2, 1]", "const %s: i64[3] = {3, 1, 4}\n %y = Expand(%x, %s)"},
    {"%x: f64[2, 3, 4]", "%y = Flatten(%x) {axis = 2}"},
    {"%x: f64[2, 3], %v: f64[]", "const %p: i64[4] = {1, -1, 0, 2}\n %y = Pad(%x, %p, %v)"},
    {kX, "const %s: i64[2] = {3, 2}\n %y = Reshape(%x, %s)"},
    {"%x: f64[3, 2]", "const %l: i64[2] = {3, 2}\n %y = ReverseSequence(%x, %l)"},
    {"%x: f64[5, 6]",
     "const %b: i64[2] = {1, -1}\n const %e: i64[2] = {4, -6}\n const %a: i64[2] = {0, 1}\n"
     "const %t: i64[2] = {1, -2}\n %y = Slice(%x, %b, %e, %a, %t)"},
    {"%x: f64[5, 6]", "const %b: i64[1] = {1}\n const %e: i64[1] = {4}\n %y = Slice(%x, %b, %e)"},
    {"%x: f64[2, 5]",
     "%a, %b = Split(%x) {axis = 1, num_outputs = 2}\n %s = Sin(%a)\n %y = Concat(%b, %s) {axis = "
     "1}"},
    {"%x: f64[2, 5]", "%y, %b = Split(%x) {axis = 1, num_outputs = 2}"},
    {"%x: f64[1, 3]", "%y = Squeeze(%x)"},
    {kX, "const %r: i64[2] = {2, 3}\n %y = Tile(%x, %r)"},
    {"%x: f64[2, 3, 4]", "%y = Transpose(%x) {perm = [2, 0, 1]}"},
    {"%x: f64[3, 3]", "%y = Trilu(%x) {upper = 0}"},
    {kX, "const %a: i64[1] = {1}\n %y = Unsqueeze(%x, %a)"},
    // Control flow: a branch, states and slices, a number of turns that is known.
    {"%x: f64[2, 3], %z: f64[3], %c: f64[]",
     R"(const %zero: f64[] = {0}
     %positive = Greater(%c, %zero)
     %a, %b = If(%positive, %x, %z, %c) {captures = 3,
       then_branch = graph "t" (%x, %z, %c) -> (%p, %q) { %p = Mul(%x, %z)  %q = Sin(%p) },
       else_branch = graph "e" (%x, %z, %c) -> (%q, %x) { %q = Mul(%x, %c) } }
     %y = Mul(%a, %b))"},
    {"%x: f64[2, 3], %z: f64[3], %c: f64[]",
     R"(const %zero: f64[] = {0}
     %negative = Less(%c, %zero)
     %y = If(%negative, %x, %z) {captures = 2,
       then_branch = graph "t" (%x, %z) -> (%p) { %p = Mul(%x, %z) },
       else_branch = graph "e" (%x, %z) -> (%q) { %q = Exp(%x) } })"},
    {"%h: f64[3], %u: f64[2, 4], %v: f64[4, 2], %w: f64[2, 3]",
     R"(%last, %all, %other = Scan(%h, %u, %v, %w) {num_scan_inputs = 2, captures = 1,
       scan_input_axes = [1, 0], scan_input_directions = [1, 0],
       scan_output_axes = [-1, 0], scan_output_directions = [0, 1],
       body = graph "cell" (%h, %a, %b, %w) -> (%next, %made, %sum) {
         %sum = Add(%a, %b)
         %p = MatMul(%sum, %w)
         %s = Mul(%p, %h)
         %next = Tanh(%s)
         %made = Mul(%next, %h) } }
     const %lots: i64[2] = {1, 12}
     %r = Reshape(%all, %lots)
     const %few: i64[2] = {1, 8}
     %q = Reshape(%other, %few)
     const %front: i64[1] = {0}
     %t = Unsqueeze(%last, %front)
     %y = Concat(%r, %q, %t) {axis = 1})"},
    {"%x: f64[3], %w: f64[3]",
     R"(const %turns: i64[] = {4}
     const %go: bool[] = {true}
     const %count: i64[] = {0}
     %u, %n, %all = Loop(%turns, %go, %x, %count, %w) {captures = 1,
       body = graph "loop" (%i, %on, %v, %n, %w) -> (%on, %next, %m, %sin) {
         %t = Cast(%i) {to = 11}
         %m = Add(%n, %i)
         %f = Cast(%m) {to = 11}
         %a = Mul(%v, %w)
         %b = Add(%a, %t)
         %c = Add(%b, %f)
         %next = Sin(%c)
         %sin = Sin(%v) } }
     const %front: i64[1] = {0}
     %s = Unsqueeze(%u, %front)
     %y = Concat(%s, %all) {axis = 0})"},
    {"%x: f64[3], %u: f64[4, 3]",
     R"(const %zero: f64[] = {0}
     %y = Scan(%x, %u) {num_scan_inputs = 1,
       body = graph "cell" (%h, %a) -> (%next) {
         const %zero: f64[] = {0}
         %total = ReduceSum(%a) {keepdims = 0}
         %positive = Greater(%total, %zero)
         %next = If(%positive, %h, %a) {captures = 2,
           then_branch = graph "t" (%h, %a) -> (%p) { %p = Mul(%h, %a) },
           else_branch = graph "e" (%h, %a) -> (%q) { %q = Sub(%h, %a) } } } })"},
    // A value that is read more than once, and one that does not matter.
    {kXZ, "%s = Sin(%x)\n %p = Mul(%s, %x)\n %y = Add(%p, %s)"},
};

class GradientTest : public ::testing::Test {
 protected:
  // One number: the outputs' sum, each element times a number of its own.
  static void WeighOutput(Graph& graph) {
    UniqueNames names(graph);
    const ValueId y = graph.outputs[0];
    Tensor weights = Tensor::Zeros(DataType::kFloat64, graph.values[y].type->shape());
    double next = 0.3;
    for (double& weight : weights.mutable_values<double>()) {
      weight = next;
      next = std::fmod(next * 1.7 + 0.37, 2) - 0.6;
    }
    const ValueId w = graph.AddConstant(names.Make("weights"), std::move(weights));
    const ValueId product = graph.AddValue(names.Make("product"), graph.values[y].type);
    const ValueId loss = graph.AddValue("loss", TensorType{DataType::kFloat64, {}});
    graph.nodes.push_back({"", "Mul", {y, w}, {product}, {}});
    graph.nodes.push_back({"", "ReduceSum", {product}, {loss}, {{"keepdims", int64_t{0}}}});
    graph.outputs = {loss};
  }

  // Numbers between -1.5 and 1.5, no two alike.
  static std::vector<Tensor> Inputs(const Graph& graph) {
    std::vector<Tensor> inputs;
    double next = 0.31;
    for (const ValueId id : graph.inputs) {
      inputs.push_back(Tensor::Zeros(DataType::kFloat64, graph.values[id].type->shape()));
      for (double& element : inputs.back().mutable_values<double>()) {
        next = std::fmod(next + 0.6180339887, 1);
        element = 3 * next - 1.5;
      }
    }
    return inputs;
  }

  absl::StatusOr<Graph> Derive(absl::string_view text, const GradientOptions& options = {}) {
    auto graph = tester_.Parse(text);
    if (!graph.ok()) return graph;
    return Gradient(*std::move(graph), options, rules_, tester_.context());
  }

  void CheckAgainstDifferences(const Case& row) {
    ASSERT_OK_AND_ASSIGN(
        Graph graph,
        tester_.Parse(absl::StrCat("graph \"g\" (", row.inputs, ") -> (%y) {\n", row.body, "\n}")));
    for (const Node& node : graph.nodes) derived_.insert(node.op);
    WeighOutput(graph);
    GradientOptions options;
    for (const ValueId id : graph.inputs) options.with_respect_to.push_back(graph.values[id].name);
    const std::vector<Tensor> inputs = Inputs(graph);
    const auto trained = Gradient(graph, options, rules_, tester_.context());
    ASSERT_OK(trained.status());
    ASSERT_OK(Verify(*trained, tester_.registry(), {.require_types = true}));
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> results,
                         tester_.reference().Evaluate(*trained, inputs));
    constexpr double kStep = 1e-5;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto gradient = results[i + 1].values<double>();
      for (int64_t e = 0; e < inputs[i].num_elements(); ++e) {
        double difference = 0;
        for (const double sign : {1.0, -1.0}) {
          std::vector<Tensor> moved = inputs;
          moved[i] = *Tensor::FromBytes(inputs[i].type(), inputs[i].bytes());
          moved[i].mutable_values<double>()[e] += sign * kStep;
          ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> loss,
                               tester_.reference().Evaluate(graph, moved));
          difference += sign * loss[0].values<double>()[0];
        }
        difference /= 2 * kStep;
        ASSERT_NEAR(gradient[e], difference, 1e-6 * std::max(1.0, std::abs(difference)))
            << "input " << i << " element " << e << "\n"
            << Print(*trained);
      }
    }
  }

  const PassTester tester_;
  const GradientColumn rules_ = StandardGradients();
  std::set<std::string> derived_;
};

TEST_F(GradientTest, EveryRuleAgreesWithFiniteDifferences) {
  for (const Case& row : kCases) {
    SCOPED_TRACE(row.body);
    CheckAgainstDifferences(row);
  }
  for (const std::string& op : rules_.Names()) {
    ASSERT_NE(tester_.registry().Find(op), nullptr) << op;
    if (derived_.contains(op)) continue;
    // What has a rule and no case above is flat: it gives nothing.
    const std::set<std::string> flat = {
        "And",     "ArgMax",  "ArgMin", "Ceil",    "ConstantOfShape",
        "Equal",   "EyeLike", "Floor",  "Greater", "GreaterOrEqual",
        "Hardmax", "IsInf",   "IsNaN",  "Less",    "LessOrEqual",
        "NonZero", "Not",     "Or",     "Round",   "Shape",
        "Sign",    "Size",    "Xor"};
    EXPECT_TRUE(flat.contains(op)) << op << " has a rule that no case tests";
  }
}

TEST_F(GradientTest, AddsAnOutputForEachValue) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, Derive(R"(graph "g" (%x: f32[2], %n: i64[1]) -> (%y, %z) {
    const %w: f32[2] = {3, 4}
    %y = Mul(%x, %w)
    %z = Relu(%y)
  })"));
  ASSERT_EQ(graph.outputs.size(), 4u);
  EXPECT_EQ(graph.values[graph.outputs[2]].name, "x_gradient");
  EXPECT_EQ(graph.values[graph.outputs[3]].name, "w_gradient");
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> results,
                       tester_.reference().Evaluate(
                           graph, {Tensor::Of<float>({2}, {5, 6}), Tensor::Of<int64_t>({1}, {0})}));
  EXPECT_THAT(results[2].values<float>(), ::testing::ElementsAre(3, 4));
  EXPECT_THAT(results[3].values<float>(), ::testing::ElementsAre(5, 6));
}

TEST_F(GradientTest, WhatDoesNotMatterHasGradientZero) {
  constexpr char kText[] = R"(graph "g" (%x: f32[2], %u: f32[3]) -> (%y) {
    %f = Floor(%x)
    %y = Exp(%f)
  })";
  ASSERT_OK_AND_ASSIGN(const Graph graph, Derive(kText));
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> results,
                       tester_.reference().Evaluate(graph, RandomInputs(graph, 1)));
  EXPECT_THAT(results[1].values<float>(), ::testing::Each(0));
  EXPECT_THAT(results[2].values<float>(), ::testing::Each(0));
}

TEST_F(GradientTest, ZerosOfLargeValuesAreNotWritten) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, Derive(R"(graph "g" (%x: f32[1000, 1000000]) -> (%y) {
    const %i: i64[] = {1}
    %y = Gather(%x, %i)
  })"));
  for (const Value& value : graph.values) {
    if (value.constant.has_value()) EXPECT_LT(value.constant->byte_size(), 5000) << value.name;
  }
}

TEST_F(GradientTest, NamesWhatHasNone) {
  const auto lacks = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(std::string(what)));
  };
  EXPECT_THAT(Derive(R"(graph "g" (%x: f32[1, 2, 4]) -> (%y) {
                const %s: f32[3] = {1, 1, 2}
                %y = Resize "up" (%x, _, %s) })"),
              lacks("node \"up\" (Resize): the operator has no gradient"));
  EXPECT_THAT(Derive(R"(graph "g" (%x: f32[2, 3]) -> (%y) {
                const %p: i64[4] = {1, 0, 0, 0}
                %y = Pad "edges" (%x, %p) {mode = "edge"} })"),
              lacks("\"mode\" other than constant"));
  EXPECT_THAT(Derive(R"(graph "g" (%x: f32[2], %n: i64[]) -> (%y) {
                const %go: bool[] = {true}
                %y = Loop "turns" (%n, %go, %x) {body = graph "b" (%i, %on, %v) -> (%on, %w) {
                  %w = Sin(%v) } } })"),
              lacks("node \"turns\" (Loop): no gradient: how many turns"));
  EXPECT_THAT(Derive(R"(graph "g" (%x: f32[2]) -> (%y) {
                const %n: i64[] = {9223372036854775807}
                const %go: bool[] = {true}
                %y = Loop "turns" (%n, %go, %x) {body = graph "b" (%i, %on, %v) -> (%on, %w) {
                  %w = Sin(%v) } } })"),
              lacks("9223372036854775807 turns, more than the limit of 1048576"));
  EXPECT_THAT(Derive(R"(graph "g" (%x: f32[1, 2, 4], %c: bool[]) -> (%y) {
                %y = If "which" (%c, %x) {captures = 1,
                  then_branch = graph "t" (%x) -> (%z) {
                    const %s: f32[3] = {1, 1, 1}
                    %z = Resize "up" (%x, _, %s) },
                  else_branch = graph "e" (%x) -> (%x) {} } })"),
              lacks("node \"which\" (If)"));
  EXPECT_THAT(Derive(R"(graph "g" (%x: f32[2], %c: bool[]) -> (%y) {
                const %w: f32[2] = {1, 2}
                %u = Mul(%x, %w)
                %y = If "which" (%c, %u, %w) {captures = 2,
                  then_branch = graph "t" (%u, %w) -> (%z) { %z = Add(%u, %w) },
                  else_branch = graph "e" (%u, %w) -> (%u) {} } })"),
              lacks("no gradient by a constant that a body reads"));
  EXPECT_THAT(Derive(R"(graph "g" [n in 1..4] (%x: f32[n]) -> (%y) { %y = Relu(%x) })"),
              lacks("n"));
  EXPECT_THAT(Derive(R"(graph "g" (%x: f32[2]) -> (%y) { %y = Relu(%x) })", {.loss = "z"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no output \"z\"")));
  EXPECT_THAT(
      Derive(R"(graph "g" (%x: f32[2]) -> (%y) { %y = Relu(%x) })", {.with_respect_to = {"y"}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"y\"")));
}

}  // namespace
}  // namespace slipway
