// What the passes make of If, Loop and Scan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/graph/text.h"
#include "core/passes/pipeline.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ControlFlowTest : public ::testing::Test {
 protected:
  // What all passes make of the graph, which computes the same.
  std::string Optimized(absl::string_view text) {
    const auto before = ParseGraph(text);
    if (!before.ok()) return before.status().ToString();
    const SystemClock clock;
    const auto result = RunPipeline(*before, {}, tester_.context(), {}, clock);
    if (!result.ok()) return result.status().ToString();
    EXPECT_OK(tester_.CheckSameResults(*before, result->graph, 7));
    return Print(result->graph);
  }
  std::string TypesOfOutputs(absl::string_view text) {
    const auto graph = tester_.Parse(text);
    if (!graph.ok()) return graph.status().ToString();
    std::string types;
    for (const ValueId id : graph->outputs) {
      absl::StrAppend(&types, ToString(*graph->values[id].type), " ");
    }
    return types;
  }

  const PassTester tester_;
};

// A loop that makes `nodes` of %v, and also collects what it makes.
std::string LoopOver(const std::string& type, const std::string& nodes) {
  return absl::StrCat("graph \"g\" (%m: i64[], %c: bool[], %x: ", type, R"() -> (%y, %z) {
    %y, %z = Loop "again" (%m, %c, %x) {
      body = graph "body" (%turn, %true, %v) -> (%true, %w, %w) {)",
                      nodes, "}}}");
}

TEST_F(ControlFlowTest, WhatALoopCarriesIsAsWideAsItBecomes) {
  EXPECT_EQ(TypesOfOutputs(LoopOver("f32[2, 3]", "%w = Neg(%v)")), "f32[2, 3] f32[z, 2, 3] ");
  EXPECT_EQ(TypesOfOutputs(LoopOver("f32[2, 3]", "%w = Concat(%v, %v) {axis = 0}")),
            "f32[y, 3] f32[z, z.1, 3] ");
  EXPECT_EQ(TypesOfOutputs(LoopOver("f32[3, 3]", "%w = Transpose(%v)")), "f32[3, 3] f32[z, 3, 3] ");
  EXPECT_EQ(TypesOfOutputs(LoopOver("f32[2, 3]", "%w = Transpose(%v)")),
            "f32[y, y.1] f32[z, z.1, z.2] ");
  EXPECT_THAT(TypesOfOutputs(LoopOver("f32[3]", "const %a: i64[1] = {0} %w = Unsqueeze(%v, %a)")),
              AllOf(HasSubstr("UNIMPLEMENTED"), HasSubstr("\"again\" (Loop)"),
                    HasSubstr("carried value 0 is f32[3] or f32[1, 3]")));
  EXPECT_THAT(TypesOfOutputs(LoopOver("f32[3]", "%w = Cast(%v) {to = 7}")),
              HasSubstr("carried value 0 is f32[3] or i64[3]"));
}

TEST_F(ControlFlowTest, TurnsAreCountedWhereNothingEndsThem) {
  const auto collected = [this](const std::string& turns, const std::string& first,
                                const std::string& on, const std::string& nodes) {
    return TypesOfOutputs(absl::StrCat(
        "graph \"g\" (%c: bool[], %x: f32[2]) -> (%z) {\n const %m: i64[] = {", turns,
        "}\n const %t: bool[] = {true}\n const %f: bool[] = {false}\n %y, %z = Loop(%m, ", first,
        ", %x) {\n body = graph \"body\" (%turn, %on, %v) -> (", on, ", %w, %w) {", nodes,
        " %w = Neg(%v) }}}"));
  };
  EXPECT_EQ(collected("3", "%t", "%on", ""), "f32[3, 2] ");
  EXPECT_EQ(collected("3", "%t", "%same", "%same = Identity(%on)"), "f32[3, 2] ");
  EXPECT_EQ(collected("3", "%t", "%k", "const %k: bool[] = {true}"), "f32[3, 2] ");
  EXPECT_EQ(collected("-3", "%t", "%on", ""), "f32[0, 2] ");
  EXPECT_EQ(collected("3", "%c", "%on", ""), "f32[z, 2] ");
  EXPECT_EQ(collected("3", "%f", "%on", ""), "f32[z, 2] ");
  EXPECT_EQ(collected("3", "%t", "%k", "const %k: bool[] = {false}"), "f32[z, 2] ");
  EXPECT_EQ(collected("3", "%t", "%off", "%off = Not(%on)"), "f32[z, 2] ");
}

TEST_F(ControlFlowTest, WideningGoesAroundAndEnds) {
  // The first grows, and all others are what another one was: one more is found out with each round.
  std::string inputs, given, made;
  for (int i = 0; i < 12; ++i) {
    absl::StrAppend(&inputs, ", %x", i, ": f32[1]");
    absl::StrAppend(&given, ", %x", i);
    absl::StrAppend(&made, ", %v", i);
  }
  std::string text = absl::StrCat("graph \"g\" (%m: i64[], %c: bool[]", inputs, ") -> (%y11) {\n");
  std::string outputs = "%y0";
  for (int i = 1; i < 12; ++i) absl::StrAppend(&outputs, ", %y", i);
  std::string results = ", %w";
  for (int i = 0; i < 11; ++i) absl::StrAppend(&results, ", %v", i);
  absl::StrAppend(&text, outputs, " = Loop(%m, %c", given, ") {body = graph \"b\" (%t, %true", made,
                  ") -> (%true", results, ") { %w = Concat(%v0, %v0) {axis = 0} }}}");
  EXPECT_EQ(TypesOfOutputs(text), "f32[y11] ");
}

TEST_F(ControlFlowTest, LoopsWithinLoopsAreInferredWithinALimit) {
  // Each level carries what grows a dimension at a time.
  std::string text = "%w = Concat(%v, %v) {axis = 0}";
  for (int depth = 0; depth < 14; ++depth) {
    std::string nodes;
    for (int i = 0; i < 8; ++i) absl::StrAppend(&nodes, "%n", i, " = Neg(%v) ");
    text = absl::StrCat(nodes,
                        "%w = Loop(%turn, %true, %v) {body = graph \"b\" (%turn, %true, %v) -> ",
                        "(%true, %w) {", text, "}}");
  }
  // Whether it ends within the limit or not, it ends soon.
  EXPECT_THAT(TypesOfOutputs(LoopOver("f32[1]", text)), HasSubstr("f32[y] f32[z, z.1]"));
}

TEST_F(ControlFlowTest, BranchesMayDifferInExtents) {
  const auto text = [](const char* condition, const char* then_nodes) {
    return absl::StrCat("graph \"g\" (%c: bool[], %x: f32[2, 1]) -> (%y) {\n",
                        "const %yes: bool[1] = {true}\nconst %no: bool[] = {false}\n",
                        "const %axes: i64[1] = {1}\n%y = If(", condition,
                        R"(, %x, %axes) {captures = 2,
      then_branch = graph "then" (%i, %a) -> (%o) {)",
                        then_nodes, R"(},
      else_branch = graph "else" (%i, %a) -> (%i) {}
    }})");
  };
  EXPECT_EQ(TypesOfOutputs(text("%c", "%o = Concat(%i, %i) {axis = 0}")), "f32[y, 1] ");
  EXPECT_THAT(TypesOfOutputs(text("%c", "%o = Squeeze(%i, %a)")),
              AllOf(HasSubstr("UNIMPLEMENTED"), HasSubstr("output 0 is f32[2] or f32[2, 1]")));
  // Of a known condition one branch counts alone, whatever the other is.
  EXPECT_EQ(TypesOfOutputs(text("%yes", "%o = Squeeze(%i, %a)")), "f32[2] ");
  EXPECT_EQ(TypesOfOutputs(text("%no", "%o = MatMul(%i, %i)")), "f32[2, 1] ");
  EXPECT_THAT(Optimized(text("%yes", "%n = Neg(%i) %o = Squeeze(%n, %a)")),
              AllOf(HasSubstr("Neg"), Not(HasSubstr("If"))));
}

