// Type rules over extents that are symbols, expressions or not known.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/operators/convolution.h"
#include "core/operators/movement.h"
#include "core/operators/type_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// A node with one list of i64 as its last input.
std::string WithInts(const std::string& x, const std::string& node, const std::string& ints) {
  const size_t count = 1 + std::count(ints.begin(), ints.end(), ',');
  return TypeOf(absl::StrCat("%x: ", x),
                absl::StrCat("const %i: i64[", count, "] = {", ints, "}\n", node));
}

TEST(OpenTypesTest, ElementwiseAndBroadcast) {
  EXPECT_EQ(TypeOf("%x: f32[b, ?]", "%y = Relu(%x)"), "f32[b, ?]");
  EXPECT_EQ(TypeOf("%x: f32[b, 1, w], %z: f32[3, 1]", "%y = Add(%x, %z)"), "f32[b, 3, w]");
  EXPECT_EQ(TypeOf("%x: f32[b], %z: f32[c], %u: f32[1]", "%y = Sum(%x, %z, %u)"), "f32[max(b, c)]");
  EXPECT_EQ(TypeOf("%x: f32[b, ?], %z: f32[b, 4]", "%y = Mul(%x, %z)"), "f32[b, 4]");
  EXPECT_EQ(TypeOf("%x: f32[?, w]", "%y = Cast(%x) {to = 7}"), "i64[?, w]");
  EXPECT_EQ(TypeOf("%x: f32[b, ?]", "%y, %m = Dropout(%x)"), "f32[b, ?]; bool[b, ?]");
  EXPECT_EQ(TypeOf("%x: f32[b], %l: f32[?]", "%y = Clip(%x, %l)"), "f32[b]");
  EXPECT_THAT(TypeOf("%x: f32[b], %l: f32[?, 2]", "%y = Clip(%x, %l)"), HasSubstr("f32[b]"));
  EXPECT_THAT(TypeOf("%x: f32[b, 2], %z: f32[b, 3]", "%y = Add(%x, %z)"),
              HasSubstr("shapes [b, 2] and [b, 3] cannot be broadcast together"));
}

TEST(OpenTypesTest, ConvolutionsAndPools) {
  const auto conv = [](const std::string& x, const std::string& w, const std::string& attributes) {
    return TypeOf(absl::StrCat("%x: ", x, ", %w: ", w),
                  absl::StrCat("%y = Conv(%x, %w) {", attributes, "}"));
  };
  EXPECT_EQ(conv("f32[b, 3, h, w]", "f32[64, 3, 7, 7]", "pads = [3, 3, 3, 3], strides = [2, 2]"),
            "f32[b, 64, floordiv(h + 1, 2), floordiv(w + 1, 2)]");
  EXPECT_EQ(conv("f32[b, 3, h]", "f32[64, 3, 3]", ""), "f32[b, 64, h - 2]");
  EXPECT_EQ(conv("f32[b, 3, h]", "f32[64, 3, 3]", "auto_pad = \"SAME_UPPER\", strides = [2]"),
            "f32[b, 64, floordiv(h + 1, 2)]");
  EXPECT_EQ(conv("f32[?, ?, ?, 8]", "f32[4, 2, 3, 3]", "group = 2"), "f32[?, 4, ?, 6]");
  EXPECT_EQ(conv("f32[1, c, 8]", "f32[n, c, k]", ""), "f32[1, n, -k + 9]");
  EXPECT_THAT(conv("f32[b, 3, h, w]", "f32[64, 4, 1, 1]", ""), HasSubstr("these do not fit"));
  EXPECT_THAT(conv("f32[b, 3, h, 4]", "f32[64, 3, 1, 5]", ""),
              HasSubstr("does not fit into spatial"));
  EXPECT_THAT(conv("f32[b, c, h, 4]", "f32[3, c, 1, 1]", "group = 2"), HasSubstr("do not fit"));

  EXPECT_EQ(TypeOf("%x: f32[b, 3, w]",
                   "%y = MaxPool(%x) {kernel_shape = [2], strides = [2], ceil_mode = 1}"),
            "f32[b, 3, floordiv(w + 1, 2)]");
  EXPECT_EQ(TypeOf("%x: f32[b, 3, w]",
                   "%y = AveragePool(%x) {kernel_shape = [3], strides = [3], pads = [1, 1]}"),
            "f32[b, 3, floordiv(w + 2, 3)]");
  EXPECT_EQ(TypeOf("%x: f32[b, c, w, ?]", "%y = GlobalAveragePool(%x)"), "f32[b, c, 1, 1]");
}

