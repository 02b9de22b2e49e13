#include "core/passes/canonicalize_ops_pass.h"

#include <gtest/gtest.h>

#include "core/passes/testing/pass_tester.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::PassTester;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CanonicalizeOps, DropsWhatChangesNothing) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %a = Identity(%x)
      %b, %mask = Dropout(%a)
      %c = Cast(%b) {to = 1}
      %d = Clip(%c)
      %e = Concat(%d) {axis = 0}
      %f = Transpose(%e) {perm = [0, 1]}
      %h = Sum(%f)
      %y = Relu "r" (%h)
    })",
                         R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      %y = Relu "r" (%x)
    })"));
}

// What a scale of 1.5 makes of 5 is no whole number, and its ratio not that of the extents.
TEST(CanonicalizeOps, TellsResizeSizesInPlaceOfScales) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[1, 2, 4, 5]) -> (%y, %z) {
      const %scales: f32[4] = {1, 1, 2, 3}
      const %fractions: f32[2] = {0.5, 1.5}
      %y = Resize "r" (%x, _, %scales) {mode = "linear"}
      %z = Resize "s" (%x, _, %fractions) {axes = [2, 3]}
    })",
                         R"(
    graph "g" (%x: f32[1, 2, 4, 5]) -> (%y, %z) {
      const %fractions: f32[2] = {0.5, 1.5}
      const %r_sizes: i64[4] = {1, 2, 8, 15}
      %y = Resize "r" (%x, _, _, %r_sizes) {mode = "linear"}
      %z = Resize "s" (%x, _, %fractions) {axes = [2, 3]}
    })"));
}

TEST(CanonicalizeOps, NormalizesGroupsOfChannelsAsSuch) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[2, 6, 2, 5]) -> (%y) {
      const %rows: i64[3] = {0, 3, -1}
      const %image: i64[4] = {2, 6, 2, 5}
      const %scale: f32[3] = {1, 2, 3}
      const %bias: f32[3] = {4, 5, 6}
      %g = Reshape "g" (%x, %rows)
      %n = InstanceNormalization "n" (%g, %scale, %bias) {epsilon = 0.5}
      %y = Reshape "y" (%n, %image)
    })",
                         R"(
    graph "g" (%x: f32[2, 6, 2, 5]) -> (%y) {
      const %n_scale: f32[6] = {1, 1, 2, 2, 3, 3}
      const %n_bias: f32[6] = {4, 4, 5, 5, 6, 6}
      %y = GroupNormalization "n_groups" (%x, %n_scale, %n_bias) {epsilon = 0.5, num_groups = 3}
    })"));
}

TEST(CanonicalizeOps, DropsAResizeToTheSameSizesUnlessItCuts) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[1, 2, 4, 5]) -> (%y, %z) {
      const %sizes: i64[4] = {1, 2, 4, 5}
      const %roi: f32[8] = {0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75}
      %r = Resize(%x, _, _, %sizes) {mode = "linear"}
      %y = Relu "y" (%r)
      %z = Resize "z" (%x, %roi, _, %sizes) {coordinate_transformation_mode = "tf_crop_and_resize", mode = "linear"}
    })",
                         R"(
    graph "g" (%x: f32[1, 2, 4, 5]) -> (%y, %z) {
      const %sizes: i64[4] = {1, 2, 4, 5}
      const %roi: f32[8] = {0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75}
      %y = Relu "y" (%x)
      %z = Resize "z" (%x, %roi, _, %sizes) {coordinate_transformation_mode = "tf_crop_and_resize", mode = "linear"}
    })"));
}

TEST(CanonicalizeOps, KeepsAnIdentityBetweenInputAndOutput) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %y = Dropout(%x)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %y = Identity "y" (%x)
    })"));
}

TEST(CanonicalizeOps, RenamesWhatBecomesAnOutput) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %r = Relu "r" (%x)
      %y = Identity(%r)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y) {
      %y = Relu "r" (%x)
    })"));
}

