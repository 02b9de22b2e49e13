// If, Loop and Scan: cases that ONNX's own leave out.
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/reference/reference.h"
#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string IfOf(const char* condition) {
  return ValuesOf(absl::StrCat("const %c: bool[1] = {", condition, R"(}
    const %x: f32[2] = {1, 2}
    %y, %z = If(%c, %x) {captures = 1,
      then_branch = graph "then" (%i) -> (%o, %i) { %o = Neg(%i) },
      else_branch = graph "else" (%i) -> (%k, %o) {
        const %k: f32[1] = {7}
        %o = Concat(%i, %k) {axis = 0}
      }
    })"));
}

TEST(ControlTest, IfIsOneOfItsBranches) {
  EXPECT_EQ(IfOf("true"), "f32[2] = {-1, -2}; f32[2] = {1, 2}");
  EXPECT_EQ(IfOf("false"), "f32[1] = {7}; f32[3] = {1, 2, 7}");
}

// Doubles what it carries and collects the numbers of turns, until `condition` fails.
std::string LoopOf(const std::string& turns, const std::string& first,
                   const std::string& condition) {
  return ValuesOf(absl::StrCat("const %m: i64[1] = {", turns, "}\nconst %f: bool[] = {", first, R"(}
    const %a: i8[1] = {1}
    const %c: i64[] = {4}
    %y, %z = Loop "again" (%m, %f, %a, %c) {captures = 1,
      body = graph "body" (%turn, %true, %v, %four) -> (%on, %w, %turn) {
        %w = Concat(%v, %v) {axis = 0}
        %size = Size(%w)
        %on = )",
                               condition, R"( : bool[]
      }
    })"));
}

TEST(ControlTest, LoopEndsByTurnsOrByItsCondition) {
  EXPECT_EQ(LoopOf("2", "true", "Identity(%true)"), "i8[4] = {1, 1, 1, 1}; i64[2] = {0, 1}");
  EXPECT_EQ(LoopOf("9", "true", "Less(%size, %four)"), "i8[4] = {1, 1, 1, 1}; i64[2] = {0, 1}");
  // Of numbers of turns nothing says the type while there are none.
  EXPECT_THAT(LoopOf("0", "true", "Identity(%true)"), HasSubstr("it made no turn"));
}

TEST(ControlTest, LoopMayMakeNoTurn) {
  for (const char* start : {"{0}\nconst %f: bool[] = {true}", "{-3}\nconst %f: bool[] = {true}",
                            "{5}\nconst %f: bool[] = {false}"}) {
    EXPECT_EQ(ValuesOf(absl::StrCat("const %m: i64[] = ", start, R"(
                const %a: f32[] = {1}
                %y, %z = Loop(%m, %f, %a) {
                  body = graph "body" (%turn, %true, %v: f32[]) -> (%true, %w, %s) {
                    %w = Neg(%v)
                    %s = Something(%v) : f32[2, ?]
                  }
                })")),
              "f32[] = {1}; f32[0, 2, 0] = {}")
        << start;
  }
}

TEST(ControlTest, TurnsAreLimitedOverAllLoops) {
  const OperatorRegistry registry = StandardOperators();
  const auto graph = ParseGraph(R"(graph "t" (%m: i64[]) -> (%y) {
    const %f: bool[] = {true}
    const %a: f32[] = {1}
    %y = Loop "outer" (%m, %f, %a, %m) {captures = 1,
      body = graph "b" (%t, %true, %v, %n) -> (%true, %w) {
        %w = Loop "inner" (%n, %true, %v) {
          body = graph "c" (%u, %also, %x) -> (%also, %z) { %z = Neg(%x) }
        }
      }
    }
  })");
  ASSERT_OK(graph.status());
  const Tensor three = Tensor::Scalar<int64_t>(3);
  EXPECT_OK(Reference(registry, {.loop_turns = 12}).Evaluate(*graph, {three}).status());
  EXPECT_THAT(Reference(registry, {.loop_turns = 11}).Evaluate(*graph, {three}).status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("\"outer\" (Loop)"), HasSubstr("\"inner\" (Loop)"),
                             HasSubstr("more than 11 turns"))));
  const Tensor forever = Tensor::Scalar<int64_t>(INT64_MAX);
  EXPECT_THAT(Reference(registry).Evaluate(*graph, {forever}).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("raise it")));
}

