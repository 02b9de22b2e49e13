#include "core/exporters/onnx/onnx_exporter.h"

#include <string>

#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"
#include "third_party/onnx/onnx.pb.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OnnxExporterTest : public ::testing::Test {
 protected:
  absl::StatusOr<onnx::ModelProto> Export(absl::string_view text,
                                          const OnnxExportOptions& options = {}) {
    auto graph = ParseGraph(text);
    if (!graph.ok()) return graph.status();
    auto files = ExportOnnx(*graph, registry_, options);
    if (!files.ok()) return files.status();
    external_ = files->external;
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(files->main));
    return model;
  }
  const OperatorRegistry registry_ = StandardOperators();
  std::string external_;
};

constexpr char kConv[] = R"(
graph "net" [n in 1..8] (%x: f32[n, 1, 4, ?]) -> (%y) {
  const %w: f32[2, 1, 3, 3] = splat 0.5
  %y = Conv "c1" (%x, %w) {auto_pad = "SAME_UPPER", strides = [1, 1]} : f32[n, 2, 4, ?]
})";

TEST_F(OnnxExporterTest, WritesNodesInputsAndInitializers) {
  ASSERT_OK_AND_ASSIGN(const onnx::ModelProto model, Export(kConv));
  EXPECT_EQ(model.ir_version(), 14);
  ASSERT_EQ(model.opset_import_size(), 1);
  EXPECT_EQ(model.opset_import(0).version(), kOpset);
  const onnx::GraphProto& graph = model.graph();
  EXPECT_EQ(graph.name(), "net");
  ASSERT_EQ(graph.node_size(), 1);
  EXPECT_EQ(graph.node(0).name(), "c1");
  EXPECT_EQ(graph.node(0).input(1), "w");
  ASSERT_EQ(graph.node(0).attribute_size(), 2);
  EXPECT_EQ(graph.node(0).attribute(0).s(), "SAME_UPPER");
  EXPECT_EQ(graph.node(0).attribute(1).ints_size(), 2);
  ASSERT_EQ(graph.initializer_size(), 1);
  EXPECT_EQ(graph.initializer(0).raw_data().size(), 18 * sizeof(float));
  const auto& shape = graph.input(0).type().tensor_type().shape();
  ASSERT_EQ(shape.dim_size(), 4);
  EXPECT_EQ(shape.dim(0).dim_param(), "n");
  EXPECT_EQ(shape.dim(2).dim_value(), 4);
  EXPECT_FALSE(shape.dim(3).has_dim_param() || shape.dim(3).has_dim_value());
  EXPECT_EQ(graph.output(0).name(), "y");
}

TEST_F(OnnxExporterTest, PutsTensorsBesideTheModel) {
  ASSERT_OK_AND_ASSIGN(const onnx::ModelProto model, Export(R"(
graph "g" (%x: f32[2, 512]) -> (%y) {
  const %a: f32[512] = splat 1
  const %b: f32[513] = splat 2
  const %small: f32[1] = {3}
  %p, %q = Split(%b) {num_outputs = 2}
  %s = Add(%x, %a)
  %y = Add(%s, %small)
})",
                                                            {.external_name = "w.bin"}));
  EXPECT_EQ(external_.size(), 2048u + 2052u);
  const auto& initializers = model.graph().initializer();
  ASSERT_EQ(initializers.size(), 3);
  EXPECT_EQ(initializers[1].data_location(), onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(initializers[1].external_data(0).value(), "w.bin");
  EXPECT_EQ(initializers[1].external_data(1).value(), "2048");
  EXPECT_EQ(initializers[1].external_data(2).value(), "2052");
  EXPECT_FALSE(initializers[1].has_raw_data());
  EXPECT_EQ(initializers[2].raw_data().size(), 4u);
}

