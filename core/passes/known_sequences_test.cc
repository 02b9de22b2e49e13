#include "core/passes/known_sequences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/operators/register_all.h"
#include "core/operators/sequence.h"
#include "core/passes/infer_type_pass.h"
#include "core/passes/tell_elements.h"
#include "core/reference/reference.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class KnownSequencesTest : public ::testing::Test {
 protected:
  // Checks that after InferType no operator takes or makes sequences but at the edges, and that the graph makes what it
  // made before.
  void Check(absl::string_view text, const std::vector<Tensor>& inputs) {
    ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(text));
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> expected, reference_.Evaluate(graph, inputs));
    Graph told = graph;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (IsPack(inputs[i])) ASSERT_OK(TellElements(told, graph.inputs[i], inputs[i]));
    }
    ASSERT_OK_AND_ASSIGN(told, InferType(std::move(told), context_));
    ASSERT_OK(Verify(told, registry_, {.require_types = true}));
    for (const Node& node : told.nodes) {
      EXPECT_THAT(node.op,
                  ::testing::Not(::testing::ContainsRegex("^(Optional|Sequence|Loop)|Seq")))
          << Print(told);
    }
    ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> made, reference_.Evaluate(told, inputs));
    ASSERT_EQ(made.size(), expected.size());
    for (size_t i = 0; i < made.size(); ++i) {
      EXPECT_EQ(ToString(made[i].type()), ToString(expected[i].type()));
      EXPECT_EQ(made[i].bytes(), expected[i].bytes()) << Print(told);
    }
  }

  static Tensor Floats(const std::vector<float>& values) {
    return Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
  }
  static Tensor Packed(PackKind kind, std::vector<Tensor> elements) {
    return *ToTensor({kind, std::move(elements)});
  }

  const OperatorRegistry registry_ = StandardOperators();
  const Reference reference_{registry_};
  const PassContext context_{registry_, reference_};
};

TEST_F(KnownSequencesTest, ElementsTakeTheirPlaces) {
  Check(R"(
    graph "g" (%x: f32[2], %s: u8[?]) -> (%more, %joined, %last, %length) {
      const %front: i64[] = {0}
      const %end: i64[] = {-1}
      %added = SequenceInsert(%s, %x, %front)
      %more = SequenceInsert(%added, %x)
      %less = SequenceErase(%more, %front)
      %joined = ConcatFromSequence(%less) {axis = 0}
      %last = SequenceAt(%s, %end)
      %length = SequenceLength(%less)
    })",
        {Floats({1, 2}), Packed(PackKind::kSequence, {Floats({3}), Floats({4, 5, 6})})});
}

TEST_F(KnownSequencesTest, SplitsAndStacks) {
  Check(R"(
    graph "g" (%x: f32[3, 2]) -> (%y, %parts) {
      const %split: i64[2] = {2, 1}
      %rows = SplitToSequence(%x) {axis = 0, keepdims = 0}
      %y = ConcatFromSequence(%rows) {axis = 1, new_axis = 1}
      %parts = SplitToSequence(%x, %split)
    })",
        {Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})});
}

TEST_F(KnownSequencesTest, MapsTheirElements) {
  Check(R"(
    graph "g" (%s: u8[?], %x: f32[1]) -> (%y) {
      %y = SequenceMap(%s, %x, %x) {body = graph "b" (%e, %a, %c) -> (%r) {
        %t = Add(%e, %a)
        %r = Mul(%t, %c)
      }, captures = 1}
    })",
        {Packed(PackKind::kSequence, {Floats({3}), Floats({4, 5, 6})}), Floats({2})});
}

TEST_F(KnownSequencesTest, LoopsThatGrowThemAreUnrolled) {
  Check(R"(
    graph "g" (%x: f32[2]) -> (%y, %turns) {
      const %count: i64[] = {3}
      const %true: bool[] = {true}
      %none = SequenceEmpty() {dtype = 1}
      %s, %turns = Loop(%count, %true, %none, %x) {body = graph "b" (%i, %c, %sofar, %a) -> (%go, %now, %i) {
        %go = Identity(%c)
        %float = Cast(%i) {to = 1}
        %e = Add(%a, %float)
        %now = SequenceInsert(%sofar, %e)
      }, captures = 1}
      %y = ConcatFromSequence(%s) {axis = 0}
    })",
        {Floats({1, 2})});
}

TEST_F(KnownSequencesTest, OptionalsHaveAnElementOrNone) {
  const char* const kText = R"(
    graph "g" (%o: u8[?]) -> (%has, %y) {
      %has = OptionalHasElement(%o)
      %y = If(%has, %o) {captures = 1, else_branch = graph "e" (%p) -> (%z) {
        const %z: f32[1] = {0}
      }, then_branch = graph "t" (%p) -> (%z) {
        %z = OptionalGetElement(%p)
      }}
    })";
  Check(kText, {Packed(PackKind::kOptional, {Floats({7})})});
  Check(kText, {Packed(PackKind::kOptional, {})});
  Check(R"(
    graph "g" (%o: u8[?]) -> (%s, %same) {
      %s = OptionalGetElement(%o)
      %same = Identity(%o)
    })",
        {Packed(PackKind::kOptional, {Packed(PackKind::kSequence, {Floats({7}), Floats({})})})});
}

TEST_F(KnownSequencesTest, ProgramsRefuseOtherElements) {
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(R"(
    graph "g" (%s: u8[?]) -> (%y) {
      const %first: i64[] = {0}
      %y = SequenceAt(%s, %first)
    })"));
  ASSERT_OK(TellElements(graph, graph.inputs[0], Packed(PackKind::kSequence, {Floats({7})})));
  ASSERT_OK_AND_ASSIGN(graph, InferType(std::move(graph), context_));
  EXPECT_OK(reference_.Evaluate(graph, {Packed(PackKind::kSequence, {Floats({8})})}));
  EXPECT_THAT(
      reference_.Evaluate(graph, {Packed(PackKind::kSequence, {Tensor::Of<int32_t>({1}, {8})})}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("has other elements than the program is for")));
  EXPECT_THAT(reference_.Evaluate(graph, {Packed(PackKind::kSequence, {})}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(KnownSequencesTest, PositionsAreChecked) {
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(R"(
    graph "g" (%x: f32[2]) -> (%y) {
      const %second: i64[] = {1}
      %s = SequenceConstruct(%x)
      %y = SequenceAt(%s, %second)
    })"));
  EXPECT_THAT(InferType(std::move(graph), context_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("position 1 is outside of a sequence of 1")));
}

}  // namespace
}  // namespace slipway
