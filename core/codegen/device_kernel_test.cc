#include "core/codegen/device_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using Kind = DeviceArgument::Kind;

DeviceKernel Example() {
  DeviceKernel kernel;
  kernel.preamble = "#define a b\n\n";
  kernel.text = "__kernel void f_0() {}\n";
  kernel.scratch_bytes = {64, 128};
  kernel.launches.push_back({"f_0",
                             {3, 2, 1},
                             {64, 1, 1},
                             4096,
                             {{Kind::kInput, 1}, {Kind::kScratch, 0}},
                             {{Kind::kOutput, 0}}});
  kernel.launches.push_back({"f_1", {1, 1, 1}, {1, 1, 1}, 0, {}, {{Kind::kScratch, 1}}});
  return kernel;
}

TEST(DeviceKernel, IsTheSameAfterACache) {
  ASSERT_OK_AND_ASSIGN(const DeviceKernel kernel, ParseDeviceKernel(FormatDeviceKernel(Example())));
  EXPECT_EQ(kernel.preamble, Example().preamble);
  EXPECT_EQ(kernel.text, Example().text);
  EXPECT_THAT(kernel.scratch_bytes, ElementsAre(64, 128));
  ASSERT_EQ(kernel.launches.size(), 2u);
  EXPECT_EQ(kernel.launches[0].entry, "f_0");
  EXPECT_THAT(kernel.launches[0].groups, ElementsAre(3, 2, 1));
  EXPECT_THAT(kernel.launches[0].group, ElementsAre(64, 1, 1));
  EXPECT_EQ(kernel.launches[0].shared_bytes, 4096);
  EXPECT_EQ(kernel.launches[0].reads, Example().launches[0].reads);
  EXPECT_EQ(kernel.launches[1].writes, Example().launches[1].writes);
  EXPECT_EQ(FormatDeviceKernel(kernel), FormatDeviceKernel(Example()));
}

TEST(DeviceKernel, OtherBytesAreNone) {
  const std::string whole = FormatDeviceKernel(Example());
  for (const std::string& bytes :
       {std::string(),
        std::string("\x7f"
                    "ELF"),
        whole.substr(0, 10), "launch f 1 1 1\n\n" + whole,
        std::string("scratch -1\npreamble 0\n\n"), std::string("preamble 9\n\nshort"),
        std::string("launch f 1 1 1 1 1 1 0 rx1\npreamble 0\n\n"),
        std::string("launch f 1 1 1 1 1 1 ri1\npreamble 0\n\n"),
        std::string("launch f 1 1 1 1 1 1 0 ri99999999999\npreamble 0\n\n")}) {
    EXPECT_THAT(ParseDeviceKernel(bytes), StatusIs(absl::StatusCode::kInvalidArgument)) << bytes;
  }
}

}  // namespace
}  // namespace slipway
