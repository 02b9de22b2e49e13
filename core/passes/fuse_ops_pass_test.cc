#include "core/passes/fuse_ops_pass.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/graph/verifier.h"
#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;

const Graph& Body(const Node& node) {
  return **node.attributes.FindAs<std::shared_ptr<const Graph>>("body");
}

class FuseOpsTest : public ::testing::Test {
 protected:
  // The fused graph, verified and compared with the one before.
  Graph Fuse(absl::string_view text) {
    absl::StatusOr<Graph> before = tester_.Parse(text);
    EXPECT_OK(before);
    if (!before.ok()) return Graph();
    absl::StatusOr<Graph> after = FuseOps(*before, tester_.context());
    EXPECT_OK(after);
    if (!after.ok()) return Graph();
    EXPECT_OK(Verify(*after, tester_.registry(), {.require_types = true}));
    EXPECT_OK(tester_.CheckSameResults(*before, *after, 5));
    return *std::move(after);
  }
  static std::vector<std::string> Names(const Graph& graph) {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes) {
      names.push_back(node.op == "slipway.Fused" ? node.name : node.op);
    }
    return names;
  }

  PassTester tester_;
};

using Strings = std::vector<std::string>;

TEST_F(FuseOpsTest, SumsChangeTheirTypeInTheTail) {
  const Graph graph = Fuse(R"(
    graph "g" (%x: i16[1, 2, 4, 4]) -> (%y) {
      const %w: i16[3, 2, 1, 1] = splat 2
      const %s: f32[] = {4.0}
      const %z: u8[] = {3}
      %c = slipway.IntegerConv "c" (%x, %w)
      %r = Cast(%c) {to = 1}
      %y = QuantizeLinear(%r, %s, %z)
    })");
  EXPECT_EQ(Names(graph), Strings{"IntegerConv+Cast+QuantizeLinear c"});
}

// What is read beside is made in the kernel where it is smaller before, and nobody else reads it.
TEST_F(FuseOpsTest, AnchorWidensWhatItsTailReads) {
  const Graph graph = Fuse(R"(
    graph "g" (%x: f32[1, 2, 4, 4], %q: u8[1, 3, 4, 4], %p: u8[1, 3, 4, 4]) -> (%y, %v) {
      const %w: f32[3, 2, 1, 1] = splat 0.5
      const %s: f32[] = {0.25}
      %v = DequantizeLinear "v" (%p, %s)
      %d = DequantizeLinear "d" (%q, %s)
      %c = Conv "c" (%x, %w)
      %a = Add(%c, %d)
      %y = Add(%a, %v)
    })");
  EXPECT_EQ(Names(graph), (Strings{"DequantizeLinear v", "Conv+DequantizeLinear+Add+Add c"}));
}

TEST_F(FuseOpsTest, AnchorTakesItsElementwiseTail) {
  const Graph graph = Fuse(R"(
    graph "g" (%x: f32[1, 2, 4, 4], %r: f32[1, 3, 4, 4]) -> (%y) {
      const %w: f32[3, 2, 1, 1] = splat 0.5
      const %low: f32[] = {0.0}
      const %high: f32[] = {6.0}
      %c = Conv "res2a" (%x, %w)
      %s = Add(%c, %r)
      %y = Clip(%s, %low, %high)
    })");
  EXPECT_EQ(Names(graph), Strings{"Conv+Add+Clip res2a"});
  // Weights and the residual are inputs; the bounds are part of the kernel.
  ASSERT_EQ(graph.nodes[0].inputs.size(), 3u);
  EXPECT_EQ(Body(graph.nodes[0]).inputs.size(), 3u);
  EXPECT_EQ(Body(graph.nodes[0]).nodes.size(), 3u);
}

TEST_F(FuseOpsTest, InfinitiesAreInputs) {
  const Graph graph = Fuse(R"(
    graph "g" (%m: bool[2, 3], %x: f32[2, 3]) -> (%y) {
      const %shown: f32[] = {0}
      const %hidden: f32[] = {-inf}
      %w = Where(%m, %shown, %hidden)
      %y = Add(%w, %x)
    })");
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(Body(graph.nodes[0]).inputs.size(), 3u);
}

TEST_F(FuseOpsTest, TheFirstAnchorTakesTheAdd) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[1, 2, 4, 4]) -> (%y) {
      const %w: f32[2, 2, 1, 1] = splat 0.5
      const %v: f32[2, 2, 1, 1] = splat 0.25
      %a = Conv "a" (%x, %w)
      %b = Conv "b" (%x, %v)
      %s = Add(%a, %b)
      %y = Relu(%s)
    })")),
            (Strings{"Conv b", "Conv+Add+Relu a"}));
}

TEST_F(FuseOpsTest, DiamondsBehindAnAnchorJoin) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[1, 2, 4, 4]) -> (%y) {
      const %w: f32[2, 2, 1, 1] = splat 0.5
      %c = Conv "c" (%x, %w)
      %s = Sigmoid(%c)
      %y = Mul(%c, %s)
    })")),
            (Strings{"Conv+Sigmoid+Mul c"}));
}

