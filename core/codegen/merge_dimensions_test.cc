#include "core/codegen/merge_dimensions.h"

#include <gtest/gtest.h>

#include <string>

#include "core/graph/text.h"
#include "core/operators/register_all.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

std::string Merged(const char* text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_OK(graph.status());
  if (!graph.ok()) return "";
  MergeDimensions(*graph, StandardOperators());
  return Print(*graph);
}

std::string Printed(const char* text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_OK(graph.status());
  return graph.ok() ? Print(*graph) : "";
}

TEST(MergeDimensions, PartsAreRows) {
  EXPECT_EQ(Merged(R"(graph "g" (%x: f32[2, 3, 7, 7, 8], %y: f32[2, 1, 7, 7, 8]) -> (%j) {
              %j = Concat(%x, %y, %x) {axis = -4} : f32[2, 7, 7, 7, 8]
            })"),
            Printed(R"(graph "g" (%x: f32[2, 1176], %y: f32[2, 392]) -> (%j) {
              %j = Concat(%x, %y, %x) {axis = 1} : f32[2, 2744]
            })"));
  EXPECT_EQ(Merged(R"(graph "g" (%x: f32[3], %y: f32[5]) -> (%j) {
              %j = Concat(%x, %y) {axis = 0} : f32[8]
            })"),
            Printed(R"(graph "g" (%x: f32[1, 3], %y: f32[1, 5]) -> (%j) {
              %j = Concat(%x, %y) {axis = 1} : f32[1, 8]
            })"));
}

TEST(MergeDimensions, OpenPartsStay) {
  constexpr char kText[] = R"(graph "g" [a in 1..9] (%x: f32[a, 3], %y: f32[a, 5]) -> (%j) {
              %j = Concat(%x, %y) {axis = 1} : f32[a, 8]
            })";
  EXPECT_EQ(Merged(kText), Printed(kText));
}

TEST(MergeDimensions, OneShapeIsOneRow) {
  EXPECT_EQ(Merged(R"(graph "g" (%x: f32[2, 3, 7, 7], %y: f32[2, 3, 7, 7], %s: f32[]) -> (%b) {
              const %c: f32[1] = {2.0}
              %a = Add(%x, %y) : f32[2, 3, 7, 7]
              %m = Mul(%a, %c) : f32[2, 3, 7, 7]
              %b = Div(%m, %s) : f32[2, 3, 7, 7]
            })"),
            Printed(R"(graph "g" (%x: f32[294], %y: f32[294], %s: f32[]) -> (%b) {
              const %c: f32[1] = {2.0}
              %a = Add(%x, %y) : f32[294]
              %m = Mul(%a, %c) : f32[294]
              %b = Div(%m, %s) : f32[294]
            })"));
}

TEST(MergeDimensions, WhatIsBroadcastAlikeIsOneDimension) {
  // Rows of all batches; planes of each channel.
  EXPECT_EQ(Merged(R"(graph "g" (%x: f32[8, 128, 768], %b: f32[768]) -> (%y) {
              %y = Add(%x, %b) : f32[8, 128, 768]
            })"),
            Printed(R"(graph "g" (%x: f32[1024, 768], %b: f32[768]) -> (%y) {
              %y = Add(%x, %b) : f32[1024, 768]
            })"));
  EXPECT_EQ(Merged(R"(graph "g" (%x: f32[2, 3, 7, 7], %b: f32[3, 1, 1]) -> (%y) {
              %y = Add(%x, %b) : f32[2, 3, 7, 7]
            })"),
            Printed(R"(graph "g" (%x: f32[2, 3, 49], %b: f32[3, 1]) -> (%y) {
              %y = Add(%x, %b) : f32[2, 3, 49]
            })"));
}

// The scales of channels stand along their axis.
TEST(MergeDimensions, ScalesKeepTheirAxis) {
  constexpr char kByChannel[] = R"(graph "g" (%x: f32[1, 3, 3, 2]) -> (%q) {
              const %s: f32[3] = {1.0, 2.0, 4.0}
              %q = QuantizeLinear(%x, %s) : u8[1, 3, 3, 2]
            })";
  EXPECT_EQ(Merged(kByChannel), Printed(kByChannel));
  EXPECT_EQ(Merged(R"(graph "g" (%x: f32[1, 3, 3, 2]) -> (%q) {
              const %s: f32[1] = {2.0}
              %q = QuantizeLinear(%x, %s) : u8[1, 3, 3, 2]
            })"),
            Printed(R"(graph "g" (%x: f32[18]) -> (%q) {
              const %s: f32[1] = {2.0}
              %q = QuantizeLinear(%x, %s) : u8[18]
            })"));
}

TEST(MergeDimensions, DimensionsOfOneElementAreNoLink) {
  // [4, 1, 8] by [4, 1, 1]: both have the first two, but 8 is broadcast.
  EXPECT_EQ(Merged(R"(graph "g" (%x: f32[4, 1, 8], %b: f32[4, 1, 1]) -> (%y) {
              %y = Add(%x, %b) : f32[4, 1, 8]
            })"),
            Printed(R"(graph "g" (%x: f32[4, 8], %b: f32[4, 1]) -> (%y) {
              %y = Add(%x, %b) : f32[4, 8]
            })"));
}