TEST_F(ControlFlowTest, ShapesComputedOutsideAreKnownInside) {
  EXPECT_EQ(TypesOfOutputs(R"(
    graph "g" (%m: i64[], %c: bool[], %x: f32[2, 3]) -> (%y) {
      const %minus: i64[1] = {-1}
      %s = Shape(%x) {start = 1}
      %shape = Concat(%s, %minus) {axis = 0}
      %y = Loop(%m, %c, %x, %x, %shape) {captures = 2,
        body = graph "body" (%turn, %true, %v, %i, %to) -> (%true, %w) {
          %r = Reshape(%i, %to)
          %w = Transpose(%r)
        }
      }
    })"),
            "f32[2, 3] ");
}

TEST_F(ControlFlowTest, WhatNoBodyReadsIsNotCaptured) {
  EXPECT_EQ(Optimized(R"(
    graph "g" (%c: bool[], %x: f32[2], %z: f32[2]) -> (%y) {
      %e = Exp(%z)
      %y = If(%c, %e, %x, %z) {captures = 3,
        then_branch = graph "then" (%a, %b, %d) -> (%o) { %u = Exp(%a) %o = Neg(%b) },
        else_branch = graph "else" (%a, %b, %d) -> (%b) {}
      }
    })"),
            R"(graph "g" opset 28 (%c: bool[], %x: f32[2], %z: f32[2]) -> (%y) {
  %y = If(%c, %x) {captures = 1, else_branch = graph "else" opset 28 (%b: f32[2]) -> (%b) {
  }, then_branch = graph "then" opset 28 (%b: f32[2]) -> (%o) {
    %o = Neg(%b) : f32[2]
  }} : f32[2]
}
)");
}

