// Cases that ONNX's own leave out: what is refused, types other than f32, borders between two outputs.
#include <string>

#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

std::string Resize(const std::string& x, const std::string& scales, const std::string& attributes) {
  return ValuesOf("const %x: " + x + "\nconst %s: " + scales + "\n%y = Resize(%x, _, %s) {" +
                  attributes + "}");
}

TEST(ResizeTest, NearestOfAnyType) {
  EXPECT_EQ(Resize("bool[2] = {false, true}", "f32[1] = {1.5}",
                   "coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\""),
            "bool[3] = {false, false, true}");
  EXPECT_EQ(Resize("i64[2] = {9007199254740993, 1}", "f32[1] = {2}", ""),
            "i64[4] = {9007199254740993, 9007199254740993, 1, 1}");
  // 3 / 0.6 is 5, though 0.6 as f32 is a little more.
  EXPECT_EQ(Resize("u8[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}", "f32[1] = {0.6}",
                   "coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\""),
            "u8[6] = {0, 1, 3, 5, 6, 8}");
  EXPECT_EQ(Resize("f32[] = {3}", "f32[0] = {}", ""), "f32[] = {3}");
}

TEST(ResizeTest, IntegersRoundAndSaturate) {
  EXPECT_EQ(Resize("u8[2] = {0, 255}", "f32[1] = {2}", "mode = \"linear\""),
            "u8[4] = {0, 64, 191, 255}");
  EXPECT_EQ(Resize("u8[4] = {0, 0, 255, 255}", "f32[1] = {2}", "mode = \"cubic\""),
            "u8[8] = {0, 0, 0, 58, 197, 255, 255, 255}");
}

TEST(ResizeTest, FloatsKeepTheirFractions) {
  EXPECT_EQ(Resize("f32[2] = {0, 1}", "f32[1] = {2}", "mode = \"linear\""),
            "f32[4] = {0, 0.25, 0.75, 1}");
}

TEST(ResizeTest, SizesKeepTheRatio) {
  const auto resized = [](const std::string& attributes) {
    return ValuesOf(
        "const %x: i8[2, 4] = {1, 2, 3, 4, 5, 6, 7, 8}\nconst %z: i64[2] = {1, 3}\n"
        "%r = Resize(%x, _, _, %z) {" +
        attributes + "}\n%y = Shape(%r)");
  };
  EXPECT_EQ(resized(""), "i64[2] = {1, 3}");
  EXPECT_EQ(resized("keep_aspect_ratio_policy = \"not_larger\""), "i64[2] = {1, 2}");
  EXPECT_EQ(resized("keep_aspect_ratio_policy = \"not_smaller\""), "i64[2] = {2, 3}");
  EXPECT_EQ(resized("axes = [-1, 0]"), "i64[2] = {3, 1}");
}

TEST(ResizeTest, RefusesWhatMakesNoSense) {
  const std::string x = "f32[2] = {1, 2}";
  EXPECT_THAT(Resize(x, "f32[1] = {0}", ""), HasSubstr("a scale of 0"));
  EXPECT_THAT(Resize(x, "f32[1] = {nan}", ""), HasSubstr("a scale of nan"));
  EXPECT_THAT(Resize(x, "f32[1] = {1e30}", ""), HasSubstr("(Resize)"));
  EXPECT_THAT(Resize(x, "f32[2] = {1, 1}", ""), HasSubstr("where a list of 1 is needed"));
  EXPECT_THAT(Resize(x, "f32[0] = {}", ""),
              HasSubstr("either scales (input 2) or sizes (input 3) must be given"));
  EXPECT_THAT(Resize(x, "f32[1] = {2}", "mode = \"area\""),
              HasSubstr("\"mode\" is \"area\", not one of nearest, linear, cubic"));
  EXPECT_THAT(Resize(x, "f32[1] = {2}", "antialias = 1"), HasSubstr("has no meaning"));
  EXPECT_THAT(Resize(x, "f32[1] = {2}", "coordinate_transformation_mode = \"tf_crop_and_resize\""),
              HasSubstr("needs a roi"));
  EXPECT_THAT(Resize("bool[1] = {true}", "f32[1] = {2}", "mode = \"linear\""),
              HasSubstr("type bool is not supported"));
  EXPECT_THAT(ValuesOf("const %x: f32[0] = {}\nconst %z: i64[1] = {2}\n"
                       "%y = Resize(%x, _, _, %z)"),
              HasSubstr("dimension 0 is empty and becomes 2"));
}

}  // namespace
}  // namespace slipway
