#include "core/importers/onnx/onnx_importer.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/importers/onnx/limits.h"
#include "core/importers/onnx/model_builder.h"
#include "core/operators/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Graph> Import(const ModelBuilder& builder, const OnnxImportOptions& options = {}) {
  const std::string bytes = builder.Bytes();
  OnnxFiles files;
  files.main = Blob::Own(bytes);
  static const OperatorRegistry& registry = *new OperatorRegistry(StandardOperators());
  return ImportOnnx(files, registry, options);
}

absl::Status ImportError(const ModelBuilder& builder) { return Import(builder).status(); }

ModelBuilder ReluModel() {
  ModelBuilder builder(13);
  builder.Input("x", {1, 2}).Output("y", {1, 2}).Node("Relu", {"x"}, {"y"}).set_name("r");
  return builder;
}

TEST(OnnxImporterTest, ReadsAGraph) {
  ModelBuilder builder(13);
  builder.Input("x", {1, 2}).Output("y");
  builder.Floats("w", {2}, {1, -1});
  builder.Node("Add", {"x", "w"}, {"sum"}).set_name("adds");
  builder.Node("Clip", {"sum", "", ""}, {"y"});
  const auto graph = Import(builder);
  ASSERT_OK(graph.status());
  EXPECT_EQ(Print(*graph),
            "graph \"test\" opset 28 (%x: f32[1, 2]) -> (%y) {\n"
            "  const %w: f32[2] = {1, -1}\n"
            "  %sum = Add \"adds\" (%x, %w) : f32[1, 2]\n"
            "  %y = Clip(%sum) : f32[1, 2]\n"
            "}\n");
}

TEST(OnnxImporterTest, PutsNodesInOrderAndConstantsInPlace) {
  ModelBuilder builder(13);
  builder.Input("x", {4}).Input("w", {1}).Output("y");
  builder.Floats("w", {1}, {2});
  builder.Floats("unused", {1}, {3});
  builder.Node("Mul", {"c", "a"}, {"y"});
  onnx::NodeProto& constant = builder.Node("Constant", {}, {"c"});
  builder.Float(constant, "value_float", 0.5f);
  builder.Node("Add", {"x", "w"}, {"a"});
  const auto graph = Import(builder);
  ASSERT_OK(graph.status());
  EXPECT_EQ(Print(*graph),
            "graph \"test\" opset 28 (%x: f32[4]) -> (%y) {\n"
            "  const %w: f32[1] = {2}\n"
            "  %a = Add(%x, %w) : f32[4]\n"
            "  const %c: f32[] = {0.5}\n"
            "  %y = Mul(%c, %a) : f32[4]\n"
            "}\n");
}

TEST(OnnxImporterTest, SymbolicDimensionsAreFreeUnlessToldOtherwise) {
  ModelBuilder builder = ReluModel();
  auto* shape = builder.model.mutable_graph()
                    ->mutable_input(0)
                    ->mutable_type()
                    ->mutable_tensor_type()
                    ->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("batch size");
  shape->mutable_dim(1)->clear_dim_value();
  builder.model.mutable_graph()->mutable_output(0)->clear_type();
  const auto type = [&](const OnnxImportOptions& options) {
    const auto graph = Import(builder, options);
    if (!graph.ok()) return std::string(graph.status().message());
    std::string text = ToString(*graph->values[graph->outputs[0]].type);
    for (const Symbol& symbol : graph->symbols) {
      absl::StrAppend(&text, " ", symbol.name, " ", symbol.min, "..", symbol.max);
    }
    return text;
  };
  EXPECT_EQ(type({}), "f32[batch_size, x_1_] batch_size 1..32768 x_1_ 1..32768");
  EXPECT_EQ(type({.dims = {{"batch size", {2, 8}}, {"x[1]", {5, 5}}}}),
            "f32[batch_size, 5] batch_size 2..8");
  EXPECT_EQ(type({.dims = {{"batch size", {3, 3}}, {"x[1]", {5, 5}}}}), "f32[3, 5]");
  EXPECT_THAT(type({.dims = {{"batch size", {-3, -3}}}}),
              HasSubstr("the dimension \"batch size\" cannot be -3 to -3"));
}

