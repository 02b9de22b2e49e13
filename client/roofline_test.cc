#include "client/roofline.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = kKiB * 1024;

// A thread does an operation a nanosecond, and reads 4 bytes of L1 in it, 2 of L2, 1 of memory.
std::vector<MachinePeaks> Peaks() {
  return {
      {1, {{"f32", 1e9}}, {{"L1", 32 * kKiB, 4e9}, {"L2", kMiB, 2e9}, {"memory", 0, 1e9}}},
      {4, {{"f32", 4e9}}, {{"L1", 128 * kKiB, 16e9}, {"L2", 4 * kMiB, 8e9}, {"memory", 0, 1e9}}}};
}

StepTime Step(int64_t ns, const StepWork& work) {
  return {.name = "s", .duration_ns = ns, .work = work};
}

TEST(RooflineTest, TheLongerOfOperationsAndBytesIsTheLimit) {
  const std::vector<StepTime> steps = {Step(4000, {.flops = 2000, .bytes = 4000}),
                                       Step(4000, {.flops = 900, .bytes = 4000})};
  const Roofline roofline = FindLimits(steps, Peaks(), 1);
  ASSERT_EQ(roofline.steps.size(), 2u);
  EXPECT_EQ(roofline.steps[0]->what, "f32");
  EXPECT_DOUBLE_EQ(roofline.steps[0]->ns, 2000);
  EXPECT_EQ(roofline.steps[1]->what, "L1");
  EXPECT_DOUBLE_EQ(roofline.steps[1]->ns, 1000);
  EXPECT_DOUBLE_EQ(roofline.limit_ns, 3000);
  EXPECT_DOUBLE_EQ(roofline.measured_ns, 8000);
}

TEST(RooflineTest, ProductsAreHeldAgainstThePeakOfTheirType) {
  std::vector<MachinePeaks> peaks = Peaks();
  peaks[0].arithmetic.push_back({"bf16", 2e9});
  const auto limit = [&](DataType type) {
    return *FindLimits({Step(4000, {.flops = 2000, .product_type = type})}, peaks, 1).steps[0];
  };
  EXPECT_EQ(limit(DataType::kBfloat16).what, "bf16");
  EXPECT_DOUBLE_EQ(limit(DataType::kBfloat16).ns, 1000);
  // Not measured; of no peak of its own; of a number that nobody here knows.
  for (const DataType type : {DataType::kUint8, DataType::kInt16, static_cast<DataType>(77)}) {
    EXPECT_EQ(limit(type).what, "f32");
    EXPECT_DOUBLE_EQ(limit(type).ns, 2000);
  }
}

TEST(RooflineTest, DataLiesWhereItFits) {
  for (const auto& [bytes, level] : std::vector<std::pair<int64_t, std::string>>{
           {32 * kKiB, "L1"}, {32 * kKiB + 1, "L2"}, {kMiB, "L2"}, {kMiB + 1, "memory"}}) {
    const Roofline roofline = FindLimits({Step(1, {.bytes = bytes})}, Peaks(), 1);
    EXPECT_EQ(roofline.steps[0]->what, level) << bytes;
  }
}

// They were driven out by those of the other steps.
TEST(RooflineTest, ConstantsLieWhereThoseOfAllStepsFit) {
  const StepTime step = Step(1, {.bytes = 24 * kKiB, .constant_bytes = 16 * kKiB});
  const Roofline alone = FindLimits({step}, Peaks(), 1);
  EXPECT_EQ(alone.steps[0]->what, "L1");
  EXPECT_DOUBLE_EQ(alone.steps[0]->ns, 24 * kKiB / 4.0);
  const Roofline with_others =
      FindLimits({step, Step(1, {.bytes = 2 * kMiB, .constant_bytes = 2 * kMiB})}, Peaks(), 1);
  EXPECT_EQ(with_others.steps[0]->what, "memory");
  EXPECT_DOUBLE_EQ(with_others.steps[0]->ns, 8 * kKiB / 4.0 + 16 * kKiB);
}

TEST(RooflineTest, StepsOfUnknownWorkCountNowhere) {
  const std::vector<StepTime> steps = {Step(4000, {.flops = 2000}),
                                       {.name = "loop", .duration_ns = 7}};
  const Roofline roofline = FindLimits(steps, Peaks(), 1);
  EXPECT_FALSE(roofline.steps[1].has_value());
  EXPECT_DOUBLE_EQ(roofline.measured_ns, 4000);
}

