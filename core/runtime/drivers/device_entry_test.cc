#include "core/runtime/drivers/device_entry.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kBad = absl::StatusCode::kInvalidArgument;

const LaunchLimits kLimits = {.max_groups = {100, 10, 10},
                              .max_group_sizes = {64, 32, 8},
                              .max_group = 64,
                              .shared_bytes = 100};

TEST(DeviceEntry, TakesAsManyTensorsAsItSays) {
  DeviceEntry entry{.name = "sum", .parameters = 5, .tensors = 3};
  EXPECT_THAT(CheckArguments(entry, 2, 1), IsOk());
  EXPECT_THAT(CheckArguments(entry, 1, 1), StatusIs(kBad, HasSubstr("'sum', which takes 3")));
  EXPECT_THAT(CheckArguments(entry, 3, 1), StatusIs(kBad));
  entry.tensors.reset();
  EXPECT_THAT(CheckArguments(entry, 1, 1), IsOk());
  EXPECT_THAT(CheckArguments(entry, 4, 1), IsOk());
  EXPECT_THAT(CheckArguments(entry, 5, 1), StatusIs(kBad));
}

TEST(DeviceEntry, ParametersAreTensorsAndThenExtents) {
  std::vector<slipway_dimension> dimensions(2);
  slipway_buffer plane = {};
  plane.dimensions = 2;
  plane.dim = dimensions.data();
  const std::vector<slipway_buffer*> two = {&plane, &plane};
  for (const uint32_t parameters : {2u, 3u, 6u}) {
    EXPECT_THAT(CheckParameters({.name = "f", .parameters = parameters}, two, "step"), IsOk());
  }
  for (const uint32_t parameters : {1u, 7u}) {
    EXPECT_THAT(CheckParameters({.name = "f", .parameters = parameters}, two, "step"),
                StatusIs(kBad, HasSubstr("step: entry 'f'")));
  }
}

TEST(DeviceEntry, SizesAreBoundedByDeviceAndEntry) {
  const DeviceEntry entry{.name = "f", .parameters = 1, .max_group = 48, .shared_bytes = 60};
  const auto check = [&](const LaunchSizes& sizes) {
    return CheckSizes(entry, kLimits, sizes, "gpu 0");
  };
  EXPECT_THAT(check({}), IsOk());
  EXPECT_THAT(check({.groups = {100, 10, 10}, .group = {48, 1, 1}, .shared_bytes = 40}), IsOk());
  EXPECT_THAT(check({.groups = {1, 1, 1}, .group = {1, 6, 8}}), IsOk());
  EXPECT_THAT(check({.groups = {0, 1, 1}}), StatusIs(kBad, HasSubstr("at least 1")));
  EXPECT_THAT(check({.groups = {1, 1, 1}, .group = {1, 1, -1}}), StatusIs(kBad));
  EXPECT_THAT(check({.groups = {1, 1, 1}, .group = {49, 1, 1}}),
              StatusIs(kBad, HasSubstr("at most 48 instances")));
  EXPECT_THAT(check({.groups = {1, 1, 1}, .group = {1, 1, 9}}), StatusIs(kBad));
  EXPECT_THAT(check({.groups = {1, 11, 1}}), StatusIs(kBad, HasSubstr("100 x 10 x 10 groups")));
  EXPECT_THAT(check({.shared_bytes = 41}),
              StatusIs(kBad, HasSubstr("60 and 41 bytes, of which there are 100")));
  EXPECT_THAT(check({.shared_bytes = INT64_MAX}), StatusIs(kBad));
  EXPECT_THAT(check({.shared_bytes = -1}), StatusIs(kBad));
}

TEST(DeviceEntry, InstancesAreCountedIn64Bits) {
  LaunchLimits limits = kLimits;
  limits.max_groups = {INT64_MAX, INT64_MAX, INT64_MAX};
  EXPECT_THAT(CheckSizes({.name = "f"}, limits, {.groups = {INT64_MAX, 1, 1}}, "gpu 0"), IsOk());
  EXPECT_THAT(CheckSizes({.name = "f"}, limits, {.groups = {int64_t{1} << 31, int64_t{1} << 31, 2}},
                         "gpu 0"),
              StatusIs(kBad, HasSubstr("64 bits")));
}

}  // namespace
}  // namespace slipway
