// Bodies of nodes, which see the names around them, and functions that a model brings.
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/graph/text.h"
#include "core/importers/onnx/limits.h"
#include "core/importers/onnx/model_builder.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<Graph> Import(const ModelBuilder& builder) {
  const std::string bytes = builder.Bytes();
  OnnxFiles files;
  files.main = Blob::Own(bytes);
  return ImportOnnx(files, StandardOperators());
}

// What stands inside of the graph as text, or the error.
std::string Imported(const ModelBuilder& builder) {
  const auto graph = Import(builder);
  if (!graph.ok()) return graph.status().ToString();
  const std::string text = Print(*graph);
  return text.substr(text.find('\n') + 1);
}

void AddNode(onnx::GraphProto& graph, const std::string& op, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs) {
  *graph.add_node() = ModelBuilder::NewNode(op, inputs, outputs);
}

onnx::GraphProto& AddBody(onnx::NodeProto& node, const std::string& attribute) {
  onnx::AttributeProto& body = *node.add_attribute();
  body.set_name(attribute);
  body.set_type(onnx::AttributeProto::GRAPH);
  body.mutable_g()->set_name(attribute);
  return *body.mutable_g();
}

// y = c ? f(x) : g(x)
TEST(BodiesTest, CaptureWhatIsAroundThem) {
  ModelBuilder builder(16);
  builder.Input("c", {}, onnx::TensorProto::BOOL).Input("x", {2}).Input("z", {2}).Output("y");
  builder.Floats("w", {1}, {3});
  onnx::NodeProto& node = builder.Node("If", {"c"}, {"y"});
  onnx::GraphProto& then_branch = AddBody(node, "then_branch");
  AddNode(then_branch, "Mul", {"sum", "w"}, {"o"});
  then_branch.add_output()->set_name("o");
  onnx::GraphProto& else_branch = AddBody(node, "else_branch");
  AddNode(else_branch, "Sub", {"z", "sum"}, {"y"});  // The name of something else around it.
  else_branch.add_output()->set_name("y");
  builder.Node("Add", {"x", "z"}, {"sum"});  // Read before, and inside alone.
  EXPECT_EQ(Imported(builder),
            "  %sum = Add(%x, %z) : f32[2]\n"
            "  %y = If(%c, %z, %sum) {captures = 2, "
            "else_branch = graph \"else_branch\" opset 28 (%z, %sum) -> (%y) {\n"
            "    %y = Sub(%z, %sum)\n"
            "  }, then_branch = graph \"then_branch\" opset 28 (%unread, %sum) -> (%o) {\n"
            "    const %w: f32[1] = {3}\n"
            "    %o = Mul(%sum, %w)\n"
            "  }}\n}\n");
}

TEST(BodiesTest, SeeThroughEachOther) {
  ModelBuilder builder(11);
  builder.Input("m", {}, onnx::TensorProto::INT64).Input("x", {2}).Output("y");
  onnx::NodeProto& outer = builder.Node("Loop", {"m", "", "x"}, {"y"});
  onnx::GraphProto& body = AddBody(outer, "body");
  for (const char* name : {"turn", "on", "v"}) body.add_input()->set_name(name);
  AddNode(body, "If", {"on"}, {"o"});
  onnx::NodeProto& inner = *body.mutable_node(0);
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& branch = AddBody(inner, name);
    AddNode(branch, "Add", {"v", "x"}, {"o"});
    branch.add_output()->set_name("o");
  }
  AddNode(body, "Squeeze", {"o"}, {"p"});  // Is upgraded.
  ModelBuilder::Ints(*body.mutable_node(1), "axes", {0});
  for (const char* name : {"on", "p"}) body.add_output()->set_name(name);
  EXPECT_THAT(Imported(builder),
              AllOf(HasSubstr("%y = Loop(%m, %y_first, %x, %x) {body = graph \"body\" opset 28 "
                              "(%turn, %on, %v, %x) -> (%on, %p) {"),
                    HasSubstr("%o = If(%on, %v, %x) {captures = 2"),
                    HasSubstr("%p = Squeeze(%o, %p_axes)"), HasSubstr("captures = 1}")));
}

