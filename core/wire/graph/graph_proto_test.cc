#include "core/wire/graph/graph_proto.h"

#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/graph/text.h"
#include "core/tensor/tensor.h"
#include "core/wire/tensor_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

// What a graph can have, each at least once.
constexpr char kEverything[] = R"(
graph "any" [batch in 1..64, w in 0..4096] (%x: f32[batch, 3, w], %"a b": i64[?], %u) -> (%y, %y) {
  const %k: i8[2, 1] quantized {axis = 0, scales = [0.5, 0.1], zeros = [0, -3]} = {1, 2}
  const %n: f32[3] = {nan, -inf, nan(ffc00000)}
  const %i4: i4[2] = {-8, 7}
  const %e: f64[0] = {}
  %q = Quantize(%x, %k) : u8[batch, 3, floordiv(w + 1, 2)] quantized {scales = [0.25], zeros = [128]}
  %y, _ = "o::p" "n" (%q, _, %i4) {b = graph "i" [w in 0..4096] (%z: f32[3*w - 1]) -> (%z) {
    }, f = 2.0, fs = [0.5, nan(7fc00001)], i = -5, is = [1], n = ints[], m = floats[], o = strings[], s = "\\\"\x01\xff", ss = ["a", ""], t = i64[2] {1, 2}} : f32[], ?
})";

absl::StatusOr<Blob> NoBlob(const Digest& digest) { return absl::NotFoundError(digest.ToString()); }

TEST(GraphProtoTest, EverythingComesBack) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ParseGraph(kEverything));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, FormatGraphFile(graph));
  ASSERT_OK_AND_ASSIGN(const Graph again, ParseGraphFile(bytes));
  EXPECT_EQ(Print(again), Print(graph));
  EXPECT_TRUE(again == graph);
  ASSERT_OK_AND_ASSIGN(const std::string twice, FormatGraphFile(again));
  EXPECT_EQ(twice, bytes);
}

TEST(GraphProtoTest, LargeTensorsAreBlobsEachOnce) {
  const Tensor large = Tensor::Zeros(DataType::kFloat32, {kMaxInlineTensorBytes / 4 + 1});
  Graph graph;
  graph.name = "g";
  graph.outputs = {graph.AddConstant("a", large), graph.AddConstant("b", large)};
  ASSERT_OK_AND_ASSIGN(std::string bytes, FormatGraphFile(graph));
  EXPECT_LT(bytes.size(), large.byte_size() + 1000);
  ASSERT_OK_AND_ASSIGN(const Graph again, ParseGraphFile(bytes));
  EXPECT_TRUE(again == graph);

  v1::GraphFile file;
  ASSERT_TRUE(file.ParseFromString(bytes));
  file.mutable_blobs(0)->front() = 1;
  EXPECT_THAT(ParseGraphFile(file.SerializeAsString()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("lacks the blob")));
}

TEST(GraphProtoTest, BytesThatAreNoGraph) {
  EXPECT_THAT(ParseGraphFile(""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseGraphFile("graph \"g\" () -> () {}"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no graph in protobuf")));
}

// The graph in the message `proto`, as `change` leaves it.
absl::Status Changed(const std::function<void(v1::Graph&)>& change) {
  auto graph = ParseGraph(kEverything);
  if (!graph.ok()) return graph.status();
  v1::Graph proto = ToProto(*graph, [](const Digest&, absl::string_view) {});
  change(proto);
  return FromProto(proto, NoBlob).status();
}

TEST(GraphProtoTest, HostileMessagesAreRefused) {
  const auto invalid = [](absl::string_view message) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(std::string(message)));
  };
  EXPECT_OK(Changed([](v1::Graph&) {}));
  EXPECT_THAT(Changed([](v1::Graph& g) { g.mutable_nodes(0)->set_inputs(0, 1000); }),
              invalid("node 0 \"\" (\"Quantize\"): value 1000 is mentioned"));
  EXPECT_THAT(Changed([](v1::Graph& g) { g.mutable_nodes(0)->set_inputs(0, -2); }),
              invalid("value -2"));
  EXPECT_THAT(Changed([](v1::Graph& g) { g.set_outputs(0, -1); }), invalid("outputs: value -1"));
  EXPECT_THAT(Changed([](v1::Graph& g) { g.mutable_symbols(0)->set_min(-1); }), invalid("batch"));
  EXPECT_THAT(Changed([](v1::Graph& g) { g.mutable_values(0)->mutable_type()->set_dtype({}); }),
              invalid("value \"x\": unknown data type number 0"));
  EXPECT_THAT(Changed([](v1::Graph& g) {
                g.mutable_values(0)->mutable_type()->mutable_dimensions(0)->set_extent(-1);
              }),
              invalid("value \"x\""));
  EXPECT_THAT(Changed([](v1::Graph& g) {
                g.mutable_values(0)->mutable_type()->mutable_dimensions(0)->set_expression("w +");
              }),
              invalid("value \"x\""));
  EXPECT_THAT(
      Changed([](v1::Graph& g) { g.mutable_nodes(1)->mutable_attributes(0)->clear_graph(); }),
      invalid("attribute \"b\": no value is set"));
  EXPECT_THAT(
      Changed([](v1::Graph& g) { g.mutable_nodes(1)->mutable_attributes(1)->set_name("b"); }),
      invalid("attribute \"b\" is not in order, or there twice"));
  EXPECT_THAT(Changed([](v1::Graph& g) {
                for (v1::Graph::Value& value : *g.mutable_values()) {
                  if (value.name() == "n") value.mutable_constant()->set_inline_data("x");
                }
              }),
              invalid("value \"n\""));
}

TEST(GraphProtoTest, LimitsHold) {
  const auto exhausted = [](absl::string_view message) {
    return StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(std::string(message)));
  };
  EXPECT_THAT(Changed([](v1::Graph& g) {
                for (int i = 0; i <= kMaxRank; ++i) {
                  g.mutable_values(0)->mutable_type()->add_dimensions()->set_extent(1);
                }
              }),
              exhausted("extents"));
  EXPECT_THAT(Changed([](v1::Graph& g) {
                for (int i = 0; i <= kMaxNodeArity; ++i) g.mutable_nodes(0)->add_inputs(-1);
              }),
              exhausted("inputs, more than the limit of 65536"));
  EXPECT_THAT(Changed([](v1::Graph& g) { g.set_name(std::string(kMaxNameBytes + 1, 'a')); }),
              exhausted("name of a graph"));
  EXPECT_THAT(Changed([](v1::Graph& g) {
                v1::Graph* body = &g;
                for (int i = 0; i <= kMaxGraphNesting; ++i) {
                  v1::Graph::Node& node = *body->add_nodes();
                  node.clear_attributes();
                  node.add_attributes()->set_name("b");
                  body = node.mutable_attributes(0)->mutable_graph();
                }
              }),
              exhausted("graphs within one another"));
}

}  // namespace
}  // namespace slipway
