// Models with open extents, whole: compiled once, run at several sizes, and compared with the reference at each of them.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/compiler/compiler.h"
#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "core/passes/infer_type_pass.h"
#include "core/reference/reference.h"
#include "core/runtime/load_program.h"
#include "core/target/target.h"
#include "core/tensor/comparison.h"
#include "core/tensor/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class OpenModelTest : public ::testing::Test {
 protected:
  // Compiles the model and compares a run at each of the sizes.
  void Check(absl::string_view text, const std::vector<SymbolValues>& sizes) {
    ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(text));
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program, Compile(graph));
    ASSERT_OK_AND_ASSIGN(graph, InferType(std::move(graph), {registry_, reference_}));
    // One context for all: what a size leaves behind must not reach the next.
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
    for (const SymbolValues& values : sizes) {
      std::string trace;
      for (const auto& [name, value] : values) trace += name + "=" + std::to_string(value) + " ";
      SCOPED_TRACE(trace);
      std::vector<Tensor> inputs;
      for (const ValueId id : graph.inputs) {
        ASSERT_OK_AND_ASSIGN(const TensorType type, TypeAt(*graph.values[id].type, values));
        ASSERT_OK_AND_ASSIGN(Tensor input, RandomTensor(type, 1, graph.values[id].name));
        inputs.push_back(std::move(input));
      }
      CheckRun(*context, graph, inputs);
    }
  }

  // The same of a model whose extents values decide, run with each of the lists of inputs.
  void CheckTold(absl::string_view text, const std::vector<std::vector<Tensor>>& calls) {
    ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(text));
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program, Compile(graph));
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
    for (const std::vector<Tensor>& inputs : calls) CheckRun(*context, graph, inputs);
  }

  void CheckRun(ProgramContext& context, Graph graph, const std::vector<Tensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      graph.values[graph.inputs[i]].type = inputs[i].type();
    }
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected, reference_.Evaluate(graph, inputs));
    std::vector<Tensor> outputs(expected.size());
    ASSERT_OK(context.Run(inputs, absl::MakeSpan(outputs)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_OK(CheckClose(outputs[i], expected[i], {1e-4, 1e-4}));
    }
  }

  absl::StatusOr<std::vector<Tensor>> Run(absl::string_view text,
                                          const std::vector<Tensor>& inputs) {
    SLIPWAY_ASSIGN_OR_RETURN(const Graph graph, ParseGraph(text));
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, Compile(graph));
    SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramContext> context,
                             program->NewContext({}));
    std::vector<Tensor> outputs(program->signature().outputs.size());
    SLIPWAY_RETURN_IF_ERROR(context->Run(inputs, absl::MakeSpan(outputs)));
    return outputs;
  }

  absl::StatusOr<std::unique_ptr<Program>> Compile(const Graph& graph) {
    CompileEnvironment environment;
    environment.clock = &clock_;
    SLIPWAY_ASSIGN_OR_RETURN(const CompiledModel compiled,
                             CompileGraph(graph, HostTarget(), {}, environment));
    return LoadProgram(compiled.artifact);
  }

  static absl::StatusOr<TensorType> TypeAt(const ValueType& type, const SymbolValues& values) {
    TensorType known{type.dtype(), {}};
    for (const Dimension& dimension : type.dimensions()) {
      SLIPWAY_ASSIGN_OR_RETURN(const int64_t extent, Evaluate(dimension.expression(), values));
      known.shape.push_back(extent);
    }
    return known;
  }

  const OperatorRegistry registry_ = StandardOperators();
  const Reference reference_{registry_};
  const SystemClock clock_{};
};

TEST_F(OpenModelTest, AttentionOverWhatAMaskShows) {
  constexpr char kText[] = R"(
    graph "g" [b in 1..4, s in 1..70, t in 1..70]
        (%q: f32[b, 4, s, 8], %k: f32[b, 2, t, 8], %c: f32[1, 1, s, t]) -> (%y, %w) {
      const %limit: f32[] = {0.3}
      const %shown: f32[] = {0}
      const %hidden: f32[] = {-inf}
      %m = Less(%c, %limit)
      %y = Attention(%q, %k, %k, %m)
      %n = Where(%m, %shown, %hidden)
      %w = Add(%n, %c)
    })";
  Check(kText, {{{"b", 2}, {"s", 3}, {"t", 2}},
                {{"b", 1}, {"s", 64}, {"t", 65}},
                {{"b", 4}, {"s", 1}, {"t", 1}}});
}

