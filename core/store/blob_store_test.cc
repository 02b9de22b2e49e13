// What every blob store does, whatever it keeps its bytes in.
#include "core/store/blob_store.h"

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/files.h"
#include "core/store/file_blob_store.h"
#include "core/store/memory_blob_store.h"
#include "core/store/quota_blob_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Code = absl::StatusCode;

std::unique_ptr<BlobStore> MakeFileStore(const std::string& folder, bool durable,
                                         const Clock* clock) {
  FileBlobStore::Options options;
  options.folder = folder;
  options.durable = durable;
  options.clock = clock;
  return *FileBlobStore::Create(options);
}

struct Kind {
  const char* name;
  std::function<std::unique_ptr<BlobStore>(const std::string& folder, const Clock* clock)> make;
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.name; }

const Kind kKinds[] = {
    {"File", [](const std::string& folder,
                const Clock* clock) { return MakeFileStore(folder, false, clock); }},
    {"DurableFile", [](const std::string& folder,
                       const Clock* clock) { return MakeFileStore(folder, true, clock); }},
    {"Memory", [](const std::string&,
                  const Clock* clock) { return std::make_unique<MemoryBlobStore>(clock); }},
    {"Quota",
     [](const std::string& folder, const Clock* clock) {
       QuotaBlobStore::Options options;
       options.quota_bytes = 1 << 20;
       options.clock = clock;
       return std::make_unique<QuotaBlobStore>(MakeFileStore(folder, false, clock), options);
     }},
};

class BlobStoreTest : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("store");
    store_ = GetParam().make(JoinPath(folder_.path(), "s"), &clock_);
  }
  BlobStore& store() { return *store_; }

  TemporaryFolder folder_;
  FakeClock clock_;
  std::unique_ptr<BlobStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, BlobStoreTest, ::testing::ValuesIn(kKinds),
                         [](const ::testing::TestParamInfo<Kind>& info) {
                           return info.param.name;
                         });

const std::string kBytes = "the bytes of a blob";

TEST_P(BlobStoreTest, GivesBackWhatWasPut) {
  const Digest digest = Digest::Of(kBytes);
  EXPECT_FALSE(store().Has(digest));
  EXPECT_THAT(store().Get(digest), StatusIs(Code::kNotFound, HasSubstr(digest.hex())));
  EXPECT_THAT(PutBytes(store(), kBytes), IsOkAndHolds(digest));
  EXPECT_TRUE(store().Has(digest));
  ASSERT_OK_AND_ASSIGN(const Blob blob, store().Get(digest));
  EXPECT_EQ(blob.bytes(), kBytes);
  EXPECT_OK(store().Put(digest, kBytes));
}

TEST_P(BlobStoreTest, VerifiesAndReadsInPieces) {
  const Digest digest = Digest::Of(kBytes);
  EXPECT_THAT(store().Verify(digest), StatusIs(Code::kNotFound));
  EXPECT_THAT(store().Open(digest), StatusIs(Code::kNotFound));
  EXPECT_THAT(store().FindUnsound({digest, digest}), IsOkAndHolds(ElementsAre(digest)));
  ASSERT_OK(store().Put(digest, kBytes));
  EXPECT_OK(store().Verify(digest));
  EXPECT_THAT(store().FindUnsound({digest}), IsOkAndHolds(IsEmpty()));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<BlobReader> reader, store().Open(digest));
  ASSERT_OK(store().Remove(digest));
  EXPECT_THAT(reader->Read(4, 5), IsOkAndHolds("bytes"));
  EXPECT_THAT(reader->Read(0, static_cast<int64_t>(kBytes.size())), IsOkAndHolds(kBytes));
  EXPECT_THAT(reader->Read(static_cast<int64_t>(kBytes.size()), 0), IsOkAndHolds(""));
}

TEST_P(BlobStoreTest, KeepsEmptyBlobs) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(store(), ""));
  ASSERT_OK_AND_ASSIGN(const Blob blob, store().Get(digest));
  EXPECT_EQ(blob.bytes(), "");
}

TEST_P(BlobStoreTest, RefusesBytesOfAnotherDigest) {
  EXPECT_THAT(store().Put(Digest::Of("other"), kBytes), StatusIs(Code::kInvalidArgument));
  EXPECT_FALSE(store().Has(Digest::Of("other")));
  EXPECT_FALSE(store().Has(Digest()));
  EXPECT_FALSE(store().Get(Digest()).ok());
  EXPECT_FALSE(store().Write(Digest()).ok());
  EXPECT_OK(store().Remove(Digest()));
}

TEST_P(BlobStoreTest, TheSameHashWithAnotherSizeIsAnotherBlob) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(store(), kBytes));
  ASSERT_OK_AND_ASSIGN(const Digest lie, Digest::FromHex(digest.hex(), 1));
  EXPECT_FALSE(store().Has(lie));
  EXPECT_FALSE(store().Get(lie).ok());
}

TEST_P(BlobStoreTest, PutsFiles) {
  const std::string path = JoinPath(folder_.path(), "file");
  ASSERT_OK(WriteFileAtomically(path, kBytes, false));
  EXPECT_THAT(store().PutFile(path), IsOkAndHolds(Digest::Of(kBytes)));
  EXPECT_TRUE(store().Has(Digest::Of(kBytes)));
  EXPECT_THAT(store().PutFile(path + "x"), StatusIs(Code::kNotFound));
}

TEST_P(BlobStoreTest, FindsWhatIsMissing) {
  ASSERT_OK_AND_ASSIGN(const Digest a, PutBytes(store(), "a"));
  const Digest b = Digest::Of("b");
  const Digest c = Digest::Of("c");
  EXPECT_THAT(store().FindMissing({c, a, b, c}), ElementsAre(c, b));
}

