#include "core/store/compile_cache.h"

#include <memory>
#include <string>

#include "core/base/files.h"
#include "core/store/file_names.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using Code = absl::StatusCode;

const std::string kKey(64, 'a');

class FileCompileCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = *TemporaryFolder::Create("cache");
    cache_ = *FileCompileCache::Create(folder_.path(), &clock_);
  }
  TemporaryFolder folder_;
  FakeClock clock_;
  std::unique_ptr<FileCompileCache> cache_;
};

TEST_F(FileCompileCacheTest, FindsWhatWasRecorded) {
  EXPECT_THAT(cache_->Find(kKey), StatusIs(Code::kNotFound));
  const Digest manifest = Digest::Of("manifest");
  const std::string report("binary\0report\n", 14);
  ASSERT_OK(cache_->Record(kKey, {manifest, report}));
  ASSERT_OK_AND_ASSIGN(const auto other, FileCompileCache::Create(folder_.path()));
  ASSERT_OK_AND_ASSIGN(const CachedCompilation found, other->Find(kKey));
  EXPECT_EQ(found.manifest, manifest);
  EXPECT_EQ(found.report, report);
  ASSERT_OK(cache_->Record(kKey, {Digest::Of("new"), ""}));
  ASSERT_OK_AND_ASSIGN(const CachedCompilation replaced, cache_->Find(kKey));
  EXPECT_EQ(replaced.manifest, Digest::Of("new"));
  EXPECT_EQ(replaced.report, "");
  ASSERT_OK(cache_->Remove(kKey));
  EXPECT_THAT(cache_->Find(kKey), StatusIs(Code::kNotFound));
}

TEST_F(FileCompileCacheTest, KeepsAStatementWithIt) {
  const std::string statement("of\nwhom\0", 8);
  for (const std::string& report : {"", "report"}) {
    ASSERT_OK(cache_->Record(kKey, {Digest::Of("manifest"), report, statement}));
    ASSERT_OK_AND_ASSIGN(const CachedCompilation found, cache_->Find(kKey));
    EXPECT_EQ(found.manifest, Digest::Of("manifest"));
    EXPECT_EQ(found.report, report);
    EXPECT_EQ(found.statement, statement);
  }
  const std::string too_large(kMaxCachedStatementBytes + 1, 'x');
  EXPECT_THAT(cache_->Record(kKey, {Digest::Of("manifest"), "", too_large}),
              StatusIs(Code::kInvalidArgument));
  // As versions from before statements read it.
  ASSERT_OK(cache_->Record(kKey, {Digest::Of("manifest"), "report"}));
  ASSERT_OK_AND_ASSIGN(const std::string bytes,
                       ReadFile(HexPath(CompiledFolder(folder_.path()), kKey), 4096));
  EXPECT_EQ(bytes.substr(0, bytes.find('\n')), "slipway compiled 1");
}

class DamagedEntryTest : public FileCompileCacheTest,
                         public ::testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Statements, DamagedEntryTest, ::testing::Values("", "statement"));

TEST_P(DamagedEntryTest, IsNone) {
  const std::string path = HexPath(CompiledFolder(folder_.path()), kKey);
  ASSERT_OK(cache_->Record(kKey, {Digest::Of("manifest"), "report", GetParam()}));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path, 4096));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    ASSERT_OK(WriteFileAtomically(path, damaged, false));
    EXPECT_THAT(cache_->Find(kKey), StatusIs(Code::kNotFound)) << i;
    ASSERT_OK(WriteFileAtomically(path, bytes.substr(0, i), false));
    EXPECT_THAT(cache_->Find(kKey), StatusIs(Code::kNotFound)) << i;
  }
}

TEST_F(FileCompileCacheTest, RefusesBadKeysAndReports) {
  EXPECT_THAT(cache_->Find("../../etc"), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(cache_->Record("x", {Digest::Of(""), ""}), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(cache_->Remove(""), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(cache_->Record(kKey, {Digest(), ""}), StatusIs(Code::kInvalidArgument));
  EXPECT_THAT(cache_->Record(kKey, {Digest::Of(""), std::string(kMaxCachedReportBytes + 1, 'x')}),
              StatusIs(Code::kInvalidArgument));
}

TEST_F(FileCompileCacheTest, PrunesWhatIsNotUsed) {
  const std::string other(64, 'b');
  ASSERT_OK(cache_->Record(kKey, {Digest::Of("a"), ""}));
  ASSERT_OK(cache_->Record(other, {Digest::Of("b"), ""}));
  ASSERT_OK(cache_->Find(kKey));
  ASSERT_OK(cache_->Find(other));
  clock_.Advance(absl::Hours(2));
  ASSERT_OK(cache_->Find(kKey));
  ASSERT_OK(cache_->Prune(absl::Hours(1)));
  EXPECT_OK(cache_->Find(kKey));
  EXPECT_THAT(cache_->Find(other), StatusIs(Code::kNotFound));
}

}  // namespace
}  // namespace slipway