TEST(OpenTypesTest, MatrixProducts) {
  EXPECT_EQ(TypeOf("%a: f32[b, n, k], %b: f32[k, m]", "%y = MatMul(%a, %b)"), "f32[b, n, m]");
  EXPECT_EQ(TypeOf("%a: f32[b, 1, n, 8], %b: f32[12, ?, m]", "%y = MatMul(%a, %b)"),
            "f32[b, 12, n, m]");
  EXPECT_THAT(TypeOf("%a: f32[b, n, 7], %b: f32[8, m]", "%y = MatMul(%a, %b)"),
              HasSubstr("matrices of shapes [b, n, 7] and [8, m] cannot be multiplied"));
  EXPECT_EQ(
      TypeOf("%a: f32[k, b], %b: f32[k, 10], %c: f32[10]", "%y = Gemm(%a, %b, %c) {transA = 1}"),
      "f32[b, 10]");
  EXPECT_THAT(TypeOf("%a: f32[b, k], %b: f32[k, 10], %c: f32[11]", "%y = Gemm(%a, %b, %c)"),
              HasSubstr("c of shape [11] does not broadcast to [b, 10]"));
}

TEST(OpenTypesTest, Reshaping) {
  EXPECT_EQ(WithInts("f32[b, 3, h, w]", "%y = Reshape(%x, %i)", "0, -1"), "f32[b, 3*h*w]");
  EXPECT_EQ(WithInts("f32[?, 3, h]", "%y = Reshape(%x, %i)", "0, -1"), "f32[?, 3*h]");
  EXPECT_EQ(WithInts("f32[b, 12]", "%y = Reshape(%x, %i)", "-1, 4, 3"), "f32[b, 4, 3]");
  EXPECT_EQ(WithInts("f32[b, 6]", "%y = Reshape(%x, %i)", "-1, 4"), "f32[b + floordiv(b, 2), 4]");
  EXPECT_EQ(WithInts("f32[?, 6]", "%y = Reshape(%x, %i)", "-1, 6"), "f32[?, 6]");
  EXPECT_EQ(WithInts("f32[?, 6]", "%y = Reshape(%x, %i)", "2, 3"), "f32[2, 3]");
  EXPECT_THAT(WithInts("f32[b, 6]", "%y = Reshape(%x, %i)", "0, 5"), HasSubstr("cannot give"));
  EXPECT_THAT(WithInts("f32[b, 6]", "%y = Reshape(%x, %i)", "0, -1, 4"), HasSubstr("cannot give"));
  EXPECT_EQ(TypeOf("%x: f32[b, c, h, 2]", "%y = Flatten(%x) {axis = 2}"), "f32[b*c, 2*h]");
  EXPECT_EQ(WithInts("f32[b, 1, ?]", "%y = Squeeze(%x, %i)", "1, 2"), "f32[b]");
  EXPECT_THAT(WithInts("f32[b, 3]", "%y = Squeeze(%x, %i)", "1"), HasSubstr("cannot be squeezed"));
  EXPECT_THAT(TypeOf("%x: f32[b, 1]", "%y = Squeeze(%x)"),
              HasSubstr("which dimensions of [b, 1] are 1 is not known"));
  EXPECT_EQ(WithInts("f32[b, ?]", "%y = Unsqueeze(%x, %i)", "0, -1"), "f32[1, b, ?, 1]");
  EXPECT_EQ(TypeOf("%x: f32[b, ?, 3]", "%y = Shape(%x)"), "i64[3]");
  EXPECT_EQ(TypeOf("%x: f32[b, ?, 3]", "%y = Shape(%x) {start = 1, end = -1}"), "i64[1]");
}