TEST_F(ControlFlowTest, LoopsOfConstantsAreEvaluatedUnlessTheyGoOn) {
  const auto text = [](const char* turns) {
    return absl::StrCat("graph \"g\" () -> (%y) {\nconst %m: i64[] = {", turns, R"(}
      const %c: bool[] = {true}
      const %x: f32[1] = {2}
      %y = Loop(%m, %c, %x) {
        body = graph "body" (%turn, %true, %v) -> (%true, %w) { %w = Neg(%v) }
      }
    })");
  };
  EXPECT_THAT(Optimized(text("3")), HasSubstr("const %y: f32[1] = {-2}"));
  const auto graph = tester_.Parse(text("9223372036854775807"));
  ASSERT_OK(graph.status());
  EXPECT_EQ(graph->nodes.size(), 1);
}

TEST_F(ControlFlowTest, AScanTakesOutermostSlicesInOrder) {
  const auto text = [](const char* attributes) {
    return absl::StrCat("graph \"g\" (%a: f32[4], %x: f32[3, 4, 2]) -> (%y, %z) {\n",
                        "%y, %z = Scan(%a, %x) {num_scan_inputs = 1, ", attributes, R"(,
        body = graph "body" (%sum, %slice) -> (%o, %p) {
          const %axes: i64[1] = {0}
          %m = ReduceMean(%slice, %axes) {keepdims = 0}
          %n = ReduceMean(%m) {keepdims = 0}
          %o = Add(%sum, %n)
          %p = Add(%slice, %n)
        }
      }
    })");
  };
  EXPECT_THAT(Optimized(text("scan_input_axes = [2], scan_output_axes = [-1]")),
              AllOf(Not(HasSubstr("axes = [")), HasSubstr("perm = [2, 0, 1]"),
                    HasSubstr("perm = [1, 2, 0]")));
  EXPECT_THAT(Optimized(text("scan_input_directions = [1], scan_output_directions = [1]")),
              AllOf(Not(HasSubstr("directions")), HasSubstr("Slice"), Not(HasSubstr("perm"))));
  EXPECT_THAT(Optimized(text("scan_input_axes = [1], scan_input_directions = [1], "
                             "scan_output_axes = [1], scan_output_directions = [1]")),
              AllOf(HasSubstr("Slice"), HasSubstr("perm = [1, 0, 2]")));
}

TEST_F(ControlFlowTest, AScanIsTypedByItsSlices) {
  EXPECT_EQ(TypesOfOutputs(R"(
    graph "g" [n in 1..9] (%a: f32[4], %x: f32[n, 5, 4]) -> (%y, %z) {
      %y, %z = Scan(%a, %x) {num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1],
        body = graph "body" (%sum, %slice) -> (%s, %o) {
          %o = Add(%slice, %sum)
          %s = Neg(%sum)
        }
      }
    })"),
            "f32[4] f32[n, 4, 5] ");
}

}  // namespace
}  // namespace slipway
