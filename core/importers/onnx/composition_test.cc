// Operators of other domains become canonical ones. (Their values are compared with ONNX Runtime's in
// tests/conformance/kept_cases_test.)
#include "core/importers/onnx/composition.h"

#include <string>

#include "core/graph/text.h"
#include "core/importers/onnx/model_builder.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

// The nodes and constants of the imported graph as text, or the error.
std::string Imported(const ModelBuilder& builder) {
  const std::string bytes = builder.Bytes();
  OnnxFiles files;
  files.main = Blob::Own(bytes);
  const auto graph = ImportOnnx(files, StandardOperators());
  if (!graph.ok()) return graph.status().ToString();
  const std::string text = Print(*graph);
  return text.substr(text.find('\n') + 1);
}

TEST(CompositionTest, EveryRowIsOfAnOperatorThatHasNoSchema) {
  const OperatorRegistry registry = StandardOperators();
  const Expansions expansions = AllExpansions();
  EXPECT_GE(expansions.Names().size(), 44u);
  for (const std::string& op : expansions.Names()) EXPECT_EQ(registry.Find(op), nullptr) << op;
}

TEST(CompositionTest, FusedNodesAreTakenApart) {
  ModelBuilder builder(17);
  builder.Input("x", {1, 2, 4, 4}).Input("w", {3, 2, 3, 3}).Output("y");
  onnx::NodeProto& conv = builder.Node("FusedConv", {"x", "w"}, {"y"});
  conv.set_domain("com.microsoft");
  builder.String(conv, "activation", "Relu");
  EXPECT_EQ(Imported(builder),
            "  %y_conv = Conv(%x, %w) {auto_pad = \"NOTSET\", group = 1} : f32[1, 3, 2, 2]\n"
            "  %y = Relu(%y_conv) : f32[1, 3, 2, 2]\n}\n");
  conv.mutable_attribute(0)->set_s("Sine");
  EXPECT_THAT(Imported(builder),
              HasSubstr("UNIMPLEMENTED: node \"y\" (com.microsoft.FusedConv): \"activation\" = "
                        "\"Sine\" with 0 parameters is not supported"));
}

TEST(CompositionTest, BodiesChangeScores) {
  ModelBuilder builder(26);
  builder.Input("q", {1, 2, 3, 4}).Input("k", {1, 1, 5, 4}).Output("y");
  onnx::NodeProto& flex = builder.Node("FlexAttention", {"q", "k", "k"}, {"y"});
  flex.set_domain("ai.onnx.preview");
  onnx::AttributeProto& attribute = *flex.add_attribute();
  attribute.set_name("score_mod");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto& body = *attribute.mutable_g();
  body.set_name("b");
  body.add_input()->set_name("s");
  body.add_output()->set_name("t");
  onnx::NodeProto& tanh = *body.add_node();
  tanh.set_op_type("Tanh");
  tanh.add_input("s");
  tanh.add_output("t");
  const std::string text = Imported(builder);
  EXPECT_THAT(text, HasSubstr("%y_t = Tanh(%y_mul) : f32[1, 2, 3, 5]"));
  EXPECT_THAT(text, HasSubstr("= Softmax(%y_t) {axis = -1} : f32[1, 2, 3, 5]"));
  EXPECT_THAT(text, HasSubstr(": f32[1, 2, 3, 4]\n}"));
  tanh.set_input(0, "q");
  EXPECT_THAT(Imported(builder), HasSubstr("a body that reads what is around it"));
  tanh.set_input(0, "s");
  body.add_input()->set_name("r");
  EXPECT_THAT(Imported(builder), HasSubstr("a body has 2 inputs and 1 outputs, not one each"));
}

TEST(CompositionTest, SchemasAreHeld) {
  ModelBuilder builder(17);
  builder.Input("x", {2, 3}).Output("y");
  onnx::NodeProto& scaler = builder.Node("Scaler", {"x"}, {"y"});
  scaler.set_domain("ai.onnx.ml");
  builder.Int(scaler, "scale", 2);
  EXPECT_THAT(Imported(builder), HasSubstr("INVALID_ARGUMENT"));
  scaler.clear_attribute();
  EXPECT_THAT(Imported(builder), HasSubstr("%y = Mul(%x, "));
  builder.Int(scaler, "sclae", 2);
  EXPECT_THAT(Imported(builder), HasSubstr("has the unknown attribute \"sclae\""));
}

TEST(CompositionTest, LabelsMayBeText) {
  ModelBuilder builder(17);
  builder.Input("x", {2, 1}).Output("y");
  onnx::NodeProto& linear = builder.Node("LinearClassifier", {"x"}, {"y"});
  linear.set_domain("ai.onnx.ml");
  EXPECT_THAT(Imported(builder), HasSubstr("INVALID_ARGUMENT: node \"y\" "
                                           "(ai.onnx.ml.LinearClassifier): neither "
                                           "\"classlabels_ints\" nor \"classlabels_strings\""));
  onnx::AttributeProto& labels = *linear.add_attribute();
  labels.set_name("classlabels_strings");
  labels.set_type(onnx::AttributeProto::STRINGS);
  for (const char* label : {"no", "yes", "perhaps"}) labels.add_strings(label);
  onnx::AttributeProto& coefficients = *linear.add_attribute();
  coefficients.set_name("coefficients");
  coefficients.set_type(onnx::AttributeProto::FLOATS);
  for (const float weight : {1.0f, 2.0f, 3.0f}) coefficients.add_floats(weight);
  EXPECT_THAT(Imported(builder), HasSubstr("string[3] = {\"no\", \"yes\", \"perhaps\"}"));
}

TEST(CompositionTest, MapsStayTensors) {
  ModelBuilder builder(17);
  builder.Input("x", {2, 3}).Output("y");
  builder.Node("ZipMap", {"x"}, {"y"}).set_domain("ai.onnx.ml");
  EXPECT_THAT(Imported(builder), HasSubstr("%y = Identity(%x)"));
}

TEST(CompositionTest, ListsThatDoNotFitAreRefused) {
  ModelBuilder builder(17);
  builder.Input("x", {2, 3}).Output("y");
  onnx::NodeProto& linear = builder.Node("LinearRegressor", {"x"}, {"y"});
  linear.set_domain("ai.onnx.ml");
  EXPECT_THAT(Imported(builder), HasSubstr("0 coefficients and 0 intercepts do not fit 1 results"));
  builder.Int(linear, "targets", -5);
  EXPECT_THAT(Imported(builder), HasSubstr("do not fit -5 results"));

  ModelBuilder packed(17);
  packed.Input("x", {2, 32}).Floats("s", {1}, {1});
  packed.Output("y");
  onnx::TensorProto& b = *packed.model.mutable_graph()->add_initializer();
  b.set_name("b");
  b.set_data_type(onnx::TensorProto::UINT8);
  b.add_dims(2);
  b.set_raw_data("ab");
  onnx::NodeProto& product = packed.Node("MatMulNBits", {"x", "b", "s"}, {"y"});
  product.set_domain("com.microsoft");
  packed.Int(product, "K", int64_t{1} << 62);
  packed.Int(product, "N", int64_t{1} << 62);
  packed.Int(product, "block_size", 32);
  EXPECT_THAT(Imported(packed), HasSubstr("a matrix of 2 bytes for N = 4611686018427387904"));
}

}  // namespace
}  // namespace slipway