TEST(OpenTypesTest, Movement) {
  EXPECT_EQ(TypeOf("%x: f32[b, 3, w]", "%y = Transpose(%x) {perm = [2, 0, 1]}"), "f32[w, b, 3]");
  EXPECT_EQ(TypeOf("%x: f32[?, n], %z: f32[b, 4]", "%y = Concat(%x, %z) {axis = 1}"),
            "f32[b, n + 4]");
  EXPECT_THAT(TypeOf("%x: f32[2, n], %z: f32[3, n]", "%y = Concat(%x, %z) {axis = 1}"),
              HasSubstr("does not join"));
  EXPECT_EQ(TypeOf("%x: f32[b, n], %i: i64[k, ?]", "%y = Gather(%x, %i) {axis = 1}"),
            "f32[b, k, ?]");
  EXPECT_EQ(TypeOf("%x: f32[b, 3*n]", "%y, %z, %u = Split(%x) {axis = 1, num_outputs = 3}"),
            "f32[b, n]; f32[b, n]; f32[b, n]");
  EXPECT_EQ(WithInts("f32[n]", "%y, %z = Split(%x, %i)", "3, 4"), "f32[3]; f32[4]");
  EXPECT_THAT(WithInts("f32[8]", "%y, %z = Split(%x, %i)", "3, 4"), HasSubstr("do not split 8"));
  EXPECT_EQ(WithInts("f32[b, ?]", "%y = Expand(%x, %i)", "2, 1, 5"), "f32[2, b, 5]");
  EXPECT_EQ(WithInts("f32[b, w]", "%y = Pad(%x, %i)", "0, 1, 0, 2"), "f32[b, w + 3]");
  EXPECT_EQ(TypeOf("%x: f32[b, 4*c, h, w]", "%y = DepthToSpace(%x) {blocksize = 2}"),
            "f32[b, c, 2*h, 2*w]");
  EXPECT_EQ(TypeOf("%x: f32[b, c, h, 4]", "%y = SpaceToDepth(%x) {blocksize = 2}"),
            "f32[b, 4*c, floordiv(h, 2), 2]");
  EXPECT_EQ(WithInts("f32[b, c, w]", "%y = ReduceMean(%x, %i) {keepdims = 0}", "0, -1"), "f32[c]");
  EXPECT_EQ(TypeOf("%x: f32[b, ?]", "%y = ArgMax(%x) {axis = 1}"), "i64[b, 1]");
  EXPECT_EQ(TypeOf("%x: f32[b, ?]", "%y = Softmax(%x)"), "f32[b, ?]");
}

