// Old forms of operators become the canonical ones. (Their values are compared with ONNX's own
// backend-test cases in tests/conformance.)
#include <string>
#include <vector>

#include "core/graph/text.h"
#include "core/importers/onnx/model_builder.h"
#include "core/importers/onnx/onnx_importer.h"
#include "core/operators/register_all.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

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

TEST(UpgradeTest, AxesBecomeInputs) {
  ModelBuilder builder(11);
  builder.Input("x", {2, 1, 3}).Output("y");
  builder.Ints(builder.Node("Squeeze", {"x"}, {"a"}), "axes", {1});
  builder.Ints(builder.Node("Unsqueeze", {"a"}, {"b"}), "axes", {0});
  builder.Ints(builder.Node("ReduceSum", {"b"}, {"y"}), "axes", {-1});
  EXPECT_EQ(Imported(builder),
            "  const %a_axes: i64[1] = {1}\n"
            "  %a = Squeeze(%x, %a_axes) : f32[2, 3]\n"
            "  const %b_axes: i64[1] = {0}\n"
            "  %b = Unsqueeze(%a, %b_axes) : f32[1, 2, 3]\n"
            "  const %y_axes: i64[1] = {-1}\n"
            "  %y = ReduceSum(%b, %y_axes) : f32[1, 2, 1]\n}\n");
}

TEST(UpgradeTest, TheAxisOfATransformBecomesANumber) {
  ModelBuilder builder(17);
  builder.Input("x", {1, 4, 2}).Output("y");
  builder.Node("DFT", {"x"}, {"y"});
  EXPECT_EQ(Imported(builder),
            "  const %y_axis: i64[] = {1}\n"
            "  %y = DFT(%x, _, %y_axis) : f32[1, 4, 2]\n}\n");
}

TEST(UpgradeTest, SlopesWereOneAChannel) {
  ModelBuilder builder(6);
  builder.Input("x", {2, 3, 4}).Input("s", {3}).Output("y");
  builder.Node("PRelu", {"x", "s"}, {"y"});
  EXPECT_EQ(Imported(builder),
            "  const %y_axes: i64[1] = {1}\n"
            "  %y_longer = Unsqueeze(%s, %y_axes) : f32[3, 1]\n"
            "  %y = PRelu(%x, %y_longer) : f32[2, 3, 4]\n}\n");
}

TEST(UpgradeTest, OperandsWereBroadcastAlongAnAxis) {
  ModelBuilder builder(6);
  builder.Input("x", {2, 3, 4, 5}).Input("b", {3, 4}).Output("y").Output("z");
  onnx::NodeProto& along = builder.Node("Add", {"x", "b"}, {"y"});
  builder.Int(along, "axis", 1);
  builder.Int(along, "broadcast", 1);
  builder.Node("Mul", {"y", "x"}, {"z"});
  EXPECT_EQ(Imported(builder),
            "  const %y_axes: i64[1] = {2}\n"
            "  %y_longer = Unsqueeze(%b, %y_axes) : f32[3, 4, 1]\n"
            "  %y = Add(%x, %y_longer) : f32[2, 3, 4, 5]\n"
            "  %z = Mul(%y, %x) : f32[2, 3, 4, 5]\n}\n");
  along.mutable_attribute(0)->set_i(-3);
  EXPECT_THAT(Imported(builder), HasSubstr("%y = Add(%x, %y_longer) : f32[2, 3, 4, 5]"));
  along.mutable_attribute(0)->set_i(3);
  EXPECT_THAT(Imported(builder),
              HasSubstr("f32[3, 4] does not stand in f32[2, 3, 4, 5] from axis"));
}