TEST_F(OpenModelTest, ABatchOfImages) {
  Check(R"(
    graph "images" [batch in 1..64] (%x: f32[batch, 3, 9, 9]) -> (%y) {
      const %w: f32[16, 3, 3, 3] = splat 0.03
      const %v: f32[16, 16, 1, 1] = splat 0.05
      const %b: f32[16] = splat 0.1
      const %f: f32[16, 10] = splat 0.02
      const %shape: i64[2] = {0, -1}
      %c = Conv(%x, %w, %b) {pads = [1, 1, 1, 1]}
      %r = Relu(%c)
      %d = Conv(%r, %v)
      %s = Add(%d, %r)
      %p = MaxPool(%s) {kernel_shape = [2, 2], strides = [2, 2]}
      %g = GlobalAveragePool(%p)
      %l = Reshape(%g, %shape)
      %m = Gemm(%l, %f)
      %y = Softmax(%m)
    })",
        {{{"batch", 1}}, {{"batch", 5}}, {{"batch", 2}}, {{"batch", 64}}});
}

TEST_F(OpenModelTest, AttentionOverSequences) {
  Check(R"(
    graph "attention" [batch in 1..8, seq in 1..128] (%x: f32[batch, seq, 32]) -> (%y) {
      const %wq: f32[32, 32] = splat 0.02
      const %wk: f32[32, 32] = splat 0.03
      const %wv: f32[32, 32] = splat 0.04
      const %scale: f32[32] = splat 1.5
      const %bias: f32[32] = splat 0.25
      const %zero: i64[] = {0}
      const %one: i64[] = {1}
      const %axes: i64[1] = {0}
      const %rest: i64[2] = {4, 8}
      const %whole: i64[1] = {32}
      const %root: f32[] = {0.35}
      %n = LayerNormalization(%x, %scale, %bias)
      %q = MatMul(%n, %wq)
      %k = MatMul(%n, %wk)
      %v = MatMul(%n, %wv)
      %shape = Shape(%x)
      %b = Gather(%shape, %zero)
      %s = Gather(%shape, %one)
      %b1 = Unsqueeze(%b, %axes)
      %s1 = Unsqueeze(%s, %axes)
      %heads = Concat(%b1, %s1, %rest) {axis = 0}
      %joined = Concat(%b1, %s1, %whole) {axis = 0}
      %qh = Reshape(%q, %heads)
      %kh = Reshape(%k, %heads)
      %vh = Reshape(%v, %heads)
      %qt = Transpose(%qh) {perm = [0, 2, 1, 3]}
      %kt = Transpose(%kh) {perm = [0, 2, 3, 1]}
      %vt = Transpose(%vh) {perm = [0, 2, 1, 3]}
      %scores = MatMul(%qt, %kt)
      %scaled = Mul(%scores, %root)
      %weights = Softmax(%scaled)
      %o = MatMul(%weights, %vt)
      %ot = Transpose(%o) {perm = [0, 2, 1, 3]}
      %of = Reshape(%ot, %joined)
      %y = Add(%of, %x)
    })",
        {{{"batch", 1}, {"seq", 1}},
         {{"batch", 2}, {"seq", 7}},
         {{"batch", 1}, {"seq", 128}},
         {{"batch", 8}, {"seq", 33}}});
}

TEST_F(OpenModelTest, ShapesAsValues) {
  Check(R"(
    graph "shapes" [n in 1..64] (%x: f32[n, 3]) -> (%y, %z, %t) {
      const %zero: i64[] = {0}
      const %one: i64[] = {1}
      const %axes: i64[1] = {0}
      const %v: f32[1] = {2.5}
      const %three: i64[1] = {3}
      %shape = Shape(%x)
      %n = Gather(%shape, %zero)
      %places = Range(%zero, %n, %one)
      %y = Cast(%places) {to = 1}
      %n1 = Unsqueeze(%n, %axes)
      %target = Concat(%three, %n1) {axis = 0}
      %z = Expand(%v, %target)
      %t = Add(%n, %one)
    })",
        {{{"n", 1}}, {{"n", 17}}, {{"n", 64}}});
}