// Only what runs must fit: shapes decide over conditions.
onnx::NodeProto& AddGradient(ModelBuilder& builder, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& xs, const std::vector<std::string>& zs,
                             const std::string& y) {
  onnx::NodeProto& node = builder.Node("Gradient", inputs, {"dy"});
  node.set_domain("ai.onnx.preview.training");
  const std::pair<const char*, std::vector<std::string>> lists[] = {{"xs", xs}, {"zs", zs}};
  for (const auto& [name, values] : lists) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : values) attribute.add_strings(value);
  }
  ModelBuilder::String(node, "y", y);
  return node;
}

TEST(BodiesTest, AGradientHasTheNodesThatItDerives) {
  ModelBuilder builder(16);
  builder.Input("x", {2}).Input("k", {2}).Output("dy");
  builder.Floats("w", {1}, {3});
  AddGradient(builder, {"x", "x"}, {"a"}, {"b"}, "y");  // Before what it reads.
  builder.Node("Exp", {"x"}, {"a"});
  builder.Node("Sin", {"x"}, {"b"});
  builder.Node("Mul", {"a", "b"}, {"c"});
  builder.Node("Add", {"c", "k"}, {"d"});
  builder.Node("Mul", {"d", "w"}, {"y"});
  EXPECT_THAT(
      Imported(builder),
      HasSubstr("  %dy = slipway.Gradient(%x, %x, %k) {body = graph \"y\" opset 28 (%a, %b, %k) -> "
                "(%y) {\n"
                "    %c = Mul(%a, %b)\n"
                "    %d = Add(%c, %k)\n"
                "    const %w: f32[1] = {3}\n"
                "    %y = Mul(%d, %w)\n"
                "  }, captures = 1, derived_inputs = 1} : f32[2]\n"));
}

TEST(BodiesTest, GradientsAreRefusedWhereTheirEndsAreWrong) {
  const auto imported = [](const std::vector<std::string>& inputs,
                           const std::vector<std::string>& xs, const std::string& y) {
    ModelBuilder builder(16);
    builder.Input("x", {2}).Output("dy");
    builder.Node("Exp", {"x"}, {"y"});
    AddGradient(builder, inputs, xs, {}, y);
    return Imported(builder);
  };
  EXPECT_THAT(imported({"x"}, {"x"}, "y"), HasSubstr("derived_inputs = 1"));
  EXPECT_THAT(imported({"x"}, {"x"}, "q"),
              HasSubstr("derives \"q\", which nothing beside it makes"));
  EXPECT_THAT(imported({"x"}, {"q"}, "y"),
              HasSubstr("derives \"q\", which nothing beside it makes"));
  EXPECT_THAT(imported({"x", "x"}, {"x"}, "y"), HasSubstr("has 2 inputs for the 1 values"));
  EXPECT_THAT(imported({"x", "x"}, {"x", "x"}, "y"), HasSubstr("names a value twice"));
  EXPECT_THAT(imported({"x"}, {}, "y"), HasSubstr("must say by what to derive"));
  EXPECT_THAT(imported({"x"}, {"x"}, "dy"), HasSubstr("cycle"));
}

TEST(BodiesTest, AreNotHeldAgainstTypesAround) {
  ModelBuilder builder(16);
  builder.Input("c", {}, onnx::TensorProto::BOOL).Input("x", {2}).Input("z", {3}).Output("y");
  onnx::NodeProto& node = builder.Node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& branch = AddBody(node, name);
    AddNode(branch, "Add", {"x", "z"}, {"o"});
    branch.add_output()->set_name("o");
  }
  EXPECT_OK(Import(builder).status());
}

TEST(BodiesTest, ScansOfBatchesBecomeTwo) {
  ModelBuilder builder(8);
  builder.Input("a", {1, 2}).Input("x", {1, 3, 2}).Output("y").Output("z");
  onnx::NodeProto& node = builder.Node("Scan", {"", "a", "x"}, {"y", "z"});
  ModelBuilder::Int(node, "num_scan_inputs", 1);
  onnx::GraphProto& body = AddBody(node, "body");
  for (const char* name : {"i", "j"}) body.add_input()->set_name(name);
  AddNode(body, "Add", {"i", "j"}, {"o"});
  for (const char* name : {"o", "o"}) body.add_output()->set_name(name);
  EXPECT_THAT(Imported(builder),
              AllOf(HasSubstr("%y, %z = Scan(%a, %x)"), HasSubstr("num_scan_inputs = 2"),
                    HasSubstr("num_scan_inputs = 1")));
  node.set_input(0, "a");
  EXPECT_THAT(Imported(builder), HasSubstr("a length for each sequence of a batch"));
}