TEST(OpenTypesTest, SlicesFollowPythonsRule) {
  const auto slice = [](const std::string& x, int64_t start, int64_t end, int64_t step) {
    return TypeOf(absl::StrCat("%x: ", x),
                  absl::StrCat("const %s: i64[1] = {", start, "}\nconst %e: i64[1] = {", end,
                               "}\nconst %a: i64[1] = {0}\nconst %t: i64[1] = {", step,
                               "}\n%y = Slice(%x, %s, %e, %a, %t)"));
  };
  const int64_t kAll = INT64_MAX;
  EXPECT_EQ(slice("f32[w]", 0, kAll, 1), "f32[w]");
  EXPECT_EQ(slice("f32[w]", 0, kAll, 2), "f32[floordiv(w + 1, 2)]");
  EXPECT_EQ(slice("f32[w]", 0, 5, 1), "f32[min(w, 5)]");
  EXPECT_EQ(slice("f32[w]", 2, kAll, 1), "f32[max(w - 2, 0)]");
  EXPECT_EQ(slice("f32[w]", 0, -1, 1), "f32[max(w - 1, 0)]");
  EXPECT_EQ(slice("f32[w]", -2, kAll, 1), "f32[min(w, 2)]");
  EXPECT_EQ(slice("f32[w]", -1, INT64_MIN, -1), "f32[?]");
  EXPECT_EQ(slice("f32[?]", 0, 5, 1), "f32[?]");
  // By every start, end and step the expression says what the rule says of numbers.
  for (int64_t start = -4; start <= 4; ++start) {
    for (int64_t end = -4; end <= 4; ++end) {
      for (int64_t step = 1; step <= 2; ++step) {
        const std::string open = slice("f32[w]", start, end, step);
        const auto expression = ParseExpression(open.substr(4, open.size() - 5));
        ASSERT_TRUE(expression.ok()) << open;
        for (int64_t extent = 0; extent <= 6; ++extent) {
          const auto count = Evaluate(*expression, {{"w", extent}});
          EXPECT_EQ(absl::StrCat("f32[", *count, "]"),
                    slice(absl::StrCat("f32[", extent, "]"), start, end, step))
              << start << ":" << end << ":" << step;
        }
      }
    }
  }
}

TEST(OpenTypesTest, DecodedWindowsSayWhatIsOpen) {
  const OperatorRegistry registry = StandardOperators();
  const Graph graph = *ParseGraph(
      "graph \"t\" (%x: f32[b, 1, w], %w: f32[1, 1, 4], %v: f32[1, 1, ?]) -> () {"
      " %y = Conv(%x, %w)\n %z = Conv \"c\" (%x, %v) }");
  const auto view = NodeView::Create(graph, graph.nodes[0], registry);
  const auto conv = DecodeConv(*view);
  ASSERT_TRUE(conv.ok()) << conv.status();
  EXPECT_EQ(conv->batch, kOpenExtent);
  EXPECT_EQ(conv->window.kernel[0], 4);
  EXPECT_EQ(conv->window.output[0], kOpenExtent);
  const auto open = NodeView::Create(graph, graph.nodes[1], registry);
  const absl::Status status = DecodeConv(*open).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("node \"c\" (Conv): windows of [?]"));
}

TEST(OpenTypesTest, Signals) {
  EXPECT_EQ(TypeOf("%x: f32[b, n, p]", "%y = DFT(%x)"), "f32[b, n, 2]");
  EXPECT_EQ(TypeOf("%x: f32[b, 8, ?]", "%y = DFT(%x) {onesided = 1}"), "f32[b, 5, 2]");
  EXPECT_THAT(TypeOf("%x: f32[b, 8, 2]", "%y = DFT(%x) {onesided = 1}"),
              HasSubstr("one-sided transform of complex numbers"));
  EXPECT_THAT(TypeOf("%x: f32[b, n, 3]", "%y = DFT(%x)"), HasSubstr("must hold 1 or 2 numbers"));
}

TEST(OpenTypesTest, ShapesThatAreComputed) {
  // A shape that no value is known of has its length's rank; what rank it is must be known.
  EXPECT_EQ(TypeOf("%x: f32[b, 6], %s: i64[3]", "%y = Reshape(%x, %s)"), "f32[?, ?, ?]");
  EXPECT_THAT(TypeOf("%x: f32[b, 6], %s: i64[?]", "%y = Reshape(%x, %s)"),
              HasSubstr("the shape (input 1) must be known"));
  EXPECT_EQ(TypeOf("%s: i64[2]", "%y = ConstantOfShape(%s)"), "f32[?, ?]");
  EXPECT_EQ(TypeOf("%x: f32[3], %s: i64[2]", "%y = Expand(%x, %s)"), "f32[?, 3]");
  EXPECT_EQ(TypeOf("%a: i64[], %b: i64[], %c: i64[]", "%y = Range(%a, %b, %c)"), "i64[?]");
}

}  // namespace
}  // namespace slipway