// Two views of one value differ in their types alone.
TEST_F(OpenModelTest, CausalMasks) {
  Check(R"(
    graph "mask" [n in 1..64] (%x: f32[n, n]) -> (%y) {
      const %zero: i64[] = {0}
      const %one: i64[] = {1}
      const %rows: i64[1] = {1}
      const %columns: i64[1] = {0}
      const %low: f32[] = {-1000.0}
      %shape = Shape(%x)
      %n = Gather(%shape, %zero)
      %places = Range(%zero, %n, %one)
      %row = Unsqueeze(%places, %rows)
      %column = Unsqueeze(%places, %columns)
      %seen = LessOrEqual(%column, %row)
      %y = Where(%seen, %x, %low)
    })",
        {{{"n", 1}}, {{"n", 17}}, {{"n", 64}}});
}

TEST_F(OpenModelTest, ExtentsThatValuesDecide) {
  Check(R"(
    graph "places" [n in 1..64] (%x: f32[n, 4]) -> (%y, %z) {
      const %axes: i64[2] = {0, 1}
      const %half: f32[] = {0.5}
      %large = Greater(%x, %half)
      %places = NonZero(%large)
      %t = Transpose(%places)
      %y = Cast(%t) {to = 1}
      %z = Shape(%places)
    })",
        {{{"n", 1}}, {{"n", 17}}, {{"n", 64}}});
}

TEST_F(OpenModelTest, RotationsOfWholeHeads) {
  const char* const model = R"(
    graph "rotary" [size in 1..64, half in 1..32]
        (%x: f32[2, 3, 4, size], %c: f32[2, 4, half], %s: f32[2, 4, half]) -> (%y) {
      %y = RotaryEmbedding(%x, %c, %s)
    })";
  Check(model, {{{"size", 8}, {"half", 4}}, {{"size", 2}, {"half", 1}}});
  const Tensor cache = Tensor::Of<float>({2, 4, 1}, std::vector<float>(8));
  EXPECT_THAT(
      Run(model, {Tensor::Of<float>({2, 3, 4, 8}, std::vector<float>(192)), cache, cache}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs half = floor(size / 2)")));
}

TEST_F(OpenModelTest, AMaskBesideAnOutput) {
  Check("graph \"mask\" [n in 1..9] (%x: f32[n]) -> (%y, %m) { %y, %m = Dropout(%x) }",
        {{{"n", 5}}});
}

TEST_F(OpenModelTest, InfinityLessItself) {
  const float inf = std::numeric_limits<float>::infinity();
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> outputs,
                       Run("graph \"g\" (%x: f32[1, 3, 1]) -> (%y) { const %s: f32[1] = {2}\n"
                           "%y = LayerNormalization(%x, %s) }",
                           {Tensor::Of<float>({1, 3, 1}, {inf, std::nanf(""), 7})}));
  EXPECT_THAT(outputs[0].values<float>(),
              ::testing::ElementsAre(::testing::IsNan(), ::testing::IsNan(), 0));
}

// Extents that values decide may be 0, and what then cannot be made is told.
TEST_F(OpenModelTest, NothingIsFound) {
  const Tensor nothing = Tensor::Of<float>({4}, {0, 0, 0, 0});
  const auto of_places = [](const std::string& node) {
    return "graph \"g\" [n in 1..9] (%x: f32[n]) -> (%y) {\n const %i: i64[1] = {0}\n"
           "const %k: i64[1] = {1}\n const %p: i64[4] = {0, 1, 0, 1}\n %z = NonZero(%x)\n"
           " %f = Cast(%z) {to = 1}\n" +
           node + "\n}";
  };
  const std::pair<const char*, const char*> refused[] = {
      {"%y = Gather(%f, %i) {axis = 1}", "outside"},
      {"%y = Pad(%f, %p) {mode = \"edge\"}", "nothing to pad with"},
      {"%y, %j = TopK(%f, %k) {axis = 1}", "TopK y needs max(z, 1) = z"},
      {"%y = ArgMax(%f) {axis = 1}", "no elements have no best one"},
  };
  for (const auto& [node, reason] : refused) {
    EXPECT_THAT(Run(of_places(node), {nothing}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(reason)))
        << node;
    EXPECT_OK(Run(of_places(node), {Tensor::Of<float>({4}, {0, 1, 2, 0})}).status()) << node;
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> padded,
                       Run(of_places("%y = Pad(%f, %p)"), {nothing}));
  EXPECT_THAT(padded[0].values<float>(), ::testing::ElementsAre(0, 0));
}

