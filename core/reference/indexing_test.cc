// Cases that ONNX's own leave out: what is refused, borders, NaN, types without arithmetic.
#include <string>

#include "core/reference/values_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;

TEST(IndexingTest, IndicesCountFromTheEndAndAreChecked) {
  const std::string x = "const %x: f32[2, 3] = {1, 2, 3, 4, 5, 6}\n";
  EXPECT_EQ(ValuesOf(x + "const %i: i32[1, 2] = {-1, 0}\n%y = GatherElements(%x, %i) {axis = 1}"),
            "f32[1, 2] = {3, 1}");
  EXPECT_EQ(ValuesOf(x + "const %i: i64[1, 3] = {-2, 1, 0}\n%y = GatherElements(%x, %i)"),
            "f32[1, 3] = {1, 5, 3}");
  EXPECT_THAT(ValuesOf(x + "const %i: i64[1, 1] = {2}\n%y = GatherElements(%x, %i)"),
              HasSubstr("(GatherElements): an index is outside of its dimension"));
  EXPECT_THAT(ValuesOf(x + "const %i: i64[1, 4] = {0, 0, 0, 0}\n%y = GatherElements(%x, %i)"),
              HasSubstr("reach beyond [2, 3] in dimension 1"));
  EXPECT_EQ(ValuesOf(x + "const %i: i64[2, 1] = {-1, 0}\n%y = GatherND(%x, %i)"),
            "f32[2, 3] = {4, 5, 6, 1, 2, 3}");
  EXPECT_THAT(ValuesOf(x + "const %i: i64[1, 2] = {0, -4}\n%y = GatherND(%x, %i)"),
              HasSubstr("an index is outside"));
  EXPECT_THAT(ValuesOf(x + "const %i: i64[1, 3] = {0, 0, 0}\n%y = GatherND(%x, %i)"),
              HasSubstr("hold tuples of 3, data of shape [2, 3] takes 1 to 2"));
  EXPECT_THAT(
      ValuesOf(x + "const %i: i64[3, 1] = {0, 0, 0}\n%y = GatherND(%x, %i) {batch_dims = 1}"),
      HasSubstr("\"batch_dims\" is 1"));
  EXPECT_EQ(ValuesOf(x + "const %i: i64[0, 1] = {}\n%y = GatherND(%x, %i)"), "f32[0, 3] = {}");
}

TEST(IndexingTest, ScattersReduceInOrderAndKeepNan) {
  const std::string x =
      "const %x: f32[3] = {1, nan, 3}\nconst %i: i64[4] = {0, 1, 0, 2}\n"
      "const %u: f32[4] = {5, 7, 2, nan}\n";
  EXPECT_EQ(ValuesOf(x + "%y = ScatterElements(%x, %i, %u) {reduction = \"max\"}"),
            "f32[3] = {5, nan, nan}");
  EXPECT_EQ(ValuesOf(x + "%y = ScatterElements(%x, %i, %u) {reduction = \"min\"}"),
            "f32[3] = {1, nan, nan}");
  EXPECT_EQ(ValuesOf(x + "%y = ScatterElements(%x, %i, %u) {reduction = \"mul\"}"),
            "f32[3] = {10, nan, nan}");
  EXPECT_EQ(ValuesOf(x + "%y = ScatterElements(%x, %i, %u)"), "f32[3] = {2, 7, nan}");
  EXPECT_THAT(ValuesOf(x + "%y = ScatterElements(%x, %i, %u) {reduction = \"mean\"}"),
              HasSubstr("\"reduction\" is \"mean\", not none, add, mul, max or min"));
  EXPECT_EQ(ValuesOf("const %x: i8[2, 2] = {127, 1, 2, 3}\nconst %i: i64[2, 1] = {0, -2}\n"
                     "const %u: i8[2, 2] = {1, 1, 1, 1}\n"
                     "%y = ScatterND(%x, %i, %u) {reduction = \"add\"}"),
            "i8[2, 2] = {-127, 3, 2, 3}");
  const std::string flags =
      "const %x: bool[2] = {true, true}\nconst %i: i64[1, 1] = {1}\n"
      "const %u: bool[1] = {false}\n";
  EXPECT_EQ(ValuesOf(flags + "%y = ScatterND(%x, %i, %u)"), "bool[2] = {true, false}");
  EXPECT_THAT(ValuesOf(flags + "%y = ScatterND(%x, %i, %u) {reduction = \"add\"}"),
              HasSubstr("input 0 of type bool is not supported"));
  EXPECT_THAT(ValuesOf("const %x: f32[3] = {1, 2, 3}\nconst %i: i64[1, 1] = {1}\n"
                       "const %u: f32[2] = {0, 0}\n%y = ScatterND(%x, %i, %u)"),
              HasSubstr("updates of shape [2] where [1] is needed"));
}

TEST(IndexingTest, CachesWrapAroundOrEnd) {
  const std::string cache =
      "const %c: f32[1, 3, 1] = {1, 2, 3}\nconst %u: f32[1, 2, 1] = {8, 9}\n"
      "const %w: i64[1] = {2}\n";
  EXPECT_EQ(ValuesOf(cache + "%y = TensorScatter(%c, %u, %w) {mode = \"circular\"}"),
            "f32[1, 3, 1] = {9, 2, 8}");
  EXPECT_EQ(ValuesOf(cache + "%y = TensorScatter(%c, %u)"), "f32[1, 3, 1] = {8, 9, 3}");
  EXPECT_THAT(ValuesOf(cache + "%y = TensorScatter(%c, %u, %w)"),
              HasSubstr("a write index leads out of the cache"));
  EXPECT_THAT(ValuesOf(cache + "%y = TensorScatter(%u, %c)"),
              HasSubstr("an update of f32[1, 3, 1] does not fit a cache of f32[1, 2, 1]"));
  EXPECT_THAT(ValuesOf(cache + "%y = TensorScatter(%c, %u) {axis = 0}"),
              HasSubstr("\"axis\" is that of the batch"));
}

TEST(IndexingTest, OneHotIgnoresWhatIsOutside) {
  const auto one_hot = [](const std::string& indices, const std::string& depth) {
    return ValuesOf("const %i: " + indices + "\nconst %d: " + depth +
                    "\nconst %v: u8[2] = {0, 1}\n%y = OneHot(%i, %d, %v)");
  };
  EXPECT_EQ(one_hot("f32[4] = {1.9, -1, nan, 2}", "i64[] = {2}"),
            "u8[4, 2] = {0, 1, 0, 1, 0, 0, 0, 0}");
  EXPECT_EQ(one_hot("u64[2] = {18446744073709551615, 1}", "f32[1] = {2.5}"),
            "u8[2, 2] = {0, 0, 0, 1}");
  EXPECT_EQ(one_hot("i8[2] = {-128, -3}", "i64[] = {3}"), "u8[2, 3] = {0, 0, 0, 1, 0, 0}");
  EXPECT_THAT(one_hot("i64[1] = {0}", "f32[] = {nan}"), HasSubstr("the depth (input 1) is no i64"));
  EXPECT_THAT(one_hot("i64[1] = {0}", "i64[] = {-1}"), HasSubstr("(OneHot)"));
  EXPECT_THAT(one_hot("i64[1] = {0}", "i64[2] = {1, 2}"), HasSubstr("must be one number"));
}

}  // namespace
}  // namespace slipway
