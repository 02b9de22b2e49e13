#include "core/wire/peaks_proto.h"

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::IsEmpty;

std::vector<MachinePeaks> Peaks() {
  return {{1, {{"f32", 1e11}, {"int8", 4e11}}, {{"L1", 32768, 2e11}, {"memory", 0, 1e10}}},
          {4, {{"f32", 4e11}}, {{"memory", 0, 3e10}}}};
}

TEST(PeaksProtoTest, ComeBackAsTheyWere) {
  ASSERT_OK_AND_ASSIGN(const std::vector<MachinePeaks> back, FromProto(ToProto(Peaks())));
  EXPECT_EQ(back, Peaks());
  ASSERT_OK_AND_ASSIGN(const std::vector<MachinePeaks> none, FromProto(v1::DevicePeaks()));
  EXPECT_THAT(none, IsEmpty());
}

TEST(PeaksProtoTest, WhatCannotBeIsRefused) {
  using OnThreads = v1::DevicePeaks::OnThreads;
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<const char*, std::function<void(OnThreads&)>>> wrongs = {
      {"no threads", [](OnThreads& p) { p.set_threads(0); }},
      {"as many as before", [](OnThreads& p) { p.set_threads(1); }},
      {"no arithmetic", [](OnThreads& p) { p.clear_arithmetic(); }},
      {"no reading", [](OnThreads& p) { p.clear_reading(); }},
      {"nothing a second",
       [](OnThreads& p) { p.mutable_arithmetic(0)->set_operations_per_second(0); }},
      {"no number", [&](OnThreads& p) { p.mutable_arithmetic(0)->set_operations_per_second(nan); }},
      {"infinite", [&](OnThreads& p) { p.mutable_reading(0)->set_bytes_per_second(infinity); }},
      {"a name of control characters",
       [](OnThreads& p) { p.mutable_reading(0)->set_level("a\x1b[2J"); }},
      {"no name", [](OnThreads& p) { p.mutable_arithmetic(0)->set_type(""); }},
      {"a last level of some bytes", [](OnThreads& p) { p.mutable_reading(0)->set_bytes(1); }},
      {"a level below memory of any number", [](OnThreads& p) { *p.add_reading() = p.reading(0); }},
      {"too many",
       [](OnThreads& p) {
         for (int i = 0; i < 99; ++i) *p.add_arithmetic() = p.arithmetic(0);
       }},
  };
  for (const auto& [what, make_wrong] : wrongs) {
    v1::DevicePeaks proto = ToProto(Peaks());
    make_wrong(*proto.mutable_on_threads(1));
    EXPECT_THAT(FromProto(proto), StatusIs(absl::StatusCode::kInvalidArgument)) << what;
  }
}

}  // namespace
}  // namespace slipway
