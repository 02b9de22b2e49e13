#include "server/scheduler/selector_index.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::shared_ptr<const DeviceAttributes> Of(const std::string& arch, int64_t cores) {
  DeviceAttributes attributes;
  attributes.texts[DeviceAttribute::kArch] = {arch};
  attributes.numbers[DeviceAttribute::kCores] = cores;
  return std::make_shared<const DeviceAttributes>(attributes);
}

class SelectorIndexTest : public ::testing::Test {
 protected:
  void Use(const std::string& text) { index_.Use(text, *Selector::Parse(text)); }

  SelectorIndex index_;
  const std::shared_ptr<const DeviceAttributes> arm_ = Of("arm-64", 4);
  const std::shared_ptr<const DeviceAttributes> x86_ = Of("x86-64", 8);
};

TEST_F(SelectorIndexTest, ADeviceMatchesSomeOfThem) {
  EXPECT_THAT(index_.Matching("a", arm_), IsEmpty());
  Use("arch=arm-64");
  Use("cores>=8");
  Use("cores>=1");
  EXPECT_THAT(index_.Matching("a", arm_), ElementsAre("arch=arm-64", "cores>=1"));
  EXPECT_THAT(index_.Matching("x", x86_), ElementsAre("cores>=8", "cores>=1"));
  EXPECT_THAT(index_.Matching("unknown", nullptr), IsEmpty());
}

TEST_F(SelectorIndexTest, EachPairIsLookedAtOnce) {
  Use("arch=arm-64");
  Use("cores>=8");
  for (int i = 0; i < 10; ++i) {
    index_.Matching("a", arm_);
    index_.Matching("x", x86_);
  }
  EXPECT_EQ(index_.matched(), 4);
  // Jobs come and go with the same.
  for (int i = 0; i < 10; ++i) {
    index_.Leave("cores>=8");
    EXPECT_THAT(index_.Matching("x", x86_), IsEmpty());
    Use("cores>=8");
    EXPECT_THAT(index_.Matching("x", x86_), ElementsAre("cores>=8"));
  }
  EXPECT_EQ(index_.matched(), 4);
  Use("cores=8");
  EXPECT_THAT(index_.Matching("x", x86_), ElementsAre("cores>=8", "cores=8"));
  EXPECT_EQ(index_.matched(), 5);
}

TEST_F(SelectorIndexTest, ADeviceThatIsDescribedAnewIsLookedAtAnew) {
  Use("cores>=8");
  EXPECT_THAT(index_.Matching("a", arm_), IsEmpty());
  EXPECT_THAT(index_.Matching("a", Of("arm-64", 16)), ElementsAre("cores>=8"));
  EXPECT_THAT(index_.Matching("a", Of("arm-64", 2)), IsEmpty());
}

TEST_F(SelectorIndexTest, ThoseThatNobodyWaitsWithAreForgottenInTheEnd) {
  for (size_t i = 0; i <= SelectorIndex::kMaxIdle; ++i) {
    Use(absl::StrCat("cores>=", i));
    index_.Leave(absl::StrCat("cores>=", i));
  }
  EXPECT_THAT(index_.Matching("a", arm_), IsEmpty());
  const int64_t before = index_.matched();
  EXPECT_EQ(before, static_cast<int64_t>(SelectorIndex::kMaxIdle));  // All but the oldest.
  Use("cores>=1");
  EXPECT_THAT(index_.Matching("a", arm_), ElementsAre("cores>=1"));
  EXPECT_EQ(index_.matched(), before);
  Use("cores>=0");
  EXPECT_THAT(index_.Matching("a", arm_), ElementsAre("cores>=1", "cores>=0"));
  EXPECT_EQ(index_.matched(), before + 1);
}

}  // namespace
}  // namespace slipway::server
