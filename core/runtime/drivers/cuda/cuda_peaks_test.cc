// What loops of peaks do, counted by having their PTX interpreted; times here are the fake's, a microsecond for each piece of work.
#include "core/runtime/drivers/cuda/cuda_peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/runtime/drivers/cuda/peak_loops.h"
#include "core/runtime/drivers/cuda/testing/test_entries.h"
#include "core/runtime/testing/held_tensor.h"
#include "core/target/machine_peaks.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;

class FakeIsTold {
 public:
  explicit FakeIsTold(const std::string& words) { setenv("SLIPWAY_FAKE_CUDA", words.c_str(), 1); }
  ~FakeIsTold() { unsetenv("SLIPWAY_FAKE_CUDA"); }
};

// How often a text has an instruction.
int CountOf(const std::string& text, const std::string& instruction) {
  int count = 0;
  for (size_t at = text.find(instruction); at != std::string::npos;
       at = text.find(instruction, at + 1)) {
    ++count;
  }
  return count;
}

TEST(CudaSumLoops, DoWhatTheyAreCountedFor) {
  constexpr int kTurns = 3;
  constexpr int kGroups = 2;
  for (const int capability : {61, 75, 80, 90}) {
    const FakeIsTold told(absl::StrCat("capability=", capability));
    const auto device = cuda_testing::Open();
    for (const CudaSumLoop& loop : CudaSumLoops(capability)) {
      SCOPED_TRACE(absl::StrCat(loop.entry, " of ", capability));
      ASSERT_OK_AND_ASSIGN(const auto code,
                           device->LoadCode(cuda_testing::Code({loop.entry}), 1, loop.text));
      ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
      HeldTensor out(*device, {kGroups * loop.instances});
      slipway_dimension turns = {0, kTurns, 1, 0};
      out.buffer.dim = &turns;
      ASSERT_OK_AND_ASSIGN(const auto launch, queues->Prepare(*code, 0, {&out.buffer}, "sums"));
      ASSERT_OK(
          queues->Launch(0, *launch, {.groups = {kGroups, 1, 1}, .group = {loop.instances, 1, 1}}));
      ASSERT_OK(queues->Finish());
      const std::vector<float> sums = out.Read();
      EXPECT_THAT(sums, Each(static_cast<float>(kTurns * loop.sum)));
      // All sums of a group are its products, each of which is 1, and a multiply-add.
      EXPECT_EQ(loop.operations, 2 * loop.sum * loop.instances);
    }
  }
}

TEST(CudaSumLoops, AreOfWhatDevicesMultiply) {
  const auto types = [](int capability) {
    std::vector<std::string> names;
    for (const CudaSumLoop& loop : CudaSumLoops(capability)) names.push_back(loop.type);
    return names;
  };
  EXPECT_THAT(types(70), ElementsAre("f32"));
  EXPECT_THAT(types(75), ElementsAre("f32", "f16"));
  EXPECT_THAT(types(86), ElementsAre("f32", "tf32", "f16", "bf16"));
  EXPECT_THAT(types(90), ElementsAre("f32", "tf32", "f16", "bf16", "tf32", "f16", "bf16"));
  EXPECT_THAT(types(100), ElementsAre("f32", "tf32", "f16", "bf16"));
}

// The sums above are of what is interpreted; this is of the text.
TEST(CudaSumLoops, HaveAsManyInstructionsAsTheyAreCountedFor) {
  const std::vector<CudaSumLoop> loops = CudaSumLoops(90);
  EXPECT_EQ(loops[0].operations, 2 * 256 * CountOf(loops[0].text, "fma.rn.f32"));
  for (size_t i = 1; i < loops.size(); ++i) {
    const int mma = CountOf(loops[i].text, "mma.sync.aligned");
    const int wgmma = CountOf(loops[i].text, "wgmma.mma_async");
    const int depth = loops[i].type == "tf32" ? 8 : 16;
    EXPECT_EQ(loops[i].operations, int64_t{2} * depth * (16 * 8 * 8 * mma + 64 * 256 * 2 * wgmma));
  }
}