TEST(RooflineTest, ADeviceThatDoesNotTellHasNoLimits) {
  const std::vector<StepTime> steps = {Step(4000, {.flops = 2000})};
  for (const Roofline& roofline : {FindLimits(steps, {}, 1), FindLimits(steps, Peaks(), 0)}) {
    ASSERT_EQ(roofline.steps.size(), 1u);
    EXPECT_FALSE(roofline.steps[0].has_value());
    EXPECT_EQ(roofline.limit_ns, 0);
  }
}

// It does 10 operations a nanosecond, 100 in f16, and reads 8 bytes of L2 in one, 4 of memory; 2 come from the host, one goes there.
std::vector<AcceleratorPeaks> Gpus() {
  return {
      {"GPU", {{"f32", 1e10}, {"f16", 1e11}}, {{"L2", kMiB, 8e9}, {"memory", 0, 4e9}}, 2e9, 1e9}};
}

StepTime GpuStep(int64_t ns, const StepWork& work, CopiedBetween copied = CopiedBetween::kNone) {
  StepTime step = Step(ns, work);
  step.device = 1;
  step.copied = copied;
  return step;
}

TEST(RooflineTest, StepsOfAnAcceleratorAreHeldAgainstItsPeaks) {
  const StepWork product = {.flops = 2'000'000, .product_type = DataType::kFloat32};
  StepWork narrow = product;
  narrow.product_precision = Precision::kFloat16;
  StepWork unmeasured = product;
  unmeasured.product_precision = Precision::kTensorFloat32;
  const std::vector<StepTime> steps = {
      Step(4'000'000, product),
      GpuStep(300'000, product),
      GpuStep(40'000, narrow),
      GpuStep(400'000, unmeasured),
      GpuStep(1'000, {.bytes = 4'000}),
      GpuStep(1'000, {.bytes = 2 * kMiB}),
      GpuStep(10'000, {.bytes = 8'000}, CopiedBetween::kFromHost),
      GpuStep(10'000, {.bytes = 8'000}, CopiedBetween::kToHost),
  };
  const Roofline roofline = FindLimits(steps, Peaks(), 1, Gpus());
  const std::vector<std::pair<double, std::string>> wanted = {
      {2e6, "f32"}, {2e5, "f32"},           {2e4, "f16"},        {2e5, "f32"},
      {500, "L2"},  {kMiB / 2.0, "memory"}, {2000, "from host"}, {4000, "to host"}};
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_TRUE(roofline.steps[i].has_value()) << i;
    EXPECT_DOUBLE_EQ(roofline.steps[i]->ns, wanted[i].first) << i;
    EXPECT_EQ(roofline.steps[i]->what, wanted[i].second) << i;
  }
  EXPECT_DOUBLE_EQ(roofline.measured_ns, 4'762'000);
}

// What lies in the host's memory drives nothing out of an accelerator's.
TEST(RooflineTest, ConstantsOfAnAcceleratorLieBesideItsOwn) {
  const std::vector<StepTime> steps = {
      Step(1, {.bytes = 64 * kMiB, .constant_bytes = 64 * kMiB}),
      GpuStep(1, {.bytes = 24 * kKiB, .constant_bytes = 16 * kKiB})};
  EXPECT_EQ(FindLimits(steps, Peaks(), 1, Gpus()).steps[1]->what, "L2");
}

TEST(RooflineTest, AnAcceleratorThatDoesNotTellHasNoLimits) {
  const std::vector<StepTime> steps = {Step(4000, {.flops = 2000}), GpuStep(7, {.flops = 2000})};
  const Roofline roofline = FindLimits(steps, Peaks(), 1);
  EXPECT_TRUE(roofline.steps[0].has_value());
  EXPECT_FALSE(roofline.steps[1].has_value());
  EXPECT_DOUBLE_EQ(roofline.measured_ns, 4000);
}

TEST(RooflineTest, PeaksBetweenMeasuredThreadsAreInProportion) {
  EXPECT_EQ(PeaksOn(Peaks(), 1), Peaks()[0]);
  EXPECT_EQ(PeaksOn(Peaks(), 4), Peaks()[1]);
  EXPECT_EQ(PeaksOn(Peaks(), 9), Peaks()[1]);
  const MachinePeaks two = PeaksOn(Peaks(), 2);
  EXPECT_EQ(two.threads, 2);
  EXPECT_DOUBLE_EQ(two.arithmetic[0].operations_per_second, 2e9);
  EXPECT_EQ(two.reading[0].bytes, 64 * kKiB);
  EXPECT_DOUBLE_EQ(two.reading[1].bytes_per_second, 4e9);
  EXPECT_EQ(two.reading[2].bytes, 0);
  EXPECT_EQ(PeaksOn({Peaks()[1]}, 2), Peaks()[1]);
}

}  // namespace
}  // namespace slipway