TEST(CanonicalizeOps, WritesAMaskThatIsRead) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[2]) -> (%y, %mask) {
      %r = Relu "r" (%x)
      %y, %mask = Dropout "d" (%r)
    })",
                         R"(
    graph "g" (%x: f32[2]) -> (%y, %mask) {
      const %mask: bool[2] = splat true
      %y = Relu "r" (%x)
    })"));
}

TEST(CanonicalizeOps, ChainsVariadicOperators) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%a: f32[2], %b: f32[2], %c: f32[2]) -> (%y) {
      %s = Sum "s" (%a, %b, %c)
      %y = Max "m" (%s, %a, %b)
    })",
                         R"(
    graph "g" (%a: f32[2], %b: f32[2], %c: f32[2]) -> (%y) {
      %s_1 = Add "s" (%a, %b)
      %s_2 = Add "s" (%s_1, %c)
      %m = Max "m" (%s_2, %a)
      %y = Max "m" (%m, %b)
    })"));
}

TEST(CanonicalizeOps, SpellsGemmOut) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      const %w: f32[2, 3] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
      const %c: f32[1, 2] = {1.0, 2.0}
      %y = Gemm "fc" (%x, %w, %c) {alpha = 0.5, beta = 2.0, transB = 1}
    })",
                         R"(
    graph "g" (%x: f32[2, 3]) -> (%y) {
      const %w_kn: f32[3, 2] = {0.5, 2.0, 1.0, 2.5, 1.5, 3.0}
      const %c_n: f32[2] = {2.0, 4.0}
      %y = Gemm "fc" (%x, %w_kn, %c_n)
    })"));
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[3, 2], %w: f32[3, 4], %c: f32[2, 1]) -> (%y) {
      %y = Gemm "fc" (%x, %w, %c) {transA = 1}
    })",
                         R"(
    graph "g" (%x: f32[3, 2], %w: f32[3, 4], %c: f32[2, 1]) -> (%y) {
      %fc_a_transposed = Transpose "fc_a_transposed" (%x) {perm = [1, 0]}
      %fc = Gemm "fc" (%fc_a_transposed, %w)
      %y = Add "fc" (%fc, %c)
    })"));
}

TEST(CanonicalizeOps, MatMulByAConstantMatrixIsAGemm) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[5, 2, 3]) -> (%y) {
      const %w: f32[3, 1] = {1.0, 2.0, 3.0}
      %y = MatMul "mm" (%x, %w)
    })",
                         R"(
    graph "g" (%x: f32[5, 2, 3]) -> (%y) {
      const %w: f32[3, 1] = {1.0, 2.0, 3.0}
      const %mm_rows_shape: i64[2] = {10, 3}
      const %mm_shaped_shape: i64[3] = {5, 2, 1}
      %mm_rows = Reshape "mm_rows" (%x, %mm_rows_shape)
      %mm = Gemm "mm" (%mm_rows, %w)
      %y = Reshape "mm_shaped" (%mm, %mm_shaped_shape)
    })"));
}

