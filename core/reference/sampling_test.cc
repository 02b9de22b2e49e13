// Cases that ONNX's own leave out: NaN and infinity as places, what is refused, images without pixels.
#include <string>

#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

std::string Sample(const std::string& grid, const std::string& attributes) {
  return ValuesOf("const %x: f32[1, 1, 1, 3] = {1, 2, 4}\nconst %g: f32[1, 1, 1, 2] = {" + grid +
                  "}\n%y = GridSample(%x, %g) {" + attributes + "}");
}

TEST(SamplingTest, PlacesFarOutside) {
  EXPECT_EQ(Sample("inf, 0", ""), "f32[1, 1, 1, 1] = {0}");
  EXPECT_EQ(Sample("-1e38, 0", "padding_mode = \"border\", mode = \"cubic\""),
            "f32[1, 1, 1, 1] = {1}");
  // At -0.75, between two places that have what the border has, and a third that has not.
  EXPECT_EQ(Sample("-1.75, 0", "padding_mode = \"border\", mode = \"cubic\", align_corners = 1"),
            "f32[1, 1, 1, 1] = {0.96484375}");
  EXPECT_EQ(Sample("3, 0", "padding_mode = \"reflection\", mode = \"nearest\""),
            "f32[1, 1, 1, 1] = {1}");
  EXPECT_EQ(Sample("nan, 0", "padding_mode = \"border\""), "f32[1, 1, 1, 1] = {nan}");
  EXPECT_EQ(Sample("0.5, 0", "align_corners = 1"), "f32[1, 1, 1, 1] = {3}");
}

TEST(SamplingTest, RefusesGridsThatDoNotFit) {
  EXPECT_THAT(ValuesOf("const %x: f32[1, 1, 2] = {1, 2}\nconst %g: f32[1, 1, 2] = {0, 0}\n"
                       "%y = GridSample(%x, %g)"),
              HasSubstr("a grid of shape [1, 1, 2] does not fit x of shape [1, 1, 2]"));
  EXPECT_THAT(ValuesOf("const %x: f32[1, 1, 0] = {}\nconst %g: f32[1, 1, 1] = {0}\n"
                       "%y = GridSample(%x, %g)"),
              HasSubstr("an image without pixels cannot be sampled"));
  EXPECT_THAT(Sample("0, 0", "mode = \"bilinear\""), HasSubstr("not linear, nearest or cubic"));
  EXPECT_THAT(ValuesOf("const %t: f32[1, 2, 3] = {1, 0, 0, 0, 1, 0}\n"
                       "const %s: i64[4] = {2, 1, 2, 2}\n%y = AffineGrid(%t, %s)"),
              HasSubstr("theta has the shape [1, 2, 3] where [2, 2, 3] is needed"));
}

TEST(SamplingTest, RegionsAreChecked) {
  const auto align = [](const std::string& region, const std::string& batch,
                        const std::string& attributes) {
    return ValuesOf("const %x: f32[1, 1, 2, 2] = {1, 2, 3, 4}\nconst %r: f32[1, 4] = {" + region +
                    "}\nconst %b: i64[1] = {" + batch + "}\n%y = RoiAlign(%x, %r, %b) {" +
                    attributes + "}");
  };
  EXPECT_EQ(align("0, 0, 2, 2", "0", ""), "f32[1, 1, 1, 1] = {2.5}");
  EXPECT_EQ(align("0, 0, 0, 0", "0", ""), "f32[1, 1, 1, 1] = {0}");
  EXPECT_THAT(align("0, 0, 2, 2", "1", ""), HasSubstr("a region is of no image of the batch"));
  EXPECT_THAT(align("0, 0, 1e30, 2", "0", ""), HasSubstr("more than 32768 samples"));
  EXPECT_THAT(align("0, 0, 2, 2", "0", "output_height = 0"), HasSubstr("the output 0 by 1"));
  EXPECT_THAT(align("0, 0, 2, 2", "0", "mode = \"sum\""), HasSubstr("not avg or max"));
}

TEST(SamplingTest, SuppressionTakesBoxesEitherWayRound) {
  const std::string boxes =
      "const %b: f32[1, 3, 4] = {1, 1, 0, 0, 0, 0, 1, 1, 0, 5, 1, 6}\n"
      "const %s: f32[1, 1, 3] = {0.5, nan, 0.5}\nconst %n: i64[] = {5}\n";
  EXPECT_EQ(ValuesOf(boxes + "%y = NonMaxSuppression(%b, %s, %n)"),
            "i64[2, 3] = {0, 0, 0, 0, 0, 2}");
  EXPECT_EQ(ValuesOf(boxes + "%y = NonMaxSuppression(%b, %s)"), "i64[0, 3] = {}");
  EXPECT_EQ(ValuesOf(boxes + "const %t: f32[] = {0.5}\n"
                             "%y = NonMaxSuppression(%b, %s, %n, _, %t)"),
            "i64[0, 3] = {}");
  EXPECT_THAT(ValuesOf(boxes + "%y = NonMaxSuppression(%s, %s, %n)"), HasSubstr("do not fit"));
}

}  // namespace
}  // namespace slipway