// Bad input.

TEST(OnnxImporterTest, RefusesBytesThatAreNoModel) {
  const OperatorRegistry registry = StandardOperators();
  OnnxFiles files;
  EXPECT_THAT(ImportOnnx(files, registry).status().message(), HasSubstr("is empty"));
  files.main = Blob::Own("this is no model, but some text");
  EXPECT_EQ(ImportOnnx(files, registry).status().code(), absl::StatusCode::kInvalidArgument);

  const std::string whole = ReluModel().Bytes();
  for (size_t size = 1; size < whole.size(); ++size) {
    files.main = Blob::Own(whole.substr(0, size));
    const absl::Status status = ImportOnnx(files, registry).status();
    // A prefix that ends behind a field may be a model by itself, without an opset or outputs.
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string noise(1 + random() % 300, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    files.main = Blob::Own(noise);
    EXPECT_FALSE(ImportOnnx(files, registry).ok());
  }
}

TEST(OnnxImporterTest, NamesOpsetsItLacks) {
  ModelBuilder builder = ReluModel();
  builder.model.mutable_opset_import(0)->set_version(kMaxOnnxOpset + 1);
  absl::Status status = ImportError(builder);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("opset 29"));
  builder.model.mutable_opset_import(0)->set_version(0);
  EXPECT_EQ(ImportError(builder).code(), absl::StatusCode::kUnimplemented);
  builder.model.mutable_opset_import(0)->set_domain("com.example");
  EXPECT_THAT(ImportError(builder).message(), HasSubstr("com.example"));
  builder.model.mutable_opset_import(0)->set_domain("ai.onnx.ml");
  EXPECT_THAT(ImportError(builder).message(), HasSubstr("(Relu): the model imports no opset"));
  builder.model.clear_opset_import();
  EXPECT_EQ(ImportError(builder).code(), absl::StatusCode::kInvalidArgument);
}

TEST(OnnxImporterTest, KnowsOperatorsOfFurtherDomainsByTheirWholeName) {
  ModelBuilder builder(28);
  builder.model.mutable_opset_import(0)->set_domain("ai.onnx.preview.training");
  for (const char* name : {"r", "x", "g", "v"}) builder.Input(name, {1});
  builder.Input("t", {}, onnx::TensorProto::INT64);
  onnx::NodeProto& node = builder.Node("Momentum", {"r", "t", "x", "g", "v"}, {"y"});
  node.set_domain("ai.onnx.preview.training");
  for (const char* name : {"alpha", "beta", "norm_coefficient"}) {
    ModelBuilder::Float(node, name, 1);
  }
  onnx::AttributeProto& mode = *node.add_attribute();
  mode.set_name("mode");
  mode.set_type(onnx::AttributeProto::STRING);
  mode.set_s("standard");
  builder.Output("y");
  const auto graph = Import(builder);
  ASSERT_OK(graph.status());
  EXPECT_EQ(graph->nodes[0].op, "ai.onnx.preview.training.Momentum");
}

TEST(OnnxImporterTest, NamesOperatorsItLacksWithTheirNode) {
  ModelBuilder builder = ReluModel();
  builder.model.mutable_graph()->mutable_node(0)->set_op_type("Frobnicate");
  absl::Status status = ImportError(builder);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("node \"r\" (Frobnicate)"));
  builder.model.mutable_graph()->mutable_node(0)->set_op_type("slipway.Fused");
  EXPECT_EQ(ImportError(builder).code(), absl::StatusCode::kUnimplemented);
  builder.model.mutable_graph()->mutable_node(0)->set_op_type("Relu");
  builder.model.mutable_graph()->mutable_node(0)->set_domain("com.example");
  status = ImportError(builder);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("com.example"));
}

