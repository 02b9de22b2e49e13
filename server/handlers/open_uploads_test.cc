#include "server/handlers/open_uploads.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"

namespace slipway::server {
namespace {

class FakeUpload final : public OpenUpload {
 public:
  bool LetGo() override {
    if (is_busy) return false;
    is_open = false;
    return true;
  }
  bool is_open = true;
  bool is_busy = false;
};

class OpenUploadsTest : public ::testing::Test {
 protected:
  FakeUpload& Open(const std::string& owner) {
    uploads_.push_back(std::make_unique<FakeUpload>());
    open_.Used(uploads_.back().get(), owner);
    clock_.Advance(absl::Seconds(1));
    return *uploads_.back();
  }

  FakeClock clock_;
  OpenUploads open_{&clock_, {.in_all = 4, .of_owner = 3, .idle = absl::Seconds(10)}};
  std::vector<std::unique_ptr<FakeUpload>> uploads_;
};

TEST_F(OpenUploadsTest, ThoseIdleForTooLongLetGo) {
  FakeUpload& a = Open("ann");
  FakeUpload& b = Open("ann");
  clock_.Advance(absl::Seconds(8));
  open_.CloseIdle();
  EXPECT_TRUE(a.is_open);
  open_.Used(&b, "ann");
  clock_.Advance(absl::Seconds(5));
  open_.CloseIdle();
  EXPECT_FALSE(a.is_open);
  EXPECT_TRUE(b.is_open);
  EXPECT_EQ(open_.size(), 1);
}

TEST_F(OpenUploadsTest, OfTooManyOfAnOwnerTheOldestLetsGo) {
  FakeUpload& other = Open("eve");
  FakeUpload& a = Open("ann");
  FakeUpload& b = Open("ann");
  Open("ann");
  open_.Used(&a, "ann");
  EXPECT_EQ(open_.size(), 4);
  Open("ann");
  EXPECT_FALSE(b.is_open);
  EXPECT_TRUE(a.is_open);
  EXPECT_TRUE(other.is_open);
  EXPECT_EQ(open_.size(), 4);
}

TEST_F(OpenUploadsTest, OfTooManyInAllTheOldestLetsGo) {
  FakeUpload& a = Open("ann");
  for (const char* owner : {"bob", "bob", "eve"}) Open(owner);
  a.is_busy = true;
  Open("joe");
  EXPECT_TRUE(a.is_open);
  EXPECT_FALSE(uploads_[1]->is_open);
  EXPECT_EQ(open_.size(), 4);
}

TEST_F(OpenUploadsTest, WhatIsClosedIsForgotten) {
  FakeUpload& a = Open("ann");
  open_.Closed(&a);
  open_.Closed(&a);
  EXPECT_EQ(open_.size(), 0);
  clock_.Advance(absl::Minutes(1));
  open_.CloseIdle();
  EXPECT_TRUE(a.is_open);
}

}  // namespace
}  // namespace slipway::server