Tensor Longs(std::vector<int64_t> values) {
  return Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

Tensor Counting(int64_t rows, int64_t columns) {
  Tensor x = Tensor::Zeros(DataType::kFloat32, {rows, columns});
  float next = 0;
  for (float& value : x.mutable_values<float>()) value = next++ - 5;
  return x;
}

// Operators that read the extents of their results when the program runs.
TEST_F(OpenModelTest, ExtentsThatValuesTell) {
  CheckTold(R"(
    graph "moved" [n in 0..64] (%x: f32[n, 6], %shape: i64[3], %repeats: i64[2], %starts: i64[2], %ends: i64[2], %pads: i64[4]) -> (%flat, %t, %s, %p, %e) {
      const %one: f32[1] = {1.5}
      const %rows: i64[1] = {-1}
      %r = Reshape(%x, %shape)
      %relu = Relu(%r)
      %flat = Reshape(%relu, %rows)
      %t = Tile(%x, %repeats)
      %s = Slice(%x, %starts, %ends)
      %p = Pad(%x, %pads)
      %e = Expand(%one, %shape)
    })",
            {{Counting(4, 6), Longs({2, 3, 4}), Longs({1, 2}), Longs({0, -2}), Longs({3, 6}),
              Longs({1, 0, 0, 2})},
             {Counting(5, 6), Longs({1, 1, 30}), Longs({3, 0}), Longs({7, 0}), Longs({9, 2}),
              Longs({-1, -1, 0, 0})},
             {Counting(1, 6), Longs({6, 1, 1}), Longs({2, 2}), Longs({-9, 5}), Longs({9, -9}),
              Longs({0, 0, 3, -6})}});
}

TEST_F(OpenModelTest, NumbersOfElementsThatValuesTell) {
  const auto whole = [](int64_t value) { return Tensor::Scalar<int64_t>(value); };
  const auto real = [](float value) { return Tensor::Scalar<float>(value); };
  constexpr char kText[] = R"(
    graph "made" (%x: f32[3, 8], %k: i64[1], %depth: i64[], %end: f32[], %parts: i64[2], %scales: f32[2], %shape: i64[2]) -> (%twice, %o, %r, %a, %b, %z, %c) {
      const %classes: i64[2] = {1, 2}
      const %values: f32[2] = {0, 1}
      const %begin: f32[] = {0.5}
      const %step: f32[] = {0.25}
      %v, %i = TopK(%x, %k)
      %f = Cast(%i) {to = 1}
      %twice = Add(%v, %f)
      %o = OneHot(%classes, %depth, %values)
      %r = Range(%begin, %end, %step)
      %a, %b = Split(%x, %parts) {axis = 1}
      %z = Resize(%x, _, %scales)
      %c = ConstantOfShape(%shape) {value = i64[1] {7}}
    })";
  CheckTold(kText, {{Counting(3, 8), Longs({2}), whole(4), real(3), Longs({3, 5}),
                     Tensor::Of<float>({2}, {2, 0.5}), Longs({2, 2})},
                    {Counting(3, 8), Longs({8}), whole(0), real(-1), Longs({0, 8}),
                     Tensor::Of<float>({2}, {1, 1.7}), Longs({0, 3})}});
}