TEST(OnnxImporterTest, RefusesCyclesAndDanglingNames) {
  ModelBuilder cyclic(13);
  cyclic.Input("x", {1}).Output("a");
  cyclic.Node("Add", {"x", "b"}, {"a"}).set_name("first");
  cyclic.Node("Relu", {"a"}, {"b"});
  absl::Status status = ImportError(cyclic);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("cycle"));
  EXPECT_THAT(status.message(), HasSubstr("first"));

  ModelBuilder dangling = ReluModel();
  dangling.model.mutable_graph()->mutable_node(0)->set_input(0, "nowhere");
  status = ImportError(dangling);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("node \"r\" (Relu) reads \"nowhere\""));

  ModelBuilder twice = ReluModel();
  twice.Node("Relu", {"x"}, {"y"});
  EXPECT_THAT(ImportError(twice).message(), HasSubstr("\"y\" is defined twice"));

  ModelBuilder no_output = ReluModel();
  no_output.model.mutable_graph()->mutable_output(0)->set_name("z");
  EXPECT_THAT(ImportError(no_output).message(), HasSubstr("nothing in the model makes"));
  no_output.model.mutable_graph()->clear_output();
  EXPECT_THAT(ImportError(no_output).message(), HasSubstr("no outputs"));
}

TEST(OnnxImporterTest, RefusesUntypedAndInconsistentGraphs) {
  ModelBuilder untyped = ReluModel();
  untyped.model.mutable_graph()->mutable_input(0)->clear_type();
  EXPECT_THAT(ImportError(untyped).message(), HasSubstr("\"x\" has no type"));

  ModelBuilder no_shape = ReluModel();
  no_shape.model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  EXPECT_THAT(ImportError(no_shape).message(), HasSubstr("without its element type or shape"));

  ModelBuilder inconsistent(13);
  inconsistent.Input("x", {2, 3}).Input("z", {2, 4}).Output("y");
  inconsistent.Node("Add", {"x", "z"}, {"y"}).set_name("adds");
  absl::Status status = ImportError(inconsistent);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("node \"adds\" (Add)"));

  ModelBuilder declared(13);
  declared.Input("x", {2, 3}).Output("y", {2, 4}).Node("Relu", {"x"}, {"y"});
  EXPECT_THAT(ImportError(declared).message(), HasSubstr("output \"y\" is f32[2, 3]"));
}

TEST(OnnxImporterTest, RefusesShapesThatOverflow) {
  ModelBuilder builder(13);
  builder.Input("x", {1 << 30, 1 << 30, 1 << 30}).Output("y").Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(ImportError(builder).code(), absl::StatusCode::kResourceExhausted);

  ModelBuilder grown(13);
  grown.Input("a", {2'000'000'000, 1, 1}).Input("b", {1, 2'000'000'000, 1});
  grown.Input("c", {1, 1, 2'000'000'000}).Output("y");
  grown.Node("Sum", {"a", "b", "c"}, {"y"}).set_name("grows");
  const absl::Status status = ImportError(grown);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("node \"grows\" (Sum)"));

  ModelBuilder initializer = ReluModel();
  onnx::TensorProto& tensor = initializer.Floats("w", {1 << 30, 1 << 30}, {});
  EXPECT_FALSE(Import(initializer).ok());
  tensor.clear_dims();
  tensor.add_dims(-1);
  EXPECT_THAT(ImportError(initializer).message(), HasSubstr("initializer \"w\""));
}

TEST(OnnxImporterTest, LetsNoControlCharactersThrough) {
  ModelBuilder builder = ReluModel();
  builder.model.mutable_graph()->set_name("g\x1b[2J");
  builder.model.mutable_graph()->mutable_node(0)->set_name("n\n");
  const auto graph = Import(builder);
  ASSERT_OK(graph.status());
  EXPECT_EQ(graph->name, "g?[2J");
  EXPECT_EQ(graph->nodes[0].name, "n?");
  builder.model.mutable_graph()->mutable_node(0)->set_op_type("Evil\x1b");
  EXPECT_THAT(ImportError(builder).message(), HasSubstr("(Evil?)"));
  builder = ReluModel();
  builder.model.mutable_graph()->mutable_node(0)->set_output(0, "y\r");
  EXPECT_EQ(ImportError(builder).code(), absl::StatusCode::kInvalidArgument);
}

TEST(OnnxImporterTest, RefusesModelsOverTheLimits) {
  ModelBuilder builder(13);
  builder.Input("x", {1}).Output("0");
  for (int i = 0; i <= kMaxNodes; ++i) builder.Node("Relu", {"x"}, {std::to_string(i)});
  const absl::Status status = ImportError(builder);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("limit of 200000"));

  ModelBuilder name = ReluModel();
  name.model.mutable_graph()->set_name(std::string(5000, 'n'));
  EXPECT_EQ(ImportError(name).code(), absl::StatusCode::kResourceExhausted);
}

