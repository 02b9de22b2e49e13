#include "client/tuning/kernel_times.h"

#include <array>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

constexpr std::array<Side, 4> kOrder = {Side::kA, Side::kB, Side::kB, Side::kA};

StepTime Step(const std::string& name, int64_t ns) {
  return {.name = name, .operators = {}, .duration_ns = ns};
}

TEST(KernelOfStepTest, IsFoundByTheNameOfTheStepOrOfItsLaunches) {
  const KernelOfStep kernel_of({{"k1", "", {}, {"Conv a", "Conv b"}},
                                {"k2", "", {}, {"Conv c", "twice"}},
                                {"k3", "", {}, {"twice", "MatMul 1, 2 of them"}}});
  EXPECT_EQ(*kernel_of.Find("Conv b"), "k1");
  EXPECT_EQ(*kernel_of.Find("Conv c, 2 of 3"), "k2");
  EXPECT_EQ(*kernel_of.Find("MatMul 1, 2 of them"), "k3");
  EXPECT_EQ(kernel_of.Find("twice"), nullptr);
  EXPECT_EQ(kernel_of.Find("Copy x"), nullptr);
  EXPECT_EQ(kernel_of.Find(""), nullptr);
}

TEST(TimesInTurnsTest, TheLeastOfAllBlocksCounts) {
  const KernelOfStep kernel_of({{"k", "", {}, {"one", "two"}}, {"other", "", {}, {"three"}}});
  TimesInTurns times;
  times.AddRound(kOrder,
                 {{Step("one", 60), Step("two", 44), Step("three", 10), Step("Copy", 1)},
                  {Step("one", 50), Step("two", 40), Step("three", 12), Step("Copy", 1)},
                  {Step("one", 55), Step("two", 39), Step("three", 10), Step("Copy", 1)},
                  {Step("one", 61), Step("two", 39), Step("three", 11), Step("Copy", 2)}},
                 kernel_of);
  const KernelTimes k = times.Of("k");
  EXPECT_EQ(k.a_ns, 100);
  EXPECT_EQ(k.b_ns, 90);
  EXPECT_NEAR(k.noise, 4.0 / 90, 1e-9);
  EXPECT_TRUE(k.is_less_in_each_round);
  EXPECT_TRUE(IsBetter(k, 0.02));
  EXPECT_FALSE(IsBetter(k, 0.12));
  EXPECT_FALSE(IsBetter(times.Of("other"), 0.02));
  EXPECT_EQ(times.Of("nothing").a_ns, 0);
  EXPECT_FALSE(IsBetter(times.Of("nothing"), 0.02));
  EXPECT_EQ(times.WholeNs(Side::kA), 60 + 39 + 10 + 1);
  EXPECT_EQ(times.WholeNs(Side::kB), 50 + 39 + 10 + 1);
}

TEST(TimesInTurnsTest, WhatIsWithinTheNoiseIsNotBetter) {
  const KernelOfStep kernel_of({{"k", "", {}, {"k"}}});
  TimesInTurns times;
  // A differs from itself by 20 %.
  times.AddRound(kOrder, {{Step("k", 120)}, {Step("k", 90)}, {Step("k", 90)}, {Step("k", 100)}},
                 kernel_of);
  EXPECT_FALSE(IsBetter(times.Of("k"), 0.02));
}

TEST(TimesInTurnsTest, WhatIsNotLessInEachRoundIsNotBetter) {
  const KernelOfStep kernel_of({{"k", "", {}, {"k"}}});
  TimesInTurns times;
  const std::vector<std::vector<StepTime>> better = {
      {Step("k", 100)}, {Step("k", 90)}, {Step("k", 90)}, {Step("k", 100)}};
  times.AddRound(kOrder, better, kernel_of);
  EXPECT_TRUE(IsBetter(times.Of("k"), 0.02));
  times.AddRound(kOrder, {{Step("k", 100)}, {Step("k", 101)}, {Step("k", 101)}, {Step("k", 100)}},
                 kernel_of);
  EXPECT_FALSE(IsBetter(times.Of("k"), 0.02));
}

}  // namespace
}  // namespace slipway
