#include "core/passes/node_cost.h"

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/passes/testing/pass_tester.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

class NodeCostTest : public ::testing::Test {
 protected:
  Graph Parse(absl::string_view text) {
    absl::StatusOr<Graph> graph = tester_.Parse(text);
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? *std::move(graph) : Graph{};
  }
  // Of the last node.
  absl::StatusOr<int64_t> Flops(absl::string_view text) {
    const Graph graph = Parse(text);
    return ProductFlops(graph, graph.nodes.back(), tester_.registry());
  }
  absl::StatusOr<NodeTraffic> Traffic(absl::string_view text) {
    const Graph graph = Parse(text);
    return TrafficOf(graph, graph.nodes.back());
  }

  PassTester tester_;
};

TEST_F(NodeCostTest, AConvolutionMeetsTheWeightsOfItsGroup) {
  constexpr int64_t kProducts = (2 * 8 * 6 * 6) * (2 * 3 * 3);
  EXPECT_EQ(*Flops(R"(
    graph "g" (%x: f32[2, 4, 6, 6], %w: f32[8, 2, 3, 3]) -> (%y) {
      %y = Conv(%x, %w) {group = 2, pads = [1, 1, 1, 1]}
    })"),
            2 * kProducts);
  EXPECT_EQ(*Flops(R"(
    graph "g" (%x: u8[2, 4, 6, 6], %w: u8[8, 2, 3, 3]) -> (%y) {
      %y = ConvInteger(%x, %w) {group = 2, pads = [1, 1, 1, 1]}
    })"),
            2 * kProducts);
}

TEST_F(NodeCostTest, CausalAttentionMeetsTheKeysThatItSees) {
  const auto flops = [&](const std::string& attributes) {
    return *Flops(R"(
    graph "g" (%q: f32[2, 3, 6, 5], %k: f32[2, 3, 4, 5], %v: f32[2, 3, 4, 7]) -> (%y) {
      %y = slipway.BlockAttention(%q, %k, %v) {first_heads = [0, 0, 0], heads = 3, key_heads = 3, key_order = [0, 1, 2, 3], output_order = [0, 1, 2, 3], query_order = [0, 1, 2, 3], value_order = [0, 1, 2, 3])" +
                  attributes + "}\n}");
  };
  constexpr int64_t kPair = 2 * (2 * 3) * (5 + 7);
  EXPECT_EQ(flops(""), kPair * 6 * 4);
  EXPECT_EQ(flops(", is_causal = 1"), kPair * (1 + 2 + 3 + 4 + 4 + 4));
  EXPECT_EQ(flops(", is_causal = 1, past_keys = 1"), kPair * (2 + 3 + 4 + 4 + 4 + 4));
  EXPECT_EQ(flops(", is_causal = 1, past_keys = -4"), kPair * (1 + 2));
  EXPECT_EQ(flops(", is_causal = 1, past_keys = -9"), 0);
  EXPECT_EQ(flops(", is_causal = 1, past_keys = 1099511627776"), kPair * 6 * 4);
}

TEST_F(NodeCostTest, FormsOfOneConvolutionCountTheSame) {
  constexpr int64_t kDirect = 2 * (16 * 12 * 12) * (8 * 3 * 3);
  EXPECT_EQ(*Flops(R"(
    graph "g" (%x: f32[1, 1, 12, 12, 8], %w: f32[2, 1, 3, 3, 8, 8]) -> (%y) {
      %y = slipway.ConvNCHWc(%x, %w) {pads = [1, 1, 1, 1]}
    })"),
            kDirect);
  EXPECT_EQ(*Flops(R"(
    graph "g" (%x: f32[1, 1, 12, 12, 8], %w: f32[6, 6, 2, 1, 8, 8]) -> (%y) {
      %y = slipway.WinogradConvNCHWc(%x, %w) {pads = [1, 1, 1, 1]}
    })"),
            kDirect);
  EXPECT_EQ(*Flops(R"(
    graph "g" (%x: f32[1, 2, 12, 12, 8], %w: f32[2, 3, 3, 8]) -> (%y) {
      %y = slipway.DepthwiseConvNCHWc(%x, %w) {group = 16, pads = [1, 1, 1, 1]}
    })"),
            2 * (16 * 12 * 12) * (3 * 3));
}

// Each element of the input meets each of the weights of its group.
TEST_F(NodeCostTest, ATransposedConvolutionCountsFromItsInput) {
  EXPECT_EQ(*Flops(R"(
    graph "g" (%x: f32[1, 4, 6, 6], %w: f32[4, 3, 2, 2]) -> (%y) {
      %y = ConvTranspose(%x, %w) {group = 2, strides = [2, 2]}
    })"),
            2 * (4 * 6 * 6) * (3 * 2 * 2));
}

TEST_F(NodeCostTest, ProductsOfMatrices) {
  EXPECT_EQ(*Flops(R"(graph "g" (%x: f32[7, 3], %w: f32[5, 7]) -> (%y) {
      %y = Gemm(%x, %w) {transA = 1, transB = 1}
    })"),
            2 * 3 * 5 * 7);
  EXPECT_EQ(*Flops(R"(graph "g" (%x: f32[2, 1, 3, 7], %w: f32[4, 7, 5]) -> (%y) {
      %y = MatMul(%x, %w)
    })"),
            2 * (2 * 4) * 3 * 5 * 7);
  EXPECT_EQ(*Flops(R"(graph "g" (%x: u8[2, 3, 7], %w: i8[7, 5]) -> (%y) {
      %y = MatMulInteger(%x, %w)
    })"),
            2 * 2 * 3 * 5 * 7);
}

