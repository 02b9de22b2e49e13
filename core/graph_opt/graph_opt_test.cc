// graph_opt as a process.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/json.h"
#include "tests/common/status_matchers.h"
#include "tests/common/temp_tree.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kModel[] = R"(graph "tiny" (%x: f32[1, 2]) -> (%y) {
  const %a: f32[2, 2] = {1, 2, 3, 4}
  const %b: f32[2, 2] = splat 2
  %w = Mul(%a, %b)
  %p = MatMul "product" (%x, %w)
  %dead = Relu(%p)
  %y = Identity(%p)
})";

class GraphOptTest : public ::testing::Test {
 protected:
  CommandResult Opt(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), RunfilePath("core/graph_opt/graph_opt"));
    return RunCommand({.argv = arguments});
  }
  TempTree tree_;
  const std::string model_ = tree_.Write("tiny.graph", kModel);
};

TEST_F(GraphOptTest, RunsPassesByNameAndSaysWhatTheyTook) {
  const CommandResult done = Opt({model_, "--passes", "FoldConstant,DeadCode"});
  ASSERT_EQ(done.status.exit_code, 0) << done.ToString();
  EXPECT_EQ(done.out, R"(graph "tiny" opset 28 (%x: f32[1, 2]) -> (%y) {
  const %w: f32[2, 2] = {2, 4, 6, 8}
  %p = MatMul "product" (%x, %w) : f32[1, 2]
  %y = Identity(%p) : f32[1, 2]
}
)");
  EXPECT_THAT(done.err, AllOf(HasSubstr("InferType"), HasSubstr("FoldConstant"),
                              HasSubstr("DeadCode"), HasSubstr("constant bytes")));
  const CommandResult quiet = Opt({model_, "--passes", "all", "--no-table"});
  EXPECT_EQ(quiet.status.exit_code, 0);
  EXPECT_THAT(quiet.err, IsEmpty());
  EXPECT_THAT(quiet.out, ::testing::Not(HasSubstr("Identity")));
}

TEST_F(GraphOptTest, DerivesAndRecomputes) {
  const CommandResult done = Opt({model_, "--passes", "all,Gradient,Recompute"});
  ASSERT_EQ(done.status.exit_code, 0) << done.ToString();
  EXPECT_THAT(done.out, HasSubstr("-> (%y, %x_gradient, "));
  EXPECT_THAT(done.err, HasSubstr("Recompute"));
}

TEST_F(GraphOptTest, EveryFormReadsBack) {
  const std::string text = Opt({model_}).out;
  for (const auto& [form, name] : {std::pair("proto", "g.graphpb"), std::pair("onnx", "g.onnx"),
                                   std::pair("text", "g.graph")}) {
    const std::string path = tree_.Path(name);
    const CommandResult written =
        Opt({model_, "--to", form, "--output", path, "--max-elements", "100"});
    ASSERT_EQ(written.status.exit_code, 0) << written.ToString();
    EXPECT_THAT(written.out, IsEmpty());
    const CommandResult again = Opt({path, "--passes", "InferType"});
    EXPECT_EQ(again.out, Opt({model_, "--passes", "InferType"}).out) << again.ToString();
  }
}

TEST_F(GraphOptTest, JsonAndGraphviz) {
  const CommandResult json = Opt({model_, "--to", "json", "--passes", "all"});
  ASSERT_OK_AND_ASSIGN(const Json value, ParseJson(json.out));
  EXPECT_EQ(value["schema_version"], 1);
  EXPECT_EQ(value["nodes"].size(), 1u);
  EXPECT_EQ(value["nodes"][0]["op"], "Gemm");
  EXPECT_EQ(value["inputs"][0], "x");
  EXPECT_EQ(value["values"][0]["type"], "f32[1, 2]");
  const CommandResult dot = Opt({model_, "--to", "dot", "--passes", "all"});
  EXPECT_THAT(dot.out, AllOf(StartsWith("digraph \"tiny\" {"), HasSubstr("Gemm\\nproduct"),
                             HasSubstr("-> n0 [label=\"f32[1, 2]\"]")));
}

TEST_F(GraphOptTest, RunsTheWholePipelineOfATarget) {
  const CommandResult done = Opt({model_, "--target", "x86-64-v3-linux"});
  ASSERT_EQ(done.status.exit_code, 0) << done.ToString();
  EXPECT_THAT(done.out, HasSubstr("slipway.Fused"));
  EXPECT_THAT(done.err, AllOf(HasSubstr("PlanMemory"), HasSubstr("arena 0 bytes, lower bound 0")));
  const CommandResult onnx = Opt({model_, "--target", "x86-64-v3-linux", "--to", "onnx"});
  EXPECT_EQ(onnx.status.exit_code, 1);
  EXPECT_THAT(onnx.err, HasSubstr("an operator of Slipway's own"));
}

TEST_F(GraphOptTest, ErrorsNameWhatIsWrong) {
  const auto fails = [this](const std::vector<std::string>& arguments, const std::string& says) {
    const CommandResult done = Opt(arguments);
    EXPECT_EQ(done.status.exit_code, 1) << done.ToString();
    EXPECT_THAT(done.err, HasSubstr(says));
  };
  fails({}, "one file is wanted");
  fails({tree_.Path("none.onnx")}, "none.onnx");
  fails({tree_.Write("bad.graph", "graph")}, "bad.graph: 1:");
  fails({model_, "--passes", "Nonsense"}, "\"Nonsense\"; known are all and CanonicalizeOps");
  fails({model_, "--to", "svg"}, "--to \"svg\" is unknown");
  fails({model_, "--dimension", "n"}, "NAME=EXTENT");
  fails({model_, "--passes", "all", "--target", "host"}, "exclude each other");
  fails({model_, "--target", "z80-linux"}, "z80");
  fails({model_, "--nonsense"}, "nonsense");
}

}  // namespace
}  // namespace slipway::testing
