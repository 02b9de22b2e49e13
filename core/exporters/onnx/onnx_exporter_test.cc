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

TEST_F(OnnxExporterTest, WhatOnnxCannotSayIsRefusedByName) {
  const auto refused = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(std::string(what)));
  };
  EXPECT_THAT(Export(R"(graph "g" (%x: f32[1, 4, 2, 2]) -> (%y) {
    %y = slipway.Pack "p" (%x) {block = 4} })"),
              refused("node \"p\" (slipway.Pack): an operator of Slipway's own"));
  EXPECT_THAT(Export(R"(graph "g" (%x: i8[2] quantized {scales = [0.5], zeros = [0]}) -> (%x) {})"),
              refused("value \"x\" has a quantized type"));
  EXPECT_THAT(Export(R"(graph "g" (%x: i2[2]) -> (%x) {})", {.opset = 24}),
              refused("value \"x\" has the element type i2 at opset 24"));
}

}  // namespace
}  // namespace slipway