TEST_F(OpenModelTest, AxesThatValuesTell) {
  constexpr char kText[] = R"(
    graph "reduced" (%x: f32[3, 8], %axes: i64[1], %any: i64[2], %i: f32[2, 5, 4, 1], %axis: i64[], %c: f32[1, 8, 12], %block: i64[2]) -> (%s, %m, %n, %l, %f, %o) {
      const %image: i64[2] = {4, 5}
      %s = ReduceSum(%x, %axes) {keepdims = 0}
      %r = ReduceMean(%x, %axes)
      %m = Sub(%x, %r)
      %n = ReduceMax(%x, %any)
      %l = ReduceLogSumExp(%x, %axes)
      %f = DFT(%i, _, %axis) {onesided = 1}
      %o = Col2Im(%c, %image, %block)
    })";
  const Tensor x = Counting(3, 8);
  ASSERT_OK_AND_ASSIGN(const Tensor signal, Counting(8, 5).Reshaped({2, 5, 4, 1}));
  ASSERT_OK_AND_ASSIGN(const Tensor columns, Counting(8, 12).Reshaped({1, 8, 12}));
  const auto whole = [](int64_t value) { return Tensor::Scalar<int64_t>(value); };
  CheckTold(kText, {{x, Longs({0}), Longs({0, 1}), signal, whole(1), columns, Longs({2, 2})},
                    {x, Longs({-1}), Longs({-1, -2}), signal, whole(-2), columns, Longs({2, 2})},
                    {x, Longs({1}), Longs({1, 0}), signal, whole(0), columns, Longs({2, 2})}});
  const auto failure = [&](std::vector<int64_t> axes, int64_t axis, std::vector<int64_t> block) {
    return Run(kText, {x, Longs({0}), Longs(std::move(axes)), signal, whole(axis), columns,
                       Longs(std::move(block))})
        .status();
  };
  EXPECT_THAT(failure({0, 0}, 1, {2, 2}), StatusIs(absl::StatusCode::kInvalidArgument,
                                                   HasSubstr("n': an axis is there twice")));
  EXPECT_THAT(failure({0, 2}, 1, {2, 2}).message(), HasSubstr("outside of the dimensions"));
  EXPECT_THAT(failure({0, 1}, 3, {2, 2}).message(), HasSubstr("none that a signal lies along"));
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (const std::vector<int64_t>& block :
       {std::vector<int64_t>{2, 3}, {0, 2}, {-2, -2}, {kHuge, 2}, {1 << 30, 1 << 30}}) {
    EXPECT_FALSE(failure({0, 1}, 1, block).ok()) << block[0];
  }
}

// A mean, or a maximum, of one infinity, less which it is no number.
TEST_F(OpenModelTest, RowsOfOneElement) {
  const float inf = std::numeric_limits<float>::infinity();
  CheckTold(R"(
    graph "alone" (%x: f32[1, 3, 1], %w: f32[3]) -> (%g, %i, %s) {
      %s = Softmax(%x)
      %g = GroupNormalization(%x, %w, %w) {num_groups = 3}
      %i = InstanceNormalization(%x, %w, %w)
    })",
            {{Tensor::Of<float>({1, 3, 1}, {inf, 0, 4}), Tensor::Of<float>({3}, {2, 1, -2})}});
}

// One value that is left for an extent is no longer open: an attention over two kinds of inputs has one batch.
TEST_F(OpenModelTest, ExtentsThatOthersSettle) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(R"(
    graph "settled" [b in 1..4096, s in 1..70] (%q: f32[b, 2, s, 8], %k: f32[2, 2, 3, 8]) -> (%y) {
      %y = Attention(%q, %k, %k)
    })"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program, Compile(graph));
  EXPECT_EQ(ToString(program->signature().inputs[0].type), "f32[2, 2, s, 8]");
}

// What such values can do at worst is fail the run, with the node's name.
TEST_F(OpenModelTest, ValuesThatAreNoExtents) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(R"(
    graph "hostile" (%x: f32[2, 3], %shape: i64[2], %row: f32[1, 3], %wide: i64[2]) -> (%r, %e) {
      %r = Reshape "reshaped" (%x, %shape)
      %e = Expand "expanded" (%row, %wide)
    })"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program, Compile(graph));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
  const auto run = [&](std::vector<int64_t> shape, std::vector<int64_t> wide) {
    std::vector<Tensor> outputs(2);
    return context->Run(
        {Counting(2, 3), Longs(std::move(shape)), Counting(1, 3), Longs(std::move(wide))},
        absl::MakeSpan(outputs));
  };
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_OK(run({3, 2}, {2, 3}));
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{4, 2}, {-1, -1}, {-1, 4}, {-2, -3}, {kHuge, 4}, {0, 6}}) {
    EXPECT_THAT(run(shape, {2, 3}).message(), HasSubstr("reshaped")) << shape[0];
  }
  for (const std::vector<int64_t>& wide :
       {std::vector<int64_t>{4, 2}, {-1, 3}, {kHuge, 3}, {2, -kHuge}}) {
    EXPECT_THAT(run({3, 2}, wide).message(), HasSubstr("expanded")) << wide[0];
  }
  EXPECT_OK(run({1, 6}, {1, 1}));
}