std::string ScanOf(const std::string& attributes) {
  return ValuesOf(absl::StrCat(R"(
    const %a: f32[] = {0}
    const %x: f32[2, 3] = {1, 2, 3, 4, 5, 6}
    const %k: f32[] = {10}
    %y, %z = Scan(%a, %x, %k) {captures = 1, num_scan_inputs = 1)",
                               attributes, R"(,
      body = graph "body" (%sum, %slice, %factor) -> (%next, %o) {
        const %axes: i64[1] = {0}
        %s = ReduceSum(%slice, %axes) {keepdims = 0}
        %next = Add(%sum, %s)
        %o = Mul(%slice, %factor)
      }
    })"));
}

TEST(ControlTest, ScanTakesSlicesOfAnyAxisInEitherDirection) {
  EXPECT_EQ(ScanOf(""), "f32[] = {21}; f32[2, 3] = {10, 20, 30, 40, 50, 60}");
  EXPECT_EQ(ScanOf(", scan_input_axes = [1]"),
            "f32[] = {21}; f32[3, 2] = {10, 40, 20, 50, 30, 60}");
  EXPECT_EQ(ScanOf(", scan_input_axes = [-1], scan_output_axes = [-1]"),
            "f32[] = {21}; f32[2, 3] = {10, 20, 30, 40, 50, 60}");
  EXPECT_EQ(ScanOf(", scan_input_directions = [1]"),
            "f32[] = {21}; f32[2, 3] = {40, 50, 60, 10, 20, 30}");
  EXPECT_EQ(ScanOf(", scan_output_axes = [1], scan_output_directions = [1]"),
            "f32[] = {21}; f32[3, 2] = {40, 10, 50, 20, 60, 30}");
  EXPECT_THAT(ScanOf(", scan_input_axes = [2]"), HasSubstr("axis 2 is outside"));
  EXPECT_THAT(ScanOf(", scan_output_axes = [2]"), HasSubstr("axis 2 of what is collected"));
  EXPECT_THAT(ScanOf(", scan_output_axes = [0, 1]"), HasSubstr("has 2 entries for 1 values"));
}

TEST(ControlTest, SlicesMustFitEachOther) {
  EXPECT_THAT(ValuesOf(R"(
    const %x: f32[2] = {1, 2}
    const %z: f32[3] = {1, 2, 3}
    %y = Scan(%x, %z) {num_scan_inputs = 2, body = graph "body" (%i, %j) -> (%i) {}})"),
              HasSubstr("scans 2 slices of one input and 3 of another"));
  EXPECT_THAT(ValuesOf(R"(
    const %a: f32[1] = {0}
    const %x: f32[3] = {1, 2, 3}
    %y, %z = Scan(%a, %x) {num_scan_inputs = 1, body = graph "body" (%i, %j) -> (%k, %i) {
      %k = Concat(%i, %i) {axis = 0}
    }})"),
              HasSubstr("\"i\" of the body is f32[2] in turn 1 and was f32[1]"));
}

TEST(ControlTest, NumbersOfInputsAndOutputsMustFit) {
  EXPECT_THAT(ValuesOf(R"(
    const %c: bool[] = {true}
    %y = If(%c, %c) {then_branch = graph "t" (%i) -> (%i) {}, else_branch = graph "e" (%i) -> (%i) {}})"),
              HasSubstr("\"captures\" is 0, it must be 1"));
  EXPECT_THAT(ValuesOf(R"(
    const %c: bool[] = {true}
    %y = If(%c) {then_branch = graph "t" () -> () {}, else_branch = graph "e" () -> () {}})"),
              HasSubstr("has 0 inputs and 0 outputs, by the node it must have 0 and 1"));
  EXPECT_THAT(ValuesOf(R"(
    const %m: i64[] = {1}
    const %c: bool[] = {true}
    %y = Loop(%m, %c) {captures = 3, body = graph "b" (%t, %i) -> (%i) {}})"),
              HasSubstr("0 of them scanned and 3 captured"));
  EXPECT_THAT(ValuesOf(R"(
    const %c: f32[] = {1}
    %y = If(%c) {then_branch = graph "t" () -> (%c) { const %c: f32[] = {1} },
                 else_branch = graph "e" () -> (%c) { const %c: f32[] = {1} }})"),
              HasSubstr("a condition is f32[] where one element of type bool is needed"));
}

}  // namespace
}  // namespace slipway