TEST(OnnxImporterTest, RefusesAttributesThatDoNotFit) {
  ModelBuilder unknown = ReluModel();
  unknown.Int(*unknown.model.mutable_graph()->mutable_node(0), "speed", 1);
  EXPECT_THAT(ImportError(unknown).message(), HasSubstr("unknown attribute \"speed\""));

  ModelBuilder twice(13);
  twice.Input("x", {1}).Output("y");
  onnx::NodeProto& node = twice.Node("Softmax", {"x"}, {"y"});
  twice.Int(node, "axis", 0);
  twice.Int(node, "axis", 0);
  EXPECT_THAT(ImportError(twice).message(), HasSubstr("is there twice"));
  node.mutable_attribute()->RemoveLast();
  node.mutable_attribute(0)->set_type(onnx::AttributeProto::GRAPH);
  EXPECT_THAT(ImportError(twice).message(), HasSubstr("is of kind graph instead of int"));
  node.mutable_attribute(0)->set_type(onnx::AttributeProto::SPARSE_TENSOR);
  EXPECT_EQ(ImportError(twice).code(), absl::StatusCode::kUnimplemented);
  node.mutable_attribute(0)->clear_type();
  EXPECT_EQ(ImportError(twice).code(), absl::StatusCode::kInvalidArgument);
}

// External data.

class ExternalDataTest : public ::testing::Test {
 protected:
  // y = x + w, where w's two floats lie in another file.
  absl::StatusOr<Graph> ImportWith(const std::string& location, const std::string& offset,
                                   const std::string& length) {
    ModelBuilder builder(13);
    builder.Input("x", {2}).Output("y").Node("Add", {"x", "w"}, {"y"});
    onnx::TensorProto& tensor = builder.Floats("w", {2}, {});
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto set = [&tensor](const std::string& key, const std::string& value) {
      if (value.empty()) return;
      tensor.add_external_data()->set_key(key);
      tensor.mutable_external_data()->rbegin()->set_value(value);
    };
    set("location", location);
    set("offset", offset);
    set("length", length);
    const std::string bytes = builder.Bytes();
    const std::vector<float> weights = {9, 1, 2};
    OnnxFiles files;
    files.main = Blob::Own(bytes);
    files.external["data/w.bin"] =
        Blob::Own(std::string(reinterpret_cast<const char*>(weights.data()), 12));
    return ImportOnnx(files, StandardOperators());
  }
};

TEST_F(ExternalDataTest, IsRead) {
  const auto graph = ImportWith("./data//w.bin", "4", "8");
  ASSERT_OK(graph.status());
  EXPECT_THAT(Print(*graph), HasSubstr("const %w: f32[2] = {1, 2}"));
  EXPECT_OK(ImportWith("data/w.bin", "", "8").status());
  EXPECT_OK(ImportWith("data/w.bin", "4", "").status());
}

TEST_F(ExternalDataTest, IsRefusedWhereItIsMissingOrTooShort) {
  EXPECT_THAT(ImportWith("w.bin", "", "").status().message(),
              HasSubstr("the file \"w.bin\", which was not sent along"));
  EXPECT_THAT(ImportWith("data/w.bin", "8", "8").status().message(), HasSubstr("has only 12"));
  EXPECT_FALSE(ImportWith("data/w.bin", "9223372036854775807", "8").ok());
  EXPECT_FALSE(ImportWith("data/w.bin", "4", "4").ok());
  EXPECT_FALSE(ImportWith("data/w.bin", "-4", "8").ok());
  EXPECT_FALSE(ImportWith("data/w.bin", "four", "8").ok());
}