// A result that no memory holds.
TEST_F(OpenModelTest, ValuesThatAskForTooMuch) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(R"(
    graph "large" (%x: f32[1, 1], %wide: i64[2]) -> (%e) { %e = Expand "expanded" (%x, %wide) })"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program, Compile(graph));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
  std::vector<Tensor> outputs(1);
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  EXPECT_FALSE(context->Run({Counting(1, 1), Longs({kMost, kMost})}, absl::MakeSpan(outputs)).ok());
  EXPECT_OK(context->Run({Counting(1, 1), Longs({2, 2})}, absl::MakeSpan(outputs)));
}

TEST_F(OpenModelTest, Branches) {
  Check(R"(
    graph "branches" [n in 1..64] (%x: f32[n, 4], %w: f32[4]) -> (%y) {
      const %ten: i64[] = {10}
      const %zero: i64[] = {0}
      %shape = Shape(%x)
      %n = Gather(%shape, %zero)
      %large = Greater(%n, %ten)
      %y = If(%large, %x, %w) {captures = 2, then_branch = graph "then" (%a, %b) -> (%c) {
        %s = Add(%a, %b)
        %c = Relu(%s)
      }, else_branch = graph "else" (%a, %b) -> (%c) {
        %c = Mul(%a, %b)
      }}
    })",
        {{{"n", 1}}, {{"n", 11}}, {{"n", 10}}, {{"n", 64}}});
}

TEST_F(OpenModelTest, ScansOverSequences) {
  Check(R"(
    graph "scan" [seq in 1..64] (%x: f32[seq, 4], %s: f32[4]) -> (%last, %all) {
      %last, %all = Scan(%s, %x) {num_scan_inputs = 1, body = graph "body" (%state, %slice) -> (%next, %out) {
        %next = Add(%state, %slice)
        %out = Relu(%next)
      }}
    })",
        {{{"seq", 1}}, {{"seq", 7}}, {{"seq", 64}}});
}

TEST_F(OpenModelTest, LoopsWithConditions) {
  Check(R"(
    graph "loop" [n in 1..64] (%x: f32[n]) -> (%y, %all) {
      const %most: i64[] = {100}
      const %yes: bool[] = {true}
      %y, %all = Loop(%most, %yes, %x) {body = graph "body" (%turn, %go, %v) -> (%more, %next, %out) {
        const %limit: f32[] = {20.0}
        const %one: f32[] = {1.0}
        const %three: i64[] = {3}
        const %axes: i64[1] = {0}
        %next = Add(%v, %one)
        %biggest = ReduceMax(%next, %axes) {keepdims = 0}
        %more = Less(%biggest, %limit)
        %out = Identity(%next)
      }}
    })",
        {{{"n", 1}}, {{"n", 13}}});
}

TEST_F(OpenModelTest, CarriedValuesMayGrow) {
  Check(R"(
    graph "grow" [n in 1..64] (%x: f32[n]) -> (%y) {
      const %turns: i64[] = {3}
      const %yes: bool[] = {true}
      %y = Loop(%turns, %yes, %x) {body = graph "body" (%turn, %go, %v) -> (%go, %next) {
        %next = Concat(%v, %v) {axis = 0}
      }}
    })",
        {{{"n", 1}}, {{"n", 5}}});
}

TEST_F(OpenModelTest, BoundsAreHeld) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(R"(
    graph "bounds" [n in 2..8] (%a: f32[n, 3], %b: f32[n, 3]) -> (%y) { %y = Add(%a, %b) })"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Program> program, Compile(graph));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ProgramContext> context, program->NewContext({}));
  const auto run = [&](int64_t a, int64_t b) {
    std::vector<Tensor> outputs(1);
    return context->Run(
        {Tensor::Zeros(DataType::kFloat32, {a, 3}), Tensor::Zeros(DataType::kFloat32, {b, 3})},
        absl::MakeSpan(outputs));
  };
  EXPECT_OK(run(8, 8));
  EXPECT_THAT(run(9, 9), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("n")));
  EXPECT_THAT(run(4, 5), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("n")));
}

