#include "core/store/quota_blob_store.h"

#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/store/memory_blob_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class QuotaBlobStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    QuotaBlobStore::Options options;
    options.quota_bytes = 100;
    options.pinned = [this] { return pinned_; };
    options.keep_for = absl::Seconds(10);
    options.clock = &clock_;
    auto inner = std::make_unique<MemoryBlobStore>(&clock_);
    inner_ = inner.get();
    store_ = std::make_unique<QuotaBlobStore>(std::move(inner), options);
  }

  // A blob of 40 bytes, put a minute after the one before.
  Digest PutNext(char c) {
    clock_.Advance(absl::Minutes(1));
    return *PutBytes(*store_, std::string(40, c));
  }

  FakeClock clock_;
  absl::flat_hash_set<Digest> pinned_;
  MemoryBlobStore* inner_;
  std::unique_ptr<QuotaBlobStore> store_;
};

TEST_F(QuotaBlobStoreTest, RemovesWhatWasNotUsedForTheLongestTime) {
  const Digest a = PutNext('a');
  const Digest b = PutNext('b');
  clock_.Advance(absl::Minutes(1));
  ASSERT_OK(store_->Get(a));
  const Digest c = PutNext('c');
  EXPECT_TRUE(store_->Has(a));
  EXPECT_FALSE(store_->Has(b));
  EXPECT_TRUE(store_->Has(c));
}

TEST_F(QuotaBlobStoreTest, TellsWhatIsUsed) {
  ASSERT_OK(PutBytes(*inner_, "there before"));
  EXPECT_THAT(store_->UsedBytes(), IsOkAndHolds(12));
  const Digest a = PutNext('a');
  EXPECT_THAT(store_->UsedBytes(), IsOkAndHolds(52));
  const Digest b = Digest::Of("0123456789");
  {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BlobWriter> writer, store_->Write(b));
    ASSERT_OK(writer->Append("0123"));
    EXPECT_THAT(store_->UsedBytes(), IsOkAndHolds(62));
  }
  EXPECT_THAT(store_->UsedBytes(), IsOkAndHolds(56));
  ASSERT_OK(store_->Remove(a));
  EXPECT_THAT(store_->UsedBytes(), IsOkAndHolds(16));
}

TEST_F(QuotaBlobStoreTest, KeepsWhatIsPinned) {
  const Digest a = PutNext('a');
  const Digest b = PutNext('b');
  pinned_ = {a};
  const Digest c = PutNext('c');
  EXPECT_TRUE(store_->Has(a));
  EXPECT_FALSE(store_->Has(b));
  pinned_ = {a, c};
  clock_.Advance(absl::Minutes(1));
  EXPECT_THAT(PutBytes(*store_, std::string(40, 'd')),
              StatusIs(Code::kResourceExhausted, HasSubstr("80 of the quota of 100 bytes")));
  EXPECT_TRUE(store_->Has(a));
  EXPECT_TRUE(store_->Has(c));
}

TEST_F(QuotaBlobStoreTest, KeepsWhatIsRecent) {
  PutNext('a');
  PutNext('b');
  clock_.Advance(absl::Seconds(5));
  ASSERT_OK(store_->Get(Digest::Of(std::string(40, 'a'))));
  EXPECT_THAT(PutBytes(*store_, std::string(90, 'c')), StatusIs(Code::kResourceExhausted));
}

TEST_F(QuotaBlobStoreTest, RefusesWhatCanNeverFit) {
  EXPECT_THAT(PutBytes(*store_, std::string(101, 'a')),
              StatusIs(Code::kResourceExhausted, HasSubstr("over the quota of 100 bytes")));
  EXPECT_THAT(store_->Write(Digest::Of(std::string(101, 'a'))), StatusIs(Code::kResourceExhausted));
}

TEST_F(QuotaBlobStoreTest, ATransferCountsFromItsBeginning) {
  const Digest a = PutNext('a');
  clock_.Advance(absl::Minutes(1));
  const std::string bytes(80, 'w');
  ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(Digest::Of(bytes)));
  EXPECT_FALSE(store_->Has(a));
  const std::string large(30, 'l'), small(20, 's');
  for (const std::string piece : {"", "wwwwwwwwww"}) {
    ASSERT_OK(writer->Append(piece));
    EXPECT_THAT(PutBytes(*store_, large), StatusIs(Code::kResourceExhausted));
    EXPECT_THAT(store_->Write(Digest::Of(large)), StatusIs(Code::kResourceExhausted));
  }
  ASSERT_OK(PutBytes(*store_, small));
  ASSERT_OK(writer->Append(bytes.substr(10)));
  ASSERT_OK(writer->Commit());
  writer.reset();
  EXPECT_TRUE(store_->Has(Digest::Of(bytes)));
  EXPECT_THAT(PutBytes(*store_, "x"), StatusIs(Code::kResourceExhausted));
}

TEST_F(QuotaBlobStoreTest, WhatIsLeftOfATransferCountsUntilThereIsNoRoom) {
  const std::string bytes(80, 'w'), other(60, 'o');
  {
    ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(Digest::Of(bytes)));
    ASSERT_OK(writer->Append(bytes.substr(0, 50)));
  }
  ASSERT_OK(PutBytes(*store_, std::string(40, 'a')));  // What did not come is given back.
  EXPECT_EQ(store_->PartialBytes(Digest::Of(bytes)), 50);
  // Somebody may be about to resume it.
  EXPECT_THAT(PutBytes(*store_, other), StatusIs(Code::kResourceExhausted));
  clock_.Advance(absl::Minutes(2));
  ASSERT_OK(PutBytes(*store_, other));
  EXPECT_EQ(store_->PartialBytes(Digest::Of(bytes)), 0);
}

TEST_F(QuotaBlobStoreTest, ManyBrokenTransfersStayWithinTheQuota) {
  for (int i = 0; i < 50; ++i) {
    clock_.Advance(absl::Minutes(2));
    const std::string bytes = absl::StrCat(std::string(60, 'b'), i);
    ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(Digest::Of(bytes)));
    ASSERT_OK(writer->Append(bytes.substr(0, 59)));
    EXPECT_LE(store_->CountUnfinished()->bytes, 100);
  }
  clock_.Advance(absl::Minutes(2));
  EXPECT_OK(PutBytes(*store_, std::string(100, 'f')));
  EXPECT_EQ(store_->CountUnfinished()->bytes, 0);
}

TEST_F(QuotaBlobStoreTest, WrongBytesAreGivenBack) {
  ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(Digest::Of(std::string(90, 'w'))));
  ASSERT_OK(writer->Append(std::string(90, 'x')));
  EXPECT_THAT(writer->Commit(), StatusIs(Code::kInvalidArgument));
  writer.reset();
  EXPECT_OK(PutBytes(*store_, std::string(100, 'f')));
}

TEST_F(QuotaBlobStoreTest, CountsWhatWasThereAndWhatOthersRemove) {
  ASSERT_OK(PutBytes(*inner_, std::string(90, 'o')));
  clock_.Advance(absl::Minutes(1));
  const Digest a = PutNext('a');
  EXPECT_TRUE(store_->Has(a));
  EXPECT_FALSE(store_->Has(Digest::Of(std::string(90, 'o'))));
  ASSERT_OK(inner_->Remove(a));
  EXPECT_OK(PutBytes(*store_, std::string(100, 'f')));
}

}  // namespace
}  // namespace slipway
