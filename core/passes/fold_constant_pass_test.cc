#include "core/passes/fold_constant_pass.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/passes/limits.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FoldConstant, EvaluatesWhatDependsOnConstantsAlone) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldConstant, R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %a: f32[2] = {1.0, 2.0}
      const %b: f32[2] = {10.0, 20.0}
      %sum = Add(%a, %b)
      %y = Mul(%x, %sum)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %sum: f32[2] = {11.0, 22.0}
      %y = Mul(%x, %sum)
    })"));
}

// 100 KB: too large for InferType's shape arithmetic, folded here.
TEST(FoldConstant, MakesWeightsOfConstantOfShape) {
  const PassTester tester;
  EXPECT_OK(tester.Check(FoldConstant, R"(
    graph "g" (%x: f32[25000]) -> (%y) {
      const %shape: i64[1] = {25000}
      %w = ConstantOfShape(%shape) {value = f32[1] {0.5}}
      %y = Mul(%x, %w)
    })",
                         R"(
    graph "g" (%x: f32[25000]) -> (%y) {
      const %w: f32[25000] = splat 0.5
      %y = Mul(%x, %w)
    })"));
}

TEST(FoldConstant, MovesLargeConstantsWhenTheirBytesAreAskedFor) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[2, 128, 128]) -> (%y) {
      const %w: f32[256, 128] = splat 0
      const %shape: i64[3] = {128, 2, 128}
      %transposed = Transpose(%w) {perm = [1, 0]}
      %shaped = Reshape(%transposed, %shape)
      %turned = Transpose(%shaped) {perm = [1, 0, 2]}
      %y = Add(%x, %turned)
    })"));
  int made = 0;
  for (Value& value : graph.values) {
    if (value.name != "w") continue;
    value.constant = Tensor::Deferred(value.constant->type(), [&made] {
      ++made;
      Tensor counting = Tensor::Zeros(DataType::kFloat32, {256, 128});
      std::iota(counting.mutable_values<float>().begin(), counting.mutable_values<float>().end(),
                0.0f);
      return counting;
    });
  }
  ASSERT_OK_AND_ASSIGN(const Graph folded, FoldConstant(graph, tester.context()));
  EXPECT_EQ(made, 0);
  ASSERT_EQ(folded.nodes.size(), 1u);
  EXPECT_OK(tester.CheckSameResults(graph, folded, 1));
  const Tensor turned = folded.value(folded.nodes[0].inputs[1]).constant->Loaded();
  EXPECT_EQ(turned.values<float>()[128 * 128 + 5 * 128 + 3], (128 + 3) * 128 + 5);
}

// 254 bytes as a model, and a minute of the worker's time.
constexpr char kMuchWork[] = R"(
    graph "g" (%x: f32[1536, 1536]) -> (%y) {
      const %shape: i64[2] = {1536, 1536}
      %half = ConstantOfShape(%shape) {value = f32[1] {0.5}}
      %product = MatMul(%half, %half)
      %y = Add(%x, %product)
    })";

TEST(FoldConstant, LeavesWhatTakesTooMuchWorkAndNotesIt) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, tester.Parse(kMuchWork));
  PassLedger ledger;
  const PassContext context{tester.context().registry, tester.context().reference, &ledger};
  ASSERT_OK_AND_ASSIGN(graph, FoldConstant(graph, context));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].op, "MatMul");
  EXPECT_THAT(
      ledger.notes,
      ElementsAre(AllOf(HasSubstr("\"product\" (MatMul) of constants is computed in each call"),
                        HasSubstr("steps"))));
  EXPECT_LT(ledger.folded_work, 10'000'000);
}

// What bodies have spent, the graph around them has not.
TEST(FoldConstant, SpendsTheWorkOfAGraphAndItsBodiesOnce) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[160, 160]) -> (%y) {
      const %a: f32[160, 160] = splat 1
      %product = MatMul(%a, %a)
      %y = Add(%x, %product)
    })"));
  PassLedger ledger;
  const PassContext context{tester.context().registry, tester.context().reference, &ledger};
  ASSERT_OK_AND_ASSIGN(const Graph folded, FoldConstant(graph, context));
  EXPECT_EQ(folded.nodes.size(), 1u);
  EXPECT_GE(ledger.folded_work, 160 * 160 * 160);
  EXPECT_TRUE(ledger.notes.empty());
  ledger.folded_work = kMaxFoldedWork;
  ASSERT_OK_AND_ASSIGN(const Graph left, FoldConstant(graph, context));
  EXPECT_EQ(left.nodes.size(), 2u);
  EXPECT_EQ(ledger.notes.size(), 1u);
}

TEST(FoldConstant, PaysForWhatIsMovedLater) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(const Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[128, 256]) -> (%y) {
      const %w: f32[256, 128] = splat 0
      %turned = Transpose(%w) {perm = [1, 0]}
      %y = Add(%x, %turned)
    })"));
  PassLedger ledger;
  const PassContext context{tester.context().registry, tester.context().reference, &ledger};
  ASSERT_OK(FoldConstant(graph, context).status());
  EXPECT_EQ(ledger.folded_work, 128 * 256);
  ledger.folded_work = 2 * kMaxFoldedWork;
  ASSERT_OK_AND_ASSIGN(const Graph left, FoldConstant(graph, context));
  EXPECT_EQ(left.nodes.size(), 2u);
  EXPECT_THAT(ledger.notes, ElementsAre(HasSubstr("it moves 32768 elements")));
}

TEST(FoldConstant, DoesNotMakeWhatIsTooLargeOrUnused) {
  const PassTester tester;
  ASSERT_OK_AND_ASSIGN(Graph graph, tester.Parse(R"(
    graph "g" (%x: f32[1]) -> (%y) {
      const %shape: i64[2] = {1048576, 1024}
      %unused = ConstantOfShape(%shape) {value = f32[1] {0.5}}
      %huge = ConstantOfShape(%shape) {value = f32[1] {0.5}}
      %y = Add(%x, %huge)
    })"));
  ASSERT_OK_AND_ASSIGN(graph, FoldConstant(graph, tester.context()));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].op, "ConstantOfShape");
}

}  // namespace
}  // namespace slipway