TEST_F(FuseOpsTest, WhatIsReadElsewhereEndsTheGroup) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[1, 2, 4, 4]) -> (%y, %c) {
      const %w: f32[2, 2, 1, 1] = splat 0.5
      %c = Conv "c" (%x, %w)
      %y = Relu "r" (%c)
    })")),
            (Strings{"Conv c", "Relu r"}));
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[1, 2, 4, 4]) -> (%y) {
      const %w: f32[2, 2, 1, 1] = splat 0.5
      %c = Conv "c" (%x, %w)
      %r = Relu "r" (%c)
      %d = Conv "d" (%c, %w)
      %y = Add(%r, %d)
    })")),
            (Strings{"Conv c", "Relu r", "Conv+Add d"}));
}

TEST_F(FuseOpsTest, BroadcastsThatGrowStayApart) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[1, 2, 1, 1], %z: f32[1, 2, 4, 4]) -> (%y) {
      const %w: f32[2, 2, 1, 1] = splat 0.5
      %c = Conv "c" (%x, %w)
      %s = Sigmoid(%c)
      %y = Mul "gate" (%s, %z)
    })")),
            (Strings{"Conv+Sigmoid c", "Mul gate"}));
}

TEST_F(FuseOpsTest, ElementwiseOperatorsJoinWithPermutations) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[1, 8, 4, 4]) -> (%y) {
      %u = slipway.Pack "p" (%x) {block = 8}
      %e = Exp(%u)
      %v = slipway.Unpack(%e) {block = 8}
      %t = Transpose(%v) {perm = [0, 2, 3, 1]}
      %y = Neg(%t)
    })")),
            (Strings{"Pack+Exp+Unpack+Transpose+Neg p"}));
}

TEST_F(FuseOpsTest, ViewsStayOutside) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      const %shape: i64[1] = {6}
      %a = Relu "a" (%x)
      %b = Reshape(%a, %shape)
      %y = Exp "e" (%b)
    })")),
            (Strings{"Relu a", "Reshape", "Exp e"}));
}

TEST_F(FuseOpsTest, ConcatsWhoseInputsCanBePlacedStayOutside) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[1, 16], %z: f32[2, 16]) -> (%y, %q) {
      %a = Relu "a" (%x)
      %b = Exp "b" (%x)
      %c = Concat "c" (%a, %b) {axis = 0}
      %y = Neg "n" (%c)
      %d = Relu "d" (%z)
      %e = Exp "e" (%z)
      %f = Concat "f" (%d, %e) {axis = 1}
      %g = Concat "g" (%b, %x) {axis = -2}
      %h = Concat "h" (%g, %f) {axis = 1}
      %q = Concat "q" (%h, %h) {axis = 0}
    })")),
            (Strings{"Relu a", "Exp b", "Concat", "Neg n", "Relu d", "Exp e", "Concat f",
                     "Concat g", "Concat h", "Concat q"}));
}

TEST_F(FuseOpsTest, SplitsWhosePartsAreReadWhereTheyLieStayOutside) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[2, 16]) -> (%y, %z, %e) {
      %a, %b = Split "a" (%x) {axis = 0, num_outputs = 2}
      %y = Neg "y" (%a)
      %c, %d = Split "c" (%b) {axis = 1, num_outputs = 2}
      %z = Add "z" (%c, %d)
      %e, %f = Split "e" (%x) {axis = 0, num_outputs = 2}
    })")),
            (Strings{"Split", "Neg y", "Split c", "Add z", "Split e"}));
}

TEST_F(FuseOpsTest, ReductionsTakeWhatIsMadeForThemAndATail) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[2, 3], %m: f32[2, 1]) -> (%y) {
      const %axes: i64[1] = {1}
      %d = Sub "d" (%x, %m)
      %s = Mul "s" (%d, %d)
      %b = ReduceMean "m" (%s, %axes)
      %y = Exp "e" (%b)
    })")),
            (Strings{"Sub+Mul+ReduceMean+Exp d"}));
}

TEST_F(FuseOpsTest, WhatAReductionReadsIsMadeOnceForAll) {
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      const %axes: i64[1] = {1}
      %a = Exp "a" (%x)
      %b = ReduceSum "b" (%a, %axes)
      %y = Div "y" (%a, %b)
    })")),
            (Strings{"Exp a", "ReduceSum b", "Div y"}));
  // So does what is smaller before it is broadcast, and what a window reads several times.
  EXPECT_EQ(Names(Fuse(R"(
    graph "g" (%x: f32[1, 2, 4, 4], %z: f32[4]) -> (%y, %w) {
      const %axes: i64[2] = {2, 3}
      %a = Exp "a" (%z)
      %b = Mul "b" (%x, %a)
      %y = ReduceMean "y" (%b, %axes)
      %c = Exp "c" (%x)
      %w = MaxPool "w" (%c) {kernel_shape = [3, 3]}
    })")),
            (Strings{"Exp a", "Mul+ReduceMean b", "Exp c", "MaxPool w"}));
}

TEST_F(FuseOpsTest, AValueReadTwiceIsOneInput) {
  const Graph graph = Fuse(R"(
    graph "g" (%x: f32[2], %z: f32[2]) -> (%y) {
      %a = Mul "sq" (%x, %x)
      %b = Add(%a, %z)
      %y = Sub(%b, %x)
    })");
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].inputs.size(), 2u);
}

}  // namespace
}  // namespace slipway