TEST(UpgradeTest, FormsOfTheFirstOpset) {
  ModelBuilder builder(1);
  builder.Input("x", {1, 2, 3, 4}).Output("y").Output("z").Output("p");
  builder.Floats("times", {1}, {3});
  builder.Floats("along", {1}, {2});
  builder.Ints(builder.Node("Relu", {"x"}, {"a"}), "consumed_inputs", {0});
  onnx::NodeProto& upsample = builder.Node("Upsample", {"a"}, {"u"});
  builder.Float(upsample, "height_scale", 2);
  builder.Float(upsample, "width_scale", 1);
  builder.Node("Tile", {"u", "times", "along"}, {"t"});
  builder.Node("Concat", {"t", "t"}, {"c"});
  builder.Ints(builder.Node("Reshape", {"c"}, {"r"}), "shape", {4, -1});
  builder.Ints(builder.Node("Pad", {"r"}, {"p"}), "paddings", {0, 0, 1, 1});
  builder.String(builder.Node("Cast", {"r"}, {"y"}), "to", "INT32");
  builder.Float(builder.Node("LpPool", {"x"}, {"z"}), "p", 1);
  builder.Ints(*builder.model.mutable_graph()->mutable_node(7), "kernel_shape", {3, 4});
  EXPECT_EQ(Imported(builder),
            "  %a = Relu(%x) : f32[1, 2, 3, 4]\n"
            "  const %u_scales: f32[4] = {1, 1, 2, 1}\n"
            "  %u = Resize(%a, _, %u_scales) {coordinate_transformation_mode = \"asymmetric\", "
            "nearest_mode = \"floor\"} : f32[1, 2, 6, 4]\n"
            "  const %t_repeats: i64[4] = {1, 1, 3, 1}\n"
            "  %t = Tile(%u, %t_repeats) : f32[1, 2, 18, 4]\n"
            "  %c = Concat(%t, %t) {axis = 1} : f32[1, 4, 18, 4]\n"
            "  const %r_shape: i64[2] = {4, -1}\n"
            "  %r = Reshape(%c, %r_shape) : f32[4, 72]\n"
            "  const %p_pads: i64[4] = {0, 0, 1, 1}\n"
            "  %p = Pad(%r, %p_pads) : f32[5, 73]\n"
            "  %y = Cast(%r) {to = 6} : i32[4, 72]\n"
            "  %z = LpPool(%x) {kernel_shape = [3, 4], p = 1} : f32[1, 2, 1, 1]\n}\n");
  builder.model.mutable_graph()->mutable_node(6)->mutable_attribute(0)->set_s("STRING");
  EXPECT_THAT(Imported(builder),
              HasSubstr("UNIMPLEMENTED: node \"y\" (Cast): a cast to \"STRING\""));
}

TEST(UpgradeTest, ScalesWereThoseOfGroups) {
  ModelBuilder builder(18);
  builder.Input("x", {1, 6, 2}).Input("s", {3}).Input("b", {3}).Output("y");
  builder.Int(builder.Node("GroupNormalization", {"x", "s", "b"}, {"y"}), "num_groups", 3);
  const std::string text = Imported(builder);
  EXPECT_THAT(text, HasSubstr("%y_by_group = Reshape(%s, %y_column) : f32[3, 1]"));
  EXPECT_THAT(text, HasSubstr("%y_repeated = Expand(%y_by_group, %y_shape) : f32[3, 2]"));
  EXPECT_THAT(text, HasSubstr("%y = GroupNormalization(%x, %y_by_channel, %y_by_channel_1)"));
}

TEST(UpgradeTest, SliceSplitPadAndClip) {
  ModelBuilder builder(9);
  builder.Input("x", {4, 6}).Output("y").Output("z");
  onnx::NodeProto& slice = builder.Node("Slice", {"x"}, {"s"});
  builder.Ints(slice, "starts", {1});
  builder.Ints(slice, "ends", {100});
  onnx::NodeProto& split = builder.Node("Split", {"s"}, {"y", "b"});
  builder.Int(split, "axis", 1);
  builder.Ints(split, "split", {2, 4});
  onnx::NodeProto& pad = builder.Node("Pad", {"b"}, {"p"});
  builder.Ints(pad, "pads", {0, 1, 0, 0});
  builder.Float(pad, "value", 2);
  builder.Float(builder.Node("Clip", {"p"}, {"z"}), "max", 6);
  EXPECT_EQ(Imported(builder),
            "  const %s_starts: i64[1] = {1}\n"
            "  const %s_ends: i64[1] = {100}\n"
            "  %s = Slice(%x, %s_starts, %s_ends) : f32[3, 6]\n"
            "  const %y_split: i64[2] = {2, 4}\n"
            "  %y, %b = Split(%s, %y_split) {axis = 1} : f32[3, 2], f32[3, 4]\n"
            "  const %p_pads: i64[4] = {0, 1, 0, 0}\n"
            "  const %p_value: f32[] = {2}\n"
            "  %p = Pad(%b, %p_pads, %p_value) : f32[3, 5]\n"
            "  const %z_max: f32[] = {6}\n"
            "  %z = Clip(%p, _, %z_max) : f32[3, 5]\n}\n");
}

