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

std::vector<AcceleratorPeaks> Accelerators() {
  return {{"NVIDIA H100",
           {{"f32", 6e13}, {"f16", 9e14}},
           {{"L2", 50 << 20, 6e12}, {"memory", 0, 3e12}},
           5e10,
           4e10},
          {"another", {{"f32", 1e12}}, {{"memory", 0, 1e11}}, 1e10, 1e10}};
}

TEST(PeaksProtoTest, AcceleratorsComeBackAsTheyWere) {
  const v1::DevicePeaks proto = ToProto(Peaks(), Accelerators());
  ASSERT_OK_AND_ASSIGN(const std::vector<AcceleratorPeaks> back, AcceleratorsFromProto(proto));
  EXPECT_EQ(back, Accelerators());
  ASSERT_OK_AND_ASSIGN(const std::vector<MachinePeaks> threads, FromProto(proto));
  EXPECT_EQ(threads, Peaks());
  EXPECT_THAT(*AcceleratorsFromProto(ToProto(Peaks())), IsEmpty());
}

TEST(PeaksProtoTest, AcceleratorsThatCannotBeAreRefused) {
  using Accelerator = v1::DevicePeaks::Accelerator;
  const std::vector<std::pair<const char*, std::function<void(Accelerator&)>>> wrongs = {
      {"no arithmetic", [](Accelerator& p) { p.clear_arithmetic(); }},
      {"no reading", [](Accelerator& p) { p.clear_reading(); }},
      {"nothing comes", [](Accelerator& p) { p.clear_from_host_bytes_per_second(); }},
      {"nothing goes", [](Accelerator& p) { p.set_to_host_bytes_per_second(-1); }},
      {"a level", [](Accelerator& p) { p.mutable_reading(0)->set_level("a b"); }},
      {"a long name", [](Accelerator& p) { p.set_name(std::string(256, 'x')); }},
  };
  for (const auto& [what, make_wrong] : wrongs) {
    v1::DevicePeaks proto = ToProto(Peaks(), Accelerators());
    make_wrong(*proto.mutable_accelerators(1));
    EXPECT_THAT(AcceleratorsFromProto(proto), StatusIs(absl::StatusCode::kInvalidArgument)) << what;
  }
  v1::DevicePeaks many = ToProto(Peaks(), Accelerators());
  for (int i = 0; i < 99; ++i) *many.add_accelerators() = many.accelerators(0);
  EXPECT_THAT(AcceleratorsFromProto(many), StatusIs(absl::StatusCode::kInvalidArgument));
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