TEST_F(NodeCostTest, AttentionMeetsKeysAndValues) {
  EXPECT_EQ(*Flops(R"(graph "g" (%q: f32[2, 4, 10, 8], %k: f32[2, 4, 12, 8],
                                 %v: f32[2, 4, 12, 6]) -> (%y) {
      %y = Attention(%q, %k, %v)
    })"),
            2 * (2 * 4 * 10 * 12) * (8 + 6));
}

TEST_F(NodeCostTest, EachStepOfARecurrentLayer) {
  EXPECT_EQ(*Flops(R"(
    graph "g" (%x: f32[7, 2, 3], %w: f32[1, 20, 3], %r: f32[1, 20, 5]) -> (%y) {
      %y = LSTM(%x, %w, %r) {hidden_size = 5}
    })"),
            2 * 7 * 2 * (20 * 3 + 20 * 5));
}

TEST_F(NodeCostTest, AKernelHasTheProductsOfItsBody) {
  const Graph graph = Parse(R"(
    graph "g" (%x: f32[3, 7], %w: f32[7, 5]) -> (%y) {
      %y = slipway.Fused(%x, %w) {body = graph "b" (%x: f32[3, 7], %w: f32[7, 5]) -> (%y) {
        %z = MatMul(%x, %w) : f32[3, 5]
        %y = Relu(%z) : f32[3, 5]
      }}
    })");
  EXPECT_EQ(*ProductFlops(graph, graph.nodes[0], tester_.registry()), 2 * 3 * 5 * 7);
  EXPECT_EQ(ProductType(graph, graph.nodes[0]), DataType::kFloat32);
  EXPECT_EQ(NodeFlops(graph, graph.nodes[0], tester_.registry()), 2 * 3 * 5 * 7);
}

TEST_F(NodeCostTest, AllElseHasNoProducts) {
  const Graph graph = Parse("graph \"g\" (%x: f32[3, 7]) -> (%y) { %y = Relu(%x) }");
  EXPECT_EQ(*ProductFlops(graph, graph.nodes[0], tester_.registry()), 0);
  EXPECT_EQ(ProductType(graph, graph.nodes[0]), DataType::kInvalid);
  EXPECT_EQ(NodeFlops(graph, graph.nodes[0], tester_.registry()), 3 * 7);
}

TEST_F(NodeCostTest, IsNotKnownOfOpenExtents) {
  constexpr absl::string_view kOpen = R"(
    graph "g" [n in 1..9] (%x: f32[n, 4], %w: f32[4, 5]) -> (%y) { %y = MatMul(%x, %w) })";
  EXPECT_THAT(Flops(kOpen), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"x\"")));
  EXPECT_THAT(Traffic(kOpen), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"x\"")));
  const Graph graph = Parse(kOpen);
  EXPECT_EQ(NodeFlops(graph, graph.nodes[0], tester_.registry()), 0);
}

TEST_F(NodeCostTest, InputsAreReadOnceAndOutputsWrittenOnce) {
  const absl::StatusOr<NodeTraffic> traffic = Traffic(R"(
    graph "g" (%x: f32[3, 7]) -> (%y) {
      const %w: f32[7] = splat 2
      %a = Add(%x, %w)
      %y = Mul(%a, %a)
    })");
  ASSERT_OK(traffic.status());
  EXPECT_EQ(traffic->bytes, 4 * (3 * 7 + 3 * 7));
  EXPECT_EQ(traffic->constant_bytes, 0);
  const absl::StatusOr<NodeTraffic> with_constant = Traffic(R"(
    graph "g" (%x: f32[3, 7]) -> (%y) {
      const %w: f32[7] = splat 2
      %y = Add(%x, %w)
    })");
  ASSERT_OK(with_constant.status());
  EXPECT_EQ(with_constant->bytes, 4 * (3 * 7 + 7 + 3 * 7));
  EXPECT_EQ(with_constant->constant_bytes, 4 * 7);
}

TEST_F(NodeCostTest, OfATableWhatIsPickedIsRead) {
  const absl::StatusOr<NodeTraffic> alone = Traffic(R"(
    graph "g" (%x: i64[3]) -> (%y) {
      const %table: f32[1000, 8] = splat 1
      %y = Gather(%table, %x)
    })");
  ASSERT_OK(alone.status());
  EXPECT_EQ(alone->constant_bytes, 4 * 3 * 8);
  EXPECT_EQ(alone->bytes, 8 * 3 + 2 * (4 * 3 * 8));
  const absl::StatusOr<NodeTraffic> fused = Traffic(R"(
    graph "g" (%x: i64[3]) -> (%y) {
      const %table: f32[1000, 8] = splat 1
      %y = slipway.Fused(%table, %x) {body = graph "b" (%t: f32[1000, 8], %i: i64[3]) -> (%y) {
        %z = Gather(%t, %i) : f32[3, 8]
        %y = Relu(%z) : f32[3, 8]
      }}
    })");
  ASSERT_OK(fused.status());
  EXPECT_EQ(fused->constant_bytes, 4 * 3 * 8);
  EXPECT_EQ(fused->bytes, alone->bytes);
}

}  // namespace
}  // namespace slipway