TEST_P(BlobStoreTest, WritesInPieces) {
  const Digest digest = Digest::Of(kBytes);
  ASSERT_OK_AND_ASSIGN(auto writer, store().Write(digest));
  EXPECT_EQ(writer->committed_bytes(), 0);
  ASSERT_OK(writer->Append(kBytes.substr(0, 5)));
  EXPECT_EQ(writer->committed_bytes(), 5);
  EXPECT_FALSE(store().Has(digest));
  ASSERT_OK(writer->Append(kBytes.substr(5)));
  ASSERT_OK(writer->Commit());
  EXPECT_TRUE(store().Has(digest));
  EXPECT_THAT(store().Write(digest), StatusIs(Code::kAlreadyExists));
}

TEST_P(BlobStoreTest, ResumesABrokenWrite) {
  const Digest digest = Digest::Of(kBytes);
  EXPECT_EQ(store().PartialBytes(digest), 0);
  {
    ASSERT_OK_AND_ASSIGN(auto writer, store().Write(digest));
    ASSERT_OK(writer->Append(kBytes.substr(0, 7)));
  }
  EXPECT_EQ(store().PartialBytes(digest), 7);
  EXPECT_FALSE(store().Has(digest));
  ASSERT_OK_AND_ASSIGN(auto writer, store().Write(digest));
  EXPECT_EQ(writer->committed_bytes(), 7);
  ASSERT_OK(writer->Append(kBytes.substr(7)));
  ASSERT_OK(writer->Commit());
  writer.reset();
  EXPECT_EQ(store().PartialBytes(digest), 0);
  ASSERT_OK_AND_ASSIGN(const Blob blob, store().Get(digest));
  EXPECT_EQ(blob.bytes(), kBytes);
}

TEST_P(BlobStoreTest, DropsWritesOfWrongBytes) {
  const Digest digest = Digest::Of(kBytes);
  ASSERT_OK_AND_ASSIGN(auto writer, store().Write(digest));
  ASSERT_OK(writer->Append(std::string(kBytes.size(), 'x')));
  EXPECT_THAT(writer->Append("x"), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(writer->Commit(), StatusIs(Code::kInvalidArgument));
  writer.reset();
  EXPECT_FALSE(store().Has(digest));
  EXPECT_EQ(store().PartialBytes(digest), 0);
}

TEST_P(BlobStoreTest, AnEarlyCommitIsRefused) {
  ASSERT_OK_AND_ASSIGN(auto writer, store().Write(Digest::Of(kBytes)));
  ASSERT_OK(writer->Append(kBytes.substr(0, 3)));
  EXPECT_THAT(writer->Commit(), StatusIs(Code::kInvalidArgument));
  EXPECT_FALSE(store().Has(Digest::Of(kBytes)));
}

TEST_P(BlobStoreTest, TwoWritersOfOneBlobBothSucceed) {
  const Digest digest = Digest::Of(kBytes);
  ASSERT_OK_AND_ASSIGN(auto first, store().Write(digest));
  ASSERT_OK(first->Append(kBytes.substr(0, 4)));
  ASSERT_OK_AND_ASSIGN(auto second, store().Write(digest));
  EXPECT_EQ(second->committed_bytes(), 0);
  ASSERT_OK(second->Append(kBytes));
  ASSERT_OK(second->Commit());
  ASSERT_OK(first->Append(kBytes.substr(4)));
  ASSERT_OK(first->Commit());
  ASSERT_OK_AND_ASSIGN(const Blob blob, store().Get(digest));
  EXPECT_EQ(blob.bytes(), kBytes);
}

TEST_P(BlobStoreTest, WhatWasHandedOutOutlivesItsRemoval) {
  ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(store(), kBytes));
  ASSERT_OK_AND_ASSIGN(const Blob blob, store().Get(digest));
  ASSERT_OK(store().Remove(digest));
  EXPECT_FALSE(store().Has(digest));
  EXPECT_EQ(blob.bytes(), kBytes);
  EXPECT_OK(store().Remove(digest));
  ASSERT_OK(store().Put(digest, kBytes));
  EXPECT_TRUE(store().Has(digest));
}

TEST_P(BlobStoreTest, ListsWithTheTimeOfLastUse) {
  EXPECT_THAT(store().List(), IsOkAndHolds(IsEmpty()));
  const absl::Time start = clock_.Now();
  ASSERT_OK_AND_ASSIGN(const Digest a, PutBytes(store(), "a"));
  clock_.Advance(absl::Minutes(5));
  ASSERT_OK_AND_ASSIGN(auto blobs, store().List());
  ASSERT_EQ(blobs.size(), 1u);
  EXPECT_EQ(blobs[0].digest, a);
  EXPECT_EQ(blobs[0].last_use, start);
  ASSERT_OK(store().Get(a));
  ASSERT_OK_AND_ASSIGN(blobs, store().List());
  EXPECT_EQ(blobs[0].last_use, start + absl::Minutes(5));
}

TEST_P(BlobStoreTest, ManyThreadsPutAndGet) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) {
        const std::string bytes = "blob " + std::to_string(i);
        ASSERT_OK_AND_ASSIGN(const Digest digest, PutBytes(store(), bytes));
        ASSERT_OK_AND_ASSIGN(const Blob blob, store().Get(digest));
        EXPECT_EQ(blob.bytes(), bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK_AND_ASSIGN(const auto blobs, store().List());
  EXPECT_EQ(blobs.size(), 50u);
}

}  // namespace
}  // namespace slipway
