#include "client/output_accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(AccuracyObserver, MeasuresErrors) {
  AccuracyObserver observer;
  EXPECT_OK(observer.Add(Tensor::Of<float>({2}, {3, 0}), Tensor::Of<float>({2}, {3, 0})));
  EXPECT_OK(observer.Add(Tensor::Of<float>({2}, {0, -4}), Tensor::Of<float>({2}, {0.5f, -4})));
  const OutputAccuracy accuracy = observer.Result("y");
  EXPECT_EQ(accuracy.name, "y");
  EXPECT_EQ(accuracy.elements, 4);
  ASSERT_TRUE(accuracy.errors.has_value());
  EXPECT_EQ(accuracy.errors->absolute, 0.5);
  EXPECT_EQ(accuracy.errors->relative, 0.125);
  EXPECT_NEAR(*accuracy.errors->decibels, 20, 1e-9);  // 25 over 0.25
  EXPECT_NEAR(accuracy.errors->cosine, 25 / (5 * std::sqrt(25.25)), 1e-12);
  EXPECT_FALSE(accuracy.agreement.has_value());
}

TEST(AccuracyObserver, WhatIsEqualHasNoNoise) {
  AccuracyObserver observer;
  EXPECT_OK(observer.Add(Tensor::Of<float>({1}, {3}), Tensor::Of<float>({1}, {3})));
  EXPECT_FALSE(observer.Result("y").errors->decibels.has_value());
  EXPECT_EQ(observer.Result("y").errors->cosine, 1);
  AccuracyObserver zeros;
  EXPECT_OK(zeros.Add(Tensor::Of<float>({1}, {0}), Tensor::Of<float>({1}, {0})));
  EXPECT_EQ(zeros.Result("y").errors->cosine, 1);
  EXPECT_EQ(zeros.Result("y").errors->relative, 0);
  AccuracyObserver noise;
  EXPECT_OK(noise.Add(Tensor::Of<float>({1}, {0}), Tensor::Of<float>({1}, {1})));
  EXPECT_EQ(noise.Result("y").errors->cosine, 0);
}

TEST(AccuracyObserver, CountsRowsWithTheSameLargestElement) {
  AccuracyObserver observer;
  const Tensor expected = Tensor::Of<float>({4, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  const Tensor actual = Tensor::Of<float>({4, 2}, {2, 0, 3, 1, 1, 0, 0, 1});
  EXPECT_OK(observer.Add(expected, actual));
  EXPECT_EQ(*observer.Result("y").agreement, 0.75);
  AccuracyObserver images;
  EXPECT_OK(images.Add(*expected.Reshaped({4, 2, 1, 1}), *actual.Reshaped({4, 2, 1, 1})));
  EXPECT_EQ(*images.Result("y").agreement, 0.75);
  AccuracyObserver planes;
  EXPECT_OK(planes.Add(*expected.Reshaped({2, 2, 2}), *actual.Reshaped({2, 2, 2})));
  EXPECT_FALSE(planes.Result("y").agreement.has_value());
}

TEST(AccuracyObserver, CountsEqualIntegers) {
  AccuracyObserver observer;
  EXPECT_OK(
      observer.Add(Tensor::Of<int64_t>({4}, {1, 2, 3, 4}), Tensor::Of<int64_t>({4}, {1, 2, 3, 5})));
  EXPECT_FALSE(observer.Result("y").errors.has_value());
  EXPECT_EQ(*observer.Result("y").agreement, 0.75);
  AccuracyObserver nothing;
  EXPECT_OK(nothing.Add(Tensor::Of<int64_t>({0}, {}), Tensor::Of<int64_t>({0}, {})));
  EXPECT_FALSE(nothing.Result("y").agreement.has_value());
}

TEST(AccuracyObserver, RefusesWhatCannotBeCompared) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  AccuracyObserver observer;
  EXPECT_THAT(observer.Add(Tensor::Of<float>({1}, {1}), Tensor::Of<float>({2}, {1, 1})),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(observer.Add(Tensor::Of<float>({1}, {1}), Tensor::Of<float>({1}, {nan})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("element 0 is nan, not 1")));
  // What f32 does not know either is no error of 8 bits.
  EXPECT_OK(observer.Add(Tensor::Of<float>({2}, {nan, 1}), Tensor::Of<float>({2}, {nan, 1})));
}

}  // namespace
}  // namespace slipway