TEST_F(OnnxExporterTest, OperatorsOfFurtherDomains) {
  ASSERT_OK_AND_ASSIGN(const onnx::ModelProto model, Export(R"(
graph "g" (%x: f32[2], %r: f32[], %t: i64[]) -> (%a) {
  %a, %b = ai.onnx.preview.training.Adagrad(%r, %t, %x, %x, %x)
})"));
  EXPECT_EQ(model.graph().node(0).op_type(), "Adagrad");
  EXPECT_EQ(model.graph().node(0).domain(), "ai.onnx.preview.training");
  ASSERT_EQ(model.opset_import_size(), 2);
  EXPECT_EQ(model.opset_import(1).domain(), "ai.onnx.preview.training");
  EXPECT_EQ(model.opset_import(1).version(), 1);
}

TEST_F(OnnxExporterTest, NamesOfNodesAreUnique) {
  ASSERT_OK_AND_ASSIGN(const onnx::ModelProto model, Export(R"(
graph "g" (%x: f32[2]) -> (%c) {
  %a = Relu "n" (%x)
  %b = Exp "n" (%a)
  %c = Neg(%b)
})"));
  EXPECT_EQ(model.graph().node(0).name(), "n");
  EXPECT_EQ(model.graph().node(1).name(), "n_1");
  EXPECT_EQ(model.graph().node(2).name(), "");
}

TEST_F(OnnxExporterTest, OlderOpsets) {
  ASSERT_OK_AND_ASSIGN(const onnx::ModelProto model, Export(kConv, {.opset = 20}));
  EXPECT_EQ(model.opset_import(0).version(), 20);
  EXPECT_EQ(model.ir_version(), 9);
  EXPECT_THAT(Export(kConv, {.opset = 17}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("opset 17")));
  EXPECT_THAT(Export(kConv, {.opset = kOpset + 1}), StatusIs(absl::StatusCode::kInvalidArgument));

  constexpr char kGelu[] = R"(graph "g" (%x: f32[2]) -> (%y) { %y = Gelu "act" (%x) })";
  EXPECT_OK(Export(kGelu, {.opset = 20}).status());
  EXPECT_THAT(Export(kGelu, {.opset = 19}),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("node \"act\" (Gelu)"), HasSubstr("since opset 20"))));

  // An attribute that came later is left out where it says nothing.
  constexpr char kCast[] =
      R"(graph "g" (%x: f32[2]) -> (%y) { %y = Cast(%x) {to = 10, saturate = 1} })";
  ASSERT_OK_AND_ASSIGN(const onnx::ModelProto cast, Export(kCast, {.opset = 18}));
  EXPECT_EQ(cast.graph().node(0).attribute_size(), 1);
  constexpr char kNoSaturation[] =
      R"(graph "g" (%x: f32[2]) -> (%y) { %y = Cast(%x) {to = 10, saturate = 0} })";
  EXPECT_THAT(Export(kNoSaturation, {.opset = 18}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("\"saturate\"")));
}