TEST(CanonicalizeOps, ElementsOfAProductStayRows) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[5, 2, 3], %z: f32[5, 2, 4]) -> (%y) {
      const %w: f32[3, 4] = splat 0.5
      const %bias: f32[1, 1, 4] = {1.0, 2.0, 3.0, 4.0}
      const %half: f32[] = {0.5}
      %p = MatMul "mm" (%x, %w)
      %a = Add "a" (%bias, %p)
      %c = Clip "c" (%a, %half)
      %m = Mul "m" (%c, %half)
      %y = Add "y" (%z, %m)
    })",
                         R"(
    graph "g" (%x: f32[5, 2, 3], %z: f32[5, 2, 4]) -> (%y) {
      const %w: f32[3, 4] = splat 0.5
      const %half: f32[] = {0.5}
      const %mm_rows_shape: i64[2] = {10, 3}
      const %bias_row: f32[4] = {1.0, 2.0, 3.0, 4.0}
      const %z_rows_shape: i64[2] = {10, 4}
      const %y_shaped_shape: i64[3] = {5, 2, 4}
      %mm_rows = Reshape "mm_rows" (%x, %mm_rows_shape)
      %mm = Gemm "mm" (%mm_rows, %w)
      %a_1 = Add "a" (%bias_row, %mm)
      %c_1 = Clip "c" (%a_1, %half)
      %m_1 = Mul "m" (%c_1, %half)
      %z_rows = Reshape "z_rows" (%z, %z_rows_shape)
      %y_1 = Add "y" (%z_rows, %m_1)
      %y = Reshape "y_shaped" (%y_1, %y_shaped_shape)
    })"));
  // What varies otherwise, and what only looks like a product's rows, stays.
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[10, 3], %w: f32[3, 4], %z: f32[2, 1]) -> (%y) {
      const %shape: i64[3] = {5, 2, 4}
      %p = Gemm "p" (%x, %w)
      %s = Reshape "s" (%p, %shape)
      %y = Add "y" (%s, %z)
    })",
                         R"(
    graph "g" (%x: f32[10, 3], %w: f32[3, 4], %z: f32[2, 1]) -> (%y) {
      const %s_shape: i64[3] = {5, 2, 4}
      %p_1 = Gemm "p" (%x, %w)
      %s_1 = Reshape "s" (%p_1, %s_shape)
      %y = Add "y" (%s_1, %z)
    })"));
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[10, 3], %w: f32[3, 4]) -> (%y) {
      const %shape: i64[3] = {10, 2, 2}
      %p = Gemm "p" (%x, %w)
      %s = Reshape "s" (%p, %shape)
      %y = Relu "y" (%s)
    })",
                         R"(
    graph "g" (%x: f32[10, 3], %w: f32[3, 4]) -> (%y) {
      const %s_shape: i64[3] = {10, 2, 2}
      %p_1 = Gemm "p" (%x, %w)
      %s_1 = Reshape "s" (%p_1, %s_shape)
      %y = Relu "y" (%s_1)
    })"));
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[10, 4]) -> (%y) {
      const %shape: i64[3] = {5, 2, 4}
      %s = Reshape "s" (%x, %shape)
      %y = Relu "y" (%s)
    })",
                         R"(
    graph "g" (%x: f32[10, 4]) -> (%y) {
      const %s_shape: i64[3] = {5, 2, 4}
      %s_1 = Reshape "s" (%x, %s_shape)
      %y = Relu "y" (%s_1)
    })"));
}

TEST(CanonicalizeOps, StatesWindows) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[1, 1, 6, 6]) -> (%y) {
      const %w: f32[1, 1, 3, 3] = splat 0.5
      %c = Conv "c" (%x, %w, _) {auto_pad = "SAME_LOWER", strides = [2, 2]}
      %y = MaxPool "p" (%c) {kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1}
    })",
                         R"(
    graph "g" (%x: f32[1, 1, 6, 6]) -> (%y) {
      const %w: f32[1, 1, 3, 3] = splat 0.5
      %c = Conv "c" (%x, %w) {dilations = [1, 1], group = 1, kernel_shape = [3, 3], pads = [1, 1, 0, 0], strides = [2, 2]}
      %y = MaxPool "p" (%c) {dilations = [1, 1], kernel_shape = [2, 2], pads = [0, 0, 1, 1], strides = [2, 2]}
    })"));
}

TEST(CanonicalizeOps, KeepsCeilModeWhereItDecidesWhatCounts) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[1, 1, 3, 3]) -> (%y) {
      %y = AveragePool "p" (%x) {kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1, count_include_pad = 1}
    })",
                         R"(
    graph "g" (%x: f32[1, 1, 3, 3]) -> (%y) {
      %y = AveragePool "p" (%x) {ceil_mode = 1, count_include_pad = 1, dilations = [1, 1], kernel_shape = [2, 2], pads = [0, 0, 0, 0], strides = [2, 2]}
    })"));
}