TEST(BodiesTest, AreRefusedWhereNamesOrDepthsAreWrong) {
  ModelBuilder builder(16);
  builder.Input("c", {}, onnx::TensorProto::BOOL).Output("y");
  onnx::NodeProto& node = builder.Node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& branch = AddBody(node, name);
    AddNode(branch, "Relu", {"nowhere"}, {"o"});
    branch.add_output()->set_name("o");
  }
  EXPECT_THAT(Imported(builder),
              AllOf(HasSubstr("(If) attribute \"then_branch\""), HasSubstr("reads \"nowhere\"")));
  ModelBuilder::Int(node, "captures", 1);
  node.mutable_attribute()->SwapElements(0, 2);
  EXPECT_THAT(Imported(builder), HasSubstr("is no attribute of ONNX's"));

  ModelBuilder deep(16);
  deep.Input("c", {}, onnx::TensorProto::BOOL).Output("y");
  onnx::NodeProto* last = &deep.Node("If", {"c"}, {"y"});
  for (int i = 0; i <= kMaxGraphNesting; ++i) {
    onnx::GraphProto& branch = AddBody(*last, "then_branch");
    branch.add_output()->set_name("y");
    AddNode(branch, "If", {"c"}, {"y"});
    last = branch.mutable_node(0);
  }
  EXPECT_THAT(Imported(deep), HasSubstr("nested deeper than the limit of 16"));
}

// Functions.

onnx::FunctionProto& AddFunction(ModelBuilder& builder, const std::string& name,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs) {
  onnx::FunctionProto& function = *builder.model.add_functions();
  function.set_domain("mine");
  function.set_name(name);
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  function.add_opset_import()->set_version(16);
  return function;
}

onnx::NodeProto& Call(onnx::NodeProto& node, const std::string& name) {
  node.set_domain("mine");
  node.set_op_type(name);
  node.set_name(name);
  return node;
}

void Refer(onnx::NodeProto& node, const std::string& name, const std::string& to,
           onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  attribute.set_ref_attr_name(to);
}

TEST(FunctionsTest, AreExpanded) {
  ModelBuilder builder(16);
  builder.Input("x", {2, 2}).Output("y").Output("z");
  onnx::FunctionProto& inner = AddFunction(builder, "inner", {"a", "b"}, {"o"});
  *inner.add_node() = ModelBuilder::NewNode("Clip", {"a", "b"}, {"t"});
  *inner.add_node() = ModelBuilder::NewNode("Softmax", {"t"}, {"o"});
  Refer(*inner.mutable_node(1), "axis", "along", onnx::AttributeProto::INT);
  inner.add_attribute("along");
  onnx::FunctionProto& outer = AddFunction(builder, "outer", {"a"}, {"t", "a"});
  *outer.add_node() = ModelBuilder::NewNode("inner", {"a"}, {"t"});
  outer.mutable_node(0)->set_domain("mine");
  Refer(*outer.mutable_node(0), "along", "axis", onnx::AttributeProto::INT);
  onnx::AttributeProto& axis = *outer.add_attribute_proto();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(0);
  Call(builder.Node("", {"x"}, {"t", "u"}), "outer");
  ModelBuilder::Int(Call(builder.Node("", {"t"}, {"y"}), "outer"), "axis", 1);
  builder.Node("Relu", {"u"}, {"z"});
  EXPECT_EQ(Imported(builder),
            "  %outer/inner/t = Clip(%x) : f32[2, 2]\n"
            "  %t = Softmax(%outer/inner/t) {axis = 0} : f32[2, 2]\n"
            "  %u = Identity \"outer\" (%x) : f32[2, 2]\n"
            "  %outer/inner/t_1 = Clip(%t) : f32[2, 2]\n"
            "  %y = Softmax(%outer/inner/t_1) {axis = 1} : f32[2, 2]\n"
            "  %z = Relu(%u) : f32[2, 2]\n}\n");
}