// Inputs whose extents are each their own are still to fit each other where nodes need it.
TEST_F(OpenModelTest, RefusesExtentsThatDoNotFit) {
  const auto f32 = [](Shape shape) { return Tensor::Zeros(DataType::kFloat32, std::move(shape)); };
  struct Case {
    const char* text;
    std::vector<Tensor> fits;
    std::vector<Tensor> misfits;
    const char* message;
  };
  const Case cases[] = {
      {R"(graph "add" [n in 0..9999, m in 0..9999] (%a: f32[n], %b: f32[m]) -> (%y) {
            %y = Add "sum" (%a, %b) })",
       {f32({3000}), f32({1})},
       {f32({3000}), f32({5})},
       "Add sum needs n = m or "},
      {R"(graph "known" [m in 0..9999] (%a: f32[3000], %b: f32[m]) -> (%y) {
            %y = Add "sum" (%a, %b) })",
       {f32({3000}), f32({3000})},
       {f32({3000}), f32({5})},
       "m = 3000 or m = 1"},
      {R"(graph "product" [k in 0..9999, l in 0..9999] (%a: f32[2, k], %b: f32[l, 3]) -> (%y) {
            %y = MatMul(%a, %b) })",
       {f32({2, 7}), f32({7, 3})},
       {f32({2, 4000}), f32({5, 3})},
       "needs l = k, but these are 5 and 4000"},
      {R"(graph "norm" [c in 0..9999, s in 0..9999]
            (%x: f32[1, c, 2], %s: f32[s], %b: f32[s], %m: f32[s], %v: f32[s]) -> (%y) {
            %y = BatchNormalization(%x, %s, %b, %m, %v) })",
       {f32({1, 3, 2}), f32({3}), f32({3}), f32({3}), f32({3})},
       {f32({1, 1000, 2}), f32({3}), f32({3}), f32({3}), f32({3})},
       "needs s = c, but these are 3 and 1000"},
      {R"(graph "flat" [n in 0..9999, m in 0..9999] (%x: f32[n], %like: f32[m, 2]) -> (%y) {
            %shape = Shape(%like)
            %v = Reshape(%x, %shape)
            %y = Add(%v, %like) })",
       {f32({6}), f32({3, 2})},
       {f32({6}), f32({3000, 2})},
       "Reshape v needs "},
      {R"(graph "groups" [c in 0..9999] (%x: f32[1, c, 4, 4]) -> (%y) {
            %y = DepthToSpace(%x) {blocksize = 2} })",
       {f32({1, 8, 4, 4})},
       {f32({1, 7, 4, 4})},
       "DepthToSpace y needs "},
      // Inside of a body, where its own symbols are.
      {R"(graph "body" [n in 0..9999, m in 0..9999] (%x: f32[n], %z: f32[m]) -> (%y) {
            const %turns: i64[] = {2}
            const %yes: bool[] = {true}
            %y = Loop(%turns, %yes, %x, %z) {captures = 1, body = graph "b" (%i, %go, %v, %w) ->
                (%go, %next) {
              %next = PRelu "slope" (%v, %w) }} })",
       {f32({3000}), f32({3000})},
       {f32({3000}), f32({5})},
       "PRelu slope needs "},
      // Of an extent that is found while the program runs.
      {R"(graph "found" [n in 0..9999, m in 0..9999] (%x: f32[n], %z: f32[m]) -> (%y) {
            const %shape: i64[1] = {-1}
            %at = NonZero(%x)
            %flat = Reshape(%at, %shape)
            %f = Cast(%flat) {to = 1}
            %y = Mul "times" (%f, %z) })",
       {Tensor::Of<float>({3}, {1, 0, 1}), f32({2})},
       {Tensor::Of<float>({3}, {1, 1, 1}), f32({2000})},
       "Mul times needs "},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.message);
    EXPECT_THAT(Run(one.text, one.misfits),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(one.message)));
    EXPECT_OK(Run(one.text, one.fits));
  }
}

// An extent may be as large as it is where the others are small.
TEST_F(OpenModelTest, ManyOpenExtents) {
  Check(R"(
    graph "all" [a in 1..2000000000, b in 1..2000000000, c in 1..2000000000, d in 1..2000000000]
        (%x: f32[a, b, c, d]) -> (%y) {
      const %flat: i64[1] = {-1}
      %r = Relu(%x)
      %y = Reshape(%r, %flat)
    })",
        {{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}}, {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 100000}}});
}

}  // namespace
}  // namespace slipway