// What was an attribute, an f32, has the type of what it bounds or fills.
TEST(UpgradeTest, NumbersOfTheTypeOfTheOperand) {
  ModelBuilder builder(9);
  builder.Input("x", {4}, onnx::TensorProto::FLOAT16).Output("y");
  onnx::NodeProto& pad = builder.Node("Pad", {"x"}, {"p"});
  builder.Ints(pad, "pads", {0, 1});
  builder.Float(pad, "value", 1.5f);
  builder.Float(builder.Node("Clip", {"p"}, {"y"}), "max", 6);
  const std::string text = Imported(builder);
  EXPECT_THAT(text, HasSubstr("%p_value: f16[] = hex \"003e\""));
  EXPECT_THAT(text, HasSubstr("%y_max: f16[] = hex \"0046\""));
}

TEST(UpgradeTest, WhatChangedBehindOpset13) {
  ModelBuilder builder(17);
  builder.Input("x", {4, 6}).Output("y").Output("z");
  builder.Ints(builder.Node("ReduceMean", {"x"}, {"m"}), "axes", {0});
  builder.Node("ReduceMax", {"m"}, {"y"});
  builder.Int(builder.Node("Split", {"x"}, {"z", "b"}), "axis", 1);
  EXPECT_EQ(Imported(builder),
            "  const %m_axes: i64[1] = {0}\n"
            "  %m = ReduceMean(%x, %m_axes) : f32[1, 6]\n"
            "  %y = ReduceMax(%m) : f32[1, 1]\n"
            "  %z, %b = Split(%x) {axis = 1, num_outputs = 2} : f32[4, 3], f32[4, 3]\n}\n");

  // The new forms come through as they are; the old ones are no longer known.
  ModelBuilder modern(18);
  modern.Input("x", {4, 5}).Output("z");
  onnx::NodeProto& split = modern.Node("Split", {"x"}, {"z", "b"});
  modern.Int(split, "axis", 1);
  modern.Int(split, "num_outputs", 2);
  EXPECT_EQ(Imported(modern),
            "  %z, %b = Split(%x) {axis = 1, num_outputs = 2} : f32[4, 3], f32[4, 2]\n}\n");
  ModelBuilder late(18);
  late.Input("x", {4, 6}).Output("m");
  late.Ints(late.Node("ReduceMean", {"x"}, {"m"}), "axes", {0});
  EXPECT_THAT(Imported(late), HasSubstr("(ReduceMean): has the unknown attribute \"axes\""));
}

TEST(UpgradeTest, ScatterAndTopK) {
  ModelBuilder builder(9);
  builder.Input("x", {4, 6}).Input("u", {1, 6}).Output("y").Output("z");
  onnx::NodeProto& top = builder.Node("TopK", {"x"}, {"y", "i"});
  builder.Int(top, "k", 1);
  builder.Int(top, "axis", 0);
  builder.Node("Scatter", {"x", "i", "u"}, {"z"});
  EXPECT_EQ(Imported(builder),
            "  const %y_k: i64[1] = {1}\n"
            "  %y, %i = TopK(%x, %y_k) {axis = 0} : f32[1, 6], i64[1, 6]\n"
            "  %z = ScatterElements(%x, %i, %u) : f32[4, 6]\n}\n");
}

TEST(UpgradeTest, WhatWasResized) {
  ModelBuilder builder(7);
  builder.Input("x", {1, 1, 2, 3}).Output("y");
  onnx::NodeProto& upsample = builder.Node("Upsample", {"x"}, {"y"});
  builder.String(upsample, "mode", "linear");
  onnx::AttributeProto& scales = *upsample.add_attribute();
  scales.set_name("scales");
  scales.set_type(onnx::AttributeProto::FLOATS);
  for (const float scale : {1, 1, 2, 2}) scales.add_floats(scale);
  EXPECT_EQ(
      Imported(builder),
      "  const %y_scales: f32[4] = {1, 1, 2, 2}\n"
      "  %y = Resize(%x, _, %y_scales) {coordinate_transformation_mode = \"asymmetric\", mode "
      "= \"linear\", nearest_mode = \"floor\"} : f32[1, 1, 4, 6]\n}\n");
}

TEST(UpgradeTest, WhatIsSampled) {
  ModelBuilder builder(16);
  builder.Input("x", {1, 1, 2, 3}).Input("g", {1, 2, 2, 2}).Output("y");
  builder.String(builder.Node("GridSample", {"x", "g"}, {"y"}), "mode", "bicubic");
  EXPECT_EQ(Imported(builder),
            "  %y = GridSample(%x, %g) {mode = \"cubic\"} : f32[1, 1, 2, 2]\n}\n");
}