TEST_F(OnnxExporterTest, BodiesReadWhatTheyCaptureByItsName) {
  ASSERT_OK_AND_ASSIGN(const onnx::ModelProto model, Export(R"(
graph "g" (%c: bool[], %x: f32[2], %t: f32[2]) -> (%y, %z) {
  const %w: f32[2] = {1, 2}
  const %turns: i64[] = {3}
  %y, %z = If(%c, %x, %w) {captures = 2,
    then_branch = graph "then" (%a, %b) -> (%t, %y) {
      const %w: f32[2] = {1, 2}
      const %k: f32[2] = {1, 2}
      %t = Add(%a, %w)
      %y = Sub(%k, %b)
    },
    else_branch = graph "else" (%a, %b) -> (%o, %o) {
      const %w: f32[2] = {1, 3}
      const %turns: i64[] = {3}
      %o = Loop(%turns, _, %a, %w) {captures = 1,
        body = graph "loop" (%i, %on, %v, %d) -> (%on, %y) {
          %y = Sub(%v, %d)
        }
      }
    }
  }
})"));
  const onnx::GraphProto& graph = model.graph();
  ASSERT_EQ(graph.node_size(), 1);
  EXPECT_THAT(graph.node(0).input(), ElementsAre("c"));
  ASSERT_EQ(graph.node(0).attribute_size(), 2);
  // A name is that of one thing alone, as far as it is seen; a constant that is seen already is not written again.
  const onnx::GraphProto& then_branch = graph.node(0).attribute(1).g();
  EXPECT_EQ(then_branch.name(), "then");
  EXPECT_EQ(then_branch.input_size(), 0);
  ASSERT_EQ(then_branch.initializer_size(), 1);
  EXPECT_EQ(then_branch.initializer(0).name(), "k");
  EXPECT_THAT(then_branch.node(0).input(), ElementsAre("x", "w"));
  EXPECT_THAT(then_branch.node(0).output(), ElementsAre("t_1"));
  EXPECT_THAT(then_branch.node(1).input(), ElementsAre("k", "w"));
  EXPECT_EQ(then_branch.output(1).name(), "y_1");
  // Another constant of the name is another thing, and what is handed out twice is two things.
  const onnx::GraphProto& else_branch = graph.node(0).attribute(0).g();
  ASSERT_EQ(else_branch.initializer_size(), 1);
  EXPECT_EQ(else_branch.initializer(0).name(), "w_1");
  ASSERT_EQ(else_branch.node_size(), 2);
  EXPECT_THAT(else_branch.node(0).input(), ElementsAre("turns", "", "x"));
  EXPECT_EQ(else_branch.node(1).op_type(), "Identity");
  EXPECT_EQ(else_branch.output(1).name(), else_branch.node(1).output(0));
  const onnx::GraphProto& body = else_branch.node(0).attribute(0).g();
  EXPECT_EQ(body.input_size(), 3);
  EXPECT_THAT(body.node(0).input(), ElementsAre("v", "w_1"));
  EXPECT_EQ(body.output(0).name(), "on");
  EXPECT_EQ(body.output(1).name(), "y_1");
}

TEST_F(OnnxExporterTest, BodiesHandOnCopiesOfWhatIsAroundThem) {
  ASSERT_OK_AND_ASSIGN(const onnx::ModelProto model, Export(R"(
graph "g" (%c: bool[], %x: f32[2]) -> (%y) {
  %y = If(%c, %x) {captures = 1,
    then_branch = graph "then" (%a: f32[2]) -> (%a) {},
    else_branch = graph "else" (%a: f32[2]) -> (%n) { %n = Neg(%a) : f32[2] }
  }
})"));
  const onnx::GraphProto& then_branch = model.graph().node(0).attribute(1).g();
  ASSERT_EQ(then_branch.node_size(), 1);
  EXPECT_EQ(then_branch.node(0).op_type(), "Identity");
  EXPECT_THAT(then_branch.node(0).input(), ElementsAre("x"));
  EXPECT_EQ(then_branch.output(0).name(), "x_1");
  EXPECT_EQ(then_branch.output(0).type().tensor_type().shape().dim(0).dim_value(), 2);
}

TEST_F(OnnxExporterTest, BodiesThatLackWhatTheyCaptureAreRefused) {
  EXPECT_THAT(Export(R"(graph "g" (%c: bool[], %x: f32[2]) -> (%y) {
    %y = If "i" (%c, %x) {captures = 3, then_branch = graph "t" (%a) -> (%a) {},
      else_branch = graph "e" (%a) -> (%a) {}} })"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("node \"i\" (If): captures 3 inputs, but there are 1")));
}

TEST_F(OnnxExporterTest, WhatOnnxCannotSayIsRefusedByName) {
  const auto refused = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(std::string(what)));
  };
  EXPECT_THAT(Export(R"(graph "g" (%x: f32[1, 4, 2, 2]) -> (%y) {
    %y = slipway.Pack "p" (%x) {block = 4} })"),
              refused("node \"p\" (slipway.Pack): an operator of Slipway's own"));
  EXPECT_THAT(Export(R"(graph "g" (%x: i8[2] quantized {scales = [0.5], zeros = [0]}) -> (%x) {})"),
              refused("value \"x\" has a quantized type"));
  EXPECT_THAT(Export(R"(graph "g" (%s: u8[?], %p: i64[]) -> (%y) { %y = SequenceAt(%s, %p) })"),
              refused("value \"s\" is a sequence"));
  EXPECT_THAT(Export(R"(graph "g" (%x: i2[2]) -> (%x) {})", {.opset = 24}),
              refused("value \"x\" has the element type i2 at opset 24"));
}

}  // namespace
}  // namespace slipway