TEST(CanonicalizeOps, OneDimensionBecomesTwo) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[1, 1, 6]) -> (%y) {
      const %w: f32[2, 1, 3] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
      %y = Conv "c" (%x, %w) {pads = [1, 0], strides = [2]}
    })",
                         R"(
    graph "g" (%x: f32[1, 1, 6]) -> (%y) {
      const %x_2d_shape: i64[4] = {1, 1, 1, 6}
      const %w_2d: f32[2, 1, 1, 3] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
      const %c_1d_shape: i64[3] = {1, 2, 3}
      %x_2d = Reshape "x_2d" (%x, %x_2d_shape)
      %c = Conv "c" (%x_2d, %w_2d) {dilations = [1, 1], group = 1, kernel_shape = [1, 3], pads = [0, 1, 0, 0], strides = [1, 2]}
      %y = Reshape "c_1d" (%c, %c_1d_shape)
    })"));
}

TEST(CanonicalizeOps, APoolThatTellsPlacesKeepsItsDimension) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[2, 3, 8]) -> (%y, %i) {
      %y, %i = MaxPool "p" (%x) {kernel_shape = [2]}
    })",
                         R"(
    graph "g" (%x: f32[2, 3, 8]) -> (%y, %i) {
      %y, %i = MaxPool "p" (%x) {dilations = [1], kernel_shape = [2], pads = [0, 0], strides = [1]}
    })"));
}

TEST(CanonicalizeOps, PoolsOverEverythingAreReductions) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[1, 2, 3, 4]) -> (%y) {
      %a = GlobalAveragePool "a" (%x)
      %b = AveragePool "b" (%x) {kernel_shape = [3, 4]}
      %c = GlobalMaxPool "c" (%x)
      %s = Add "s" (%a, %b)
      %y = Add "t" (%s, %c)
    })",
                         R"(
    graph "g" (%x: f32[1, 2, 3, 4]) -> (%y) {
      const %a_axes: i64[2] = {2, 3}
      %a_1 = ReduceMean "a" (%x, %a_axes) {keepdims = 1}
      const %b_axes: i64[2] = {2, 3}
      %b_1 = ReduceMean "b" (%x, %b_axes) {keepdims = 1}
      const %c_axes: i64[2] = {2, 3}
      %c_1 = ReduceMax "c" (%x, %c_axes) {keepdims = 1}
      %s = Add "s" (%a_1, %b_1)
      %y = Add "t" (%s, %c_1)
    })"));
}

TEST(CanonicalizeOps, ReshapesInDisguiseMerge) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[1, 2, 1, 3]) -> (%y) {
      const %axes: i64[1] = {2}
      const %axis: i64[1] = {0}
      %a = Squeeze(%x, %axes)
      %b = Unsqueeze(%a, %axis)
      %y = Flatten "f" (%b)
    })",
                         R"(
    graph "g" (%x: f32[1, 2, 1, 3]) -> (%y) {
      const %f_shape: i64[2] = {1, 6}
      %y = Reshape "f" (%x, %f_shape)
    })"));
}

TEST(CanonicalizeOps, SoftmaxRunsOverTheLastAxis) {
  const PassTester tester;
  EXPECT_OK(tester.Check(CanonicalizeOps, R"(
    graph "g" (%x: f32[2, 3, 1, 1]) -> (%y) {
      %y = Softmax "s" (%x) {axis = -3}
    })",
                         R"(
    graph "g" (%x: f32[2, 3, 1, 1]) -> (%y) {
      const %s_rows_shape: i64[2] = {2, 3}
      const %s_shaped_shape: i64[4] = {2, 3, 1, 1}
      %s_rows = Reshape "s_rows" (%x, %s_rows_shape)
      %s = Softmax "s" (%s_rows) {axis = 1}
      %y = Reshape "s_shaped" (%s, %s_shaped_shape)
    })"));
}

}  // namespace
}  // namespace slipway
