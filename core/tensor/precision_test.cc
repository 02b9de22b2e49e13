#include "core/tensor/precision.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Precision, IsFoundByItsName) {
  for (const Precision precision : {Precision::kFloat32, Precision::kTensorFloat32,
                                    Precision::kFloat16, Precision::kBfloat16, Precision::kInt8}) {
    EXPECT_FALSE(Name(precision).empty());
    EXPECT_EQ(FindPrecision(Name(precision)), precision);
  }
  EXPECT_EQ(Name(Precision::kTensorFloat32), "tf32");
  EXPECT_EQ(FindPrecision("f64"), std::nullopt);
  EXPECT_EQ(FindPrecision(""), std::nullopt);
}

}  // namespace
}  // namespace slipway
