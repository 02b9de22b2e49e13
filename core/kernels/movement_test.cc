#include "core/kernels/movement.h"

#include <cstdint>
#include <string>
#include <vector>

#include "core/kernels/broadcast.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::kernels {
namespace {

using ::testing::ElementsAre;

std::string Copied(absl::Span<const int64_t> shape, const std::string& source,
                   absl::Span<const int64_t> from, absl::Span<const int64_t> to, int64_t count) {
  std::string destination(count, '.');
  StridedCopy(1, shape, source.data(), from, destination.data(), to);
  return destination;
}

TEST(MovementKernelTest, CopiesThroughStrides) {
  EXPECT_EQ(Copied({2, 3}, "abcdef", {3, 1}, {3, 1}, 6), "abcdef");
  EXPECT_EQ(Copied({3, 2}, "abcdef", {1, 3}, {2, 1}, 6), "adbecf");  // Transposed.
  EXPECT_EQ(Copied({2, 3}, "abc", {0, 1}, {3, 1}, 6), "abcabc");     // Repeated.
  EXPECT_EQ(Copied({2, 2}, "abcd", {2, 1}, {3, 1}, 6), "ab.cd.");    // Into something wider.
  EXPECT_EQ(Copied({1, 3}, "abc", {99, 1}, {77, 1}, 3), "abc");
  EXPECT_EQ(Copied({0, 3}, "", {3, 1}, {3, 1}, 2), "..");
  EXPECT_EQ(Copied({}, "a", {}, {}, 1), "a");
  std::string reversed(3, '.');
  const std::string source = "abc";
  StridedCopy(1, {3}, source.data() + 2, {-1}, reversed.data(), {1});
  EXPECT_EQ(reversed, "cba");
}

std::string Padded(PadMode mode, const std::string& source, int64_t begin, int64_t count) {
  std::string destination(count, '.');
  Pad(1, mode, {static_cast<int64_t>(source.size())}, {begin}, {count}, source.data(), "-",
      destination.data());
  return destination;
}

TEST(MovementKernelTest, Pads) {
  EXPECT_EQ(Padded(PadMode::kConstant, "abc", 2, 7), "--abc--");
  EXPECT_EQ(Padded(PadMode::kEdge, "abc", 2, 7), "aaabccc");
  EXPECT_EQ(Padded(PadMode::kReflect, "abc", 2, 7), "cbabcba");
  EXPECT_EQ(Padded(PadMode::kConstant, "abc", -1, 3), "bc-");
}

TEST(BroadcastTest, StridesAreZeroWhereRepeated) {
  EXPECT_THAT(BroadcastStrides({3, 1, 2}, {4, 3, 5, 2}), ElementsAre(0, 2, 0, 1));
  EXPECT_THAT(BroadcastStrides({}, {2, 2}), ElementsAre(0, 0));
}

TEST(BroadcastTest, WalksRowByRow) {
  std::vector<std::vector<int64_t>> seen;
  Walk(std::vector<int64_t>{2, 2}, std::vector<int64_t>{0, 1}, std::vector<int64_t>{1, 2},
       [&](int64_t i, int64_t a, int64_t b) {
         seen.push_back({i, a, b});
       });
  EXPECT_THAT(seen, ElementsAre(ElementsAre(0, 0, 0), ElementsAre(1, 1, 2), ElementsAre(2, 0, 1),
                                ElementsAre(3, 1, 3)));
}

}  // namespace
}  // namespace slipway::kernels