TEST(CudaReading, ReadsAllOfItInEachRound) {
  constexpr int kRounds = 3;
  constexpr int kGroups = 2;
  constexpr int kParts = 2;
  const auto device = cuda_testing::Open();
  const CudaReadLoop loop = CudaReading(80);
  ASSERT_OK_AND_ASSIGN(const auto code,
                       device->LoadCode(cuda_testing::Code({loop.entry}), 1, loop.text));
  ASSERT_OK_AND_ASSIGN(const auto queues, device->NewQueues({}));
  const int32_t vectors = kParts * kGroups * loop.instances * kReadAtATime;
  HeldTensor data(*device, {vectors * kReadVectorBytes / 4});
  std::vector<uint32_t> words(static_cast<size_t>(vectors) * 4);
  std::iota(words.begin(), words.end(), 7);
  std::vector<float> bits(words.size());
  memcpy(bits.data(), words.data(), 4 * words.size());
  data.Write(bits);
  HeldTensor out(*device, {kGroups * loop.instances});
  slipway_dimension numbers[] = {{0, vectors, 1, 0}, {0, kRounds, 1, 0}};
  data.buffer.dimensions = 2;
  data.buffer.dim = numbers;
  out.buffer.dimensions = 0;
  ASSERT_OK_AND_ASSIGN(const auto launch,
                       queues->Prepare(*code, 0, {&data.buffer, &out.buffer}, "reading"));
  ASSERT_OK(
      queues->Launch(0, *launch, {.groups = {kGroups, 1, 1}, .group = {loop.instances, 1, 1}}));
  ASSERT_OK(queues->Finish());
  uint32_t read = 0;
  for (const float sum : out.Read()) {
    uint32_t word = 0;
    memcpy(&word, &sum, sizeof(word));
    read += word;
  }
  EXPECT_EQ(read, kRounds * std::accumulate(words.begin(), words.end(), uint32_t{0}));
}

TEST(MeasureCudaPeaks, TellsAllThatADeviceDoes) {
  ASSERT_OK_AND_ASSIGN(const AcceleratorPeaks peaks, MeasureCudaPeaks(1, SystemClock()));
  EXPECT_EQ(peaks.name, "Fake GPU");
  std::vector<std::string> types;
  for (const ArithmeticPeak& peak : peaks.arithmetic) {
    types.push_back(peak.type);
    EXPECT_GT(peak.operations_per_second, 0);
  }
  EXPECT_THAT(types, ElementsAre("f32", "tf32", "f16", "bf16"));
  ASSERT_EQ(peaks.reading.size(), 2u);
  EXPECT_EQ(peaks.reading[0].level, "L2");
  EXPECT_EQ(peaks.reading[0].bytes, 64 << 10);
  EXPECT_EQ(peaks.reading[1].level, "memory");
  EXPECT_EQ(peaks.reading[1].bytes, 0);
  EXPECT_THAT(
      (std::vector<double>{peaks.reading[0].bytes_per_second, peaks.reading[1].bytes_per_second,
                           peaks.from_host_bytes_per_second, peaks.to_host_bytes_per_second}),
      Each(Gt(0)));
}

// Rates are work by the driver's events: a launch takes a microsecond here, however much it does.
TEST(MeasureCudaPeaks, CountsWorkOfAllMultiprocessors) {
  const FakeIsTold told("kernels=0 multiprocessors=3 l2=0");
  ASSERT_OK_AND_ASSIGN(const AcceleratorPeaks peaks, MeasureCudaPeaks(0, SystemClock()));
  ASSERT_EQ(peaks.reading.size(), 1u);
  EXPECT_EQ(peaks.reading[0].level, "memory");
  const double turns = peaks.arithmetic[0].operations_per_second / 1e6 / (3 * 4 * 2 * 256 * 128.0);
  EXPECT_GE(turns, 1);
  EXPECT_EQ(turns, static_cast<int64_t>(turns));
}

TEST(MeasureCudaPeaks, LeavesOutWhatADriverIsTooOldFor) {
  // It knows no tensor cores of warp groups.
  const FakeIsTold told("capability=90 ptx=7.4 kernels=0");
  ASSERT_OK_AND_ASSIGN(const AcceleratorPeaks peaks, MeasureCudaPeaks(0, SystemClock()));
  EXPECT_EQ(peaks.arithmetic.size(), 4u);
}

TEST(MeasureCudaPeaks, SaysWhatWentWrong) {
  EXPECT_THAT(MeasureCudaPeaks(2, SystemClock()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("2 devices")));
  {
    const FakeIsTold told("memory=1000");
    EXPECT_THAT(MeasureCudaPeaks(0, SystemClock()), StatusIs(absl::StatusCode::kResourceExhausted));
  }
  const FakeIsTold told("cuLaunchKernel=719");
  EXPECT_THAT(MeasureCudaPeaks(0, SystemClock()),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("a peak")));
}

}  // namespace
}  // namespace slipway
