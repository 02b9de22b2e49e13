// Kernels that small programs are put together from, in tests of what runs programs.
#ifndef SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_SMALL_KERNELS_H_
#define SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_SMALL_KERNELS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Tensors are f32 of any shape where nothing else is said.
enum class SmallKernel : uint32_t {
  kAdd = 0,        // a, b -> a + b; b may be one number.
  kFail,           // a, b -> out: ends with result 7.
  kWindowSum,      // x[batch, width] -> out[batch, w]: sums of three, every second one.
  kCountPositive,  // x[n] -> i64[1]
  kPositions,      // x[n] -> i64[m]: where x is positive; fails if that is in fewer places.
  kBelow,          // a[], b[] -> bool[]: a < b
  kAppend,         // x[n], turn i64[] -> out[n + 1]
  kFailAt3,        // turn i64[] -> out[]: turn, but ends with result 3 in turn 3.
  kAlways,         // any -> bool[]: true
};
inline constexpr uint32_t kSmallKernelCount = 9;

// The machine that tests run on.
inline constexpr char kTestHost[] = "x86-64-linux";

// A shared object that has them, and its entry in a manifest, for device 0. REQUIRES: `host` is kTestHost or
// "arm-64-linux".
absl::string_view SmallKernelBytes(absl::string_view host = kTestHost);
v1::Code SmallKernelCode(absl::string_view host = kTestHost);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_TEST_PROGRAMS_SMALL_KERNELS_H_
