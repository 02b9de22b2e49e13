// Links libHalide, the one shared library, and compiles a function with it.

#include <halide14/Halide.h>

#include "gtest/gtest.h"

namespace slipway::testing {
namespace {

TEST(HalideLinkTest, CompilesAndRuns) {
  Halide::Var x;
  Halide::Func f;
  f(x) = 2 * x + 1;
  const Halide::Buffer<int> result = f.realize({4});
  EXPECT_EQ(result(3), 7);
}

}  // namespace
}  // namespace slipway::testing
