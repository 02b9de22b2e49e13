#include "core/passes/lower_strings_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/operators/register_all.h"
#include "core/passes/infer_type_pass.h"
#include "core/reference/reference.h"
#include "core/tensor/strings.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LowerStringsTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Lowered(absl::string_view text) {
    SLIPWAY_ASSIGN_OR_RETURN(Graph graph, ParseGraph(text));
    SLIPWAY_ASSIGN_OR_RETURN(graph, InferType(std::move(graph), context_));
    SLIPWAY_ASSIGN_OR_RETURN(graph, LowerStrings(std::move(graph), context_));
    SLIPWAY_RETURN_IF_ERROR(Verify(graph, registry_, {.require_types = true}));
    for (const Value& value : graph.values) {
      EXPECT_NE(value.type->dtype(), DataType::kString) << value.name;
    }
    return graph;
  }

  // The strings that the lowered graph makes of these.
  std::vector<std::string> StringsOf(absl::string_view text, std::vector<NamedTensor> inputs) {
    const auto graph = Lowered(text);
    EXPECT_OK(graph);
    if (!graph.ok()) return {};
    const auto split = SplitAllStrings(std::move(inputs));
    EXPECT_OK(split);
    std::vector<Tensor> numbers;
    for (size_t i = 0; i < split->size(); ++i) {
      EXPECT_EQ(graph->values[graph->inputs[i]].name, (*split)[i].name);
      numbers.push_back((*split)[i].tensor);
    }
    const auto made = reference_.Evaluate(*graph, numbers);
    EXPECT_OK(made);
    if (!made.ok()) return {};
    std::vector<NamedTensor> outputs;
    for (size_t i = 0; i < made->size(); ++i) {
      outputs.push_back({graph->values[graph->outputs[i]].name, (*made)[i]});
    }
    const auto joined = JoinAllStrings(std::move(outputs));
    EXPECT_OK(joined);
    std::vector<std::string> strings;
    for (const NamedTensor& named : *joined) {
      for (const absl::string_view string : StringsIn(named.tensor)) strings.emplace_back(string);
    }
    return strings;
  }

  const OperatorRegistry registry_ = StandardOperators();
  const Reference reference_{registry_};
  const PassContext context_{registry_, reference_};
};

TEST_F(LowerStringsTest, LeavesNumbersAlone) {
  const char* const kText = "graph \"g\" (%x: f32[2]) -> (%y) {\n%y = Relu(%x)\n}";
  ASSERT_OK_AND_ASSIGN(Graph graph, ParseGraph(kText));
  ASSERT_OK_AND_ASSIGN(graph, InferType(std::move(graph), context_));
  ASSERT_OK_AND_ASSIGN(const Graph lowered, LowerStrings(graph, context_));
  EXPECT_EQ(lowered, graph);
}

TEST_F(LowerStringsTest, InputsAndOutputsBecomePairs) {
  EXPECT_THAT(
      StringsOf(R"(
    graph "g" (%x: string[2], %n: i64[2]) -> (%y, %same) {
      const %more: string[1] = {"!"}
      %longer = StringConcat(%x, %more)
      %y = Gather(%longer, %n)
      %same = Identity(%x)
    })",
                {{"x", Strings({2}, {"a", "bc"})}, {"n", Tensor::Of<int64_t>({2}, {1, 0})}}),
      ElementsAre("bc!", "a!", "a", "bc"));
}

TEST_F(LowerStringsTest, StringsOfSeveralContentsMeet) {
  EXPECT_THAT(StringsOf(R"(
    graph "g" (%x: string[2], %z: string[1]) -> (%y) {
      const %c: string[1] = {"const"}
      %y = Concat(%x, %z, %c, %x) {axis = 0}
    })",
                        {{"x", Strings({2}, {"a", "bc"})}, {"z", Strings({1}, {"z"})}}),
              ElementsAre("a", "bc", "z", "const", "a", "bc"));
}

TEST_F(LowerStringsTest, LoopsCarryThem) {
  EXPECT_THAT(StringsOf(R"(
    graph "g" (%x: string[1]) -> (%y) {
      const %turns: i64[] = {3}
      const %true: bool[] = {true}
      %y = Loop(%turns, %true, %x, %x) {body = graph "b" (%i, %c, %carried, %more) -> (%c, %longer) {
        %longer = StringConcat(%carried, %more)
      }, captures = 1}
    })",
                        {{"x", Strings({1}, {"ab"})}}),
              ElementsAre("abababab"));
}

TEST_F(LowerStringsTest, RefusesWhatHasNoPair) {
  EXPECT_THAT(Lowered(R"(
    graph "g" (%x: string[1]) -> (%y) {
      %y = SequenceConstruct(%x)
    })"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("input 0 of type string is not supported")));
}

}  // namespace
}  // namespace slipway