TEST(FunctionsTest, MayStandInBodiesAndHaveSome) {
  ModelBuilder builder(16);
  builder.Input("c", {}, onnx::TensorProto::BOOL).Input("x", {2}).Output("y");
  onnx::FunctionProto& function = AddFunction(builder, "either", {"c", "x"}, {"y"});
  *function.add_node() = ModelBuilder::NewNode("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& branch = AddBody(*function.mutable_node(0), name);
    AddNode(branch, "Relu", {"x"}, {"o"});
    branch.add_output()->set_name("o");
  }
  onnx::NodeProto& node = builder.Node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& branch = AddBody(node, name);
    AddNode(branch, "", {"c", "x"}, {"o"});
    Call(*branch.mutable_node(0), "either");
    branch.add_output()->set_name("o");
  }
  EXPECT_THAT(Imported(builder),
              AllOf(HasSubstr("%y = If(%c, %c, %x)"), HasSubstr("%o = If(%c, %x)")));
}

TEST(FunctionsTest, AreRefusedWhereTheyCannotBeExpanded) {
  ModelBuilder builder(16);
  builder.Input("x", {2}).Output("y");
  Call(builder.Node("", {"x"}, {"y"}), "a");
  onnx::FunctionProto& a = AddFunction(builder, "a", {"i"}, {"o"});
  *a.add_node() = ModelBuilder::NewNode("", {"i"}, {"o"});
  Call(*a.mutable_node(0), "b");
  onnx::FunctionProto& b = AddFunction(builder, "b", {"i"}, {"o"});
  *b.add_node() = ModelBuilder::NewNode("", {"i"}, {"o"});
  Call(*b.mutable_node(0), "a");
  EXPECT_THAT(Imported(builder), HasSubstr("node \"a\" (a): the function \"a\" calls itself"));

  *b.mutable_node(0) = ModelBuilder::NewNode("Relu", {"i"}, {"p"});
  EXPECT_THAT(Imported(builder), HasSubstr("nothing in its function makes the output \"o\""));
  b.mutable_node(0)->set_output(0, "o");
  EXPECT_OK(Import(builder).status());
  ModelBuilder::Int(*a.mutable_node(0), "axis", 1);
  EXPECT_THAT(Imported(builder), HasSubstr("its function has no such attribute"));
  a.mutable_node(0)->clear_attribute();
  a.mutable_node(0)->add_input("i");
  EXPECT_THAT(Imported(builder), HasSubstr("has 2 inputs and 1 outputs, its function has 1 and 1"));
  AddFunction(builder, "b", {"i"}, {"o"});
  EXPECT_THAT(Imported(builder), HasSubstr("\"b\" of domain \"mine\" is there twice"));
}

TEST(FunctionsTest, GoBeforeOperatorsOfTheirName) {
  ModelBuilder builder(16);
  builder.Input("x", {2}).Output("y").Node("Selu", {"x"}, {"y"});
  onnx::FunctionProto& function = AddFunction(builder, "Selu", {"i"}, {"o"});
  function.set_domain("ai.onnx");
  *function.add_node() = ModelBuilder::NewNode("Neg", {"i"}, {"o"});
  EXPECT_EQ(Imported(builder), "  %y = Neg(%x) : f32[2]\n}\n");
}

TEST(FunctionsTest, ThatGrowWithoutEndAreRefused) {
  // Each calls the next one ten times.
  ModelBuilder builder(16);
  builder.Input("x", {2}).Output("y");
  Call(builder.Node("", {"x"}, {"y"}), "f0");
  for (int i = 0; i < 9; ++i) {
    onnx::FunctionProto& function = AddFunction(builder, absl::StrCat("f", i), {"v0"}, {"v10"});
    for (int n = 0; n < 10; ++n) {
      *function.add_node() =
          ModelBuilder::NewNode("", {absl::StrCat("v", n)}, {absl::StrCat("v", n + 1)});
      Call(*function.mutable_node(n), absl::StrCat("f", i + 1));
    }
  }
  *AddFunction(builder, "f9", {"i"}, {"o"}).add_node() =
      ModelBuilder::NewNode("Relu", {"i"}, {"o"});
  EXPECT_THAT(Imported(builder), HasSubstr("nodes, bodies and functions included"));
}

}  // namespace
}  // namespace slipway