TEST(UpgradeTest, SoftmaxKeepsItsFlattening) {
  ModelBuilder last(9);
  last.Input("x", {2, 3}).Output("y").Node("Softmax", {"x"}, {"y"});
  EXPECT_EQ(Imported(last), "  %y = Softmax(%x) {axis = -1} : f32[2, 3]\n}\n");

  ModelBuilder flat(9);
  flat.Input("x", {2, 3, 4}).Output("y").Node("Softmax", {"x"}, {"y"});
  EXPECT_EQ(Imported(flat),
            "  %y_flat = Flatten(%x) {axis = 1} : f32[2, 12]\n"
            "  %y_soft = Softmax(%y_flat) {axis = -1} : f32[2, 12]\n"
            "  const %y_shape: i64[3] = {2, 3, 4}\n"
            "  %y = Reshape(%y_soft, %y_shape) {allowzero = 1} : f32[2, 3, 4]\n}\n");

  ModelBuilder modern(13);
  modern.Input("x", {2, 3, 4}).Output("y");
  modern.Int(modern.Node("Softmax", {"x"}, {"y"}), "axis", 1);
  EXPECT_EQ(Imported(modern), "  %y = Softmax(%x) {axis = 1} : f32[2, 3, 4]\n}\n");
}

TEST(UpgradeTest, WhatIsDroppedIsRandom) {
  ModelBuilder builder(13);
  builder.Input("x", {2}).Input("t", {}, onnx::TensorProto::BOOL).Output("y").Output("m");
  builder.Int(builder.Node("Dropout", {"x", "", "t"}, {"y", "m"}), "seed", 3);
  const std::string text = Imported(builder);
  EXPECT_THAT(text, HasSubstr("RandomUniformLike(%x) {dtype = 11, seed = 3.0} : f64[2]"));
  EXPECT_THAT(text, HasSubstr("Not(%t) : bool[]"));
  EXPECT_THAT(text, HasSubstr("%y = Where("));
  EXPECT_THAT(text, HasSubstr("%m = Or("));
  builder.model.mutable_graph()->mutable_node(0)->mutable_input()->DeleteSubrange(1, 2);
  EXPECT_THAT(Imported(builder), HasSubstr("%y, %m = Dropout(%x) {seed = 3}"));
}

TEST(UpgradeTest, AMaskOnceHadTheTypeOfElements) {
  ModelBuilder builder(9);
  builder.Input("x", {2}).Output("y").Output("m");
  builder.Node("Dropout", {"x"}, {"y", "m"});
  EXPECT_EQ(Imported(builder),
            "  %y, %y_mask = Dropout(%x) : f32[2], bool[2]\n"
            "  %m = CastLike(%y_mask, %x) : f32[2]\n}\n");
}

TEST(UpgradeTest, WhatTrainsIsRefused) {
  ModelBuilder dropout(7);
  dropout.Input("x", {2}).Output("y");
  dropout.Float(dropout.Node("Dropout", {"x"}, {"y"}), "ratio", 0.3f);
  EXPECT_EQ(Imported(dropout), "  %y = Dropout(%x) : f32[2]\n}\n");
  dropout.model.mutable_opset_import(0)->set_version(6);
  EXPECT_THAT(Imported(dropout), HasSubstr("UNIMPLEMENTED: node \"y\" (Dropout): training"));

  ModelBuilder spatial(8);
  spatial.Input("x", {1, 2}).Input("v", {2}).Output("y");
  spatial.Int(spatial.Node("BatchNormalization", {"x", "v", "v", "v", "v"}, {"y"}), "spatial", 0);
  EXPECT_THAT(Imported(spatial), HasSubstr("\"spatial\" = 0 is not supported"));
  spatial.model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_i(1);
  EXPECT_EQ(Imported(spatial), "  %y = BatchNormalization(%x, %v, %v, %v, %v) : f32[1, 2]\n}\n");
}

TEST(UpgradeTest, FreshNamesAvoidTheModels) {
  ModelBuilder builder(11);
  builder.Input("y_axes", {2, 1}).Output("y");
  builder.Ints(builder.Node("Squeeze", {"y_axes"}, {"y"}), "axes", {1});
  EXPECT_THAT(Imported(builder), HasSubstr("const %y_axes_1: i64[1]"));
}

}  // namespace
}  // namespace slipway