TEST(MergeDimensions, TwoThatAreBroadcastAgainstEachOtherStay) {
  const char* outer = R"(graph "g" (%x: f32[4, 1], %b: f32[1, 8]) -> (%y) {
                           %y = Mul(%x, %b) : f32[4, 8]
                         })";
  EXPECT_EQ(Merged(outer), Printed(outer));
}

TEST(MergeDimensions, OpenExtentsStay) {
  EXPECT_EQ(Merged(R"(graph "g" [n in 1..9] (%x: f32[n, 3, 4, 5], %b: f32[5]) -> (%y) {
              %y = Add(%x, %b) : f32[n, 3, 4, 5]
            })"),
            Printed(R"(graph "g" [n in 1..9] (%x: f32[n, 12, 5], %b: f32[5]) -> (%y) {
              %y = Add(%x, %b) : f32[n, 12, 5]
            })"));
}

TEST(MergeDimensions, OtherOperatorsKeepTheirs) {
  const char* axis = R"(graph "g" (%x: f32[2, 3, 4]) -> (%y) {
                          %r = Relu(%x) : f32[2, 3, 4]
                          %y = Softmax(%r) {axis = 1} : f32[2, 3, 4]
                        })";
  EXPECT_EQ(Merged(axis), Printed(axis));
}

TEST(MergeDimensions, PointwiseConvolutionsHaveLongRows) {
  EXPECT_EQ(Merged(R"(graph "g" (%x: f32[1, 4, 28, 28, 8], %w: f32[2, 4, 1, 1, 8, 8],
                                 %b: f32[16], %z: f32[1, 2, 28, 28, 8],
                                 %s: f32[1, 2, 1, 1, 8]) -> (%y) {
              %c = slipway.ConvNCHWc(%x, %w, %b) : f32[1, 2, 28, 28, 8]
              %a = Add(%c, %z) : f32[1, 2, 28, 28, 8]
              %y = Mul(%a, %s) : f32[1, 2, 28, 28, 8]
            })"),
            Printed(R"(graph "g" (%x: f32[1, 4, 7, 112, 8], %w: f32[2, 4, 1, 1, 8, 8],
                                 %b: f32[16], %z: f32[1, 2, 7, 112, 8],
                                 %s: f32[1, 2, 1, 1, 8]) -> (%y) {
              %c = slipway.ConvNCHWc(%x, %w, %b) : f32[1, 2, 7, 112, 8]
              %a = Add(%c, %z) : f32[1, 2, 7, 112, 8]
              %y = Mul(%a, %s) : f32[1, 2, 7, 112, 8]
            })"));
  EXPECT_EQ(Merged(R"(graph "g" [n in 1..9] (%x: f32[n, 4, 7, 7, 8],
                                             %w: f32[2, 4, 1, 1, 8, 8]) -> (%y) {
              %y = slipway.ConvNCHWc(%x, %w) : f32[n, 2, 7, 7, 8]
            })"),
            Printed(R"(graph "g" [n in 1..9] (%x: f32[n, 4, 1, 49, 8],
                                             %w: f32[2, 4, 1, 1, 8, 8]) -> (%y) {
              %y = slipway.ConvNCHWc(%x, %w) : f32[n, 2, 1, 49, 8]
            })"));
}

TEST(MergeDimensions, WindowsKeepTheirPlanes) {
  for (const char* text : {
           R"(graph "g" (%x: f32[1, 4, 14, 14, 8], %w: f32[2, 4, 1, 1, 8, 8]) -> (%y) {
                %y = slipway.ConvNCHWc(%x, %w) {strides = [2, 2]} : f32[1, 2, 7, 7, 8]
              })",
           R"(graph "g" (%x: f32[1, 4, 7, 7, 8], %w: f32[2, 4, 3, 3, 8, 8]) -> (%y) {
                %y = slipway.ConvNCHWc(%x, %w) {pads = [1, 1, 1, 1]} : f32[1, 2, 7, 7, 8]
              })",
           R"(graph "g" (%x: f32[1, 4, 5, 5, 8], %w: f32[2, 4, 1, 1, 8, 8]) -> (%y) {
                %y = slipway.ConvNCHWc(%x, %w) {pads = [1, 1, 1, 1]} : f32[1, 2, 7, 7, 8]
              })",
           // What is added has one row for all.
           R"(graph "g" (%x: f32[1, 4, 7, 7, 8], %w: f32[2, 4, 1, 1, 8, 8],
                         %z: f32[1, 2, 1, 7, 8]) -> (%y) {
                %c = slipway.ConvNCHWc(%x, %w) : f32[1, 2, 7, 7, 8]
                %y = Add(%c, %z) : f32[1, 2, 7, 7, 8]
              })",
       }) {
    EXPECT_EQ(Merged(text), Printed(text));
  }
}

}  // namespace
}  // namespace slipway