TEST_F(ExternalDataTest, IsRefusedOutsideOfTheModelsFolder) {
  for (const std::string location :
       {"/etc/passwd", "../w.bin", "data/../../w.bin", "..", "data\\w.bin", "", ".", "data/.."}) {
    const absl::Status status = ImportWith(location, "", "").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << location;
    EXPECT_THAT(status.message(), HasSubstr("refused")) << location;
    EXPECT_THAT(status.message(), HasSubstr("initializer \"w\"")) << location;
  }
}

// Large tensors.

constexpr int64_t kManyFloats = kLargeTensorBytes / 4;

std::string Counting(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return std::string(reinterpret_cast<const char*>(values.data()), count * 4);
}

const Tensor& ConstantNamed(const Graph& graph, const std::string& name) {
  for (const Value& value : graph.values) {
    if (value.name == name) return *value.constant;
  }
  ADD_FAILURE() << "no constant " << name;
  return *graph.values[0].constant;
}

TEST(LargeTensorTest, IsReadFromTheModelWhenItIsAskedFor) {
  ModelBuilder builder(13);
  builder.Input("x", {kManyFloats}).Output("y");
  builder.Floats("w", {kManyFloats}, {}).set_raw_data(Counting(kManyFloats));
  // A byte that moves what follows away from any alignment.
  builder.model.set_doc_string("odd");
  onnx::NodeProto& constant = builder.Node("Constant", {}, {"v"});
  onnx::AttributeProto& attribute = *constant.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  attribute.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  attribute.mutable_t()->add_dims(kManyFloats);
  attribute.mutable_t()->set_raw_data(Counting(kManyFloats));
  builder.Node("Add", {"w", "v"}, {"s"});
  builder.Node("Add", {"x", "s"}, {"y"});
  ASSERT_OK_AND_ASSIGN(const Graph graph, Import(builder));
  for (const char* name : {"w", "v"}) {
    EXPECT_TRUE(ConstantNamed(graph, name).is_deferred()) << name;
    EXPECT_EQ(ConstantNamed(graph, name).bytes(), Counting(kManyFloats)) << name;
  }
}

TEST(LargeTensorTest, IsReadAtOnceWhereItsBytesMustBeLookedAt) {
  ModelBuilder builder(13);
  builder.Input("x", {kLargeTensorBytes}, onnx::TensorProto::BOOL).Output("y");
  onnx::TensorProto& tensor = builder.Floats("w", {kLargeTensorBytes}, {});
  tensor.set_data_type(onnx::TensorProto::BOOL);
  tensor.set_raw_data(std::string(kLargeTensorBytes, '\1'));
  builder.Node("And", {"x", "w"}, {"y"});
  ASSERT_OK_AND_ASSIGN(const Graph graph, Import(builder));
  EXPECT_FALSE(ConstantNamed(graph, "w").is_deferred());
  tensor.mutable_raw_data()->back() = '\2';
  EXPECT_THAT(ImportError(builder).message(), HasSubstr("the byte 2, not 0 or 1"));
}

TEST(LargeTensorTest, ThatSaysTooLittleIsRefused) {
  ModelBuilder builder(13);
  builder.Input("x", {kManyFloats + 1}).Output("y");
  builder.Floats("w", {kManyFloats + 1}, {}).set_raw_data(Counting(kManyFloats));
  builder.Node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(ImportError(builder).message(),
              HasSubstr("initializer \"w\": a tensor f32[16385] has 65540 bytes, not 65536"));
  std::string bytes = builder.Bytes();
  bytes.resize(bytes.size() - 100);
  OnnxFiles files;
  files.main = Blob::Own(bytes);
  EXPECT_THAT(ImportOnnx(files, StandardOperators()).status().message(), HasSubstr("cut off"));
}

TEST_F(ExternalDataTest, CannotPretendToLieInTheModel) {
  EXPECT_FALSE(ImportWith("//", "0", "8000000").ok());
}

}  // namespace
}  // namespace slipway
