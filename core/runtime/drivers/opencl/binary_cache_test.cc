#include "core/runtime/drivers/opencl/binary_cache.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/base/files.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::Optional;

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  DIR* const open = opendir(folder.c_str());
  while (const dirent* entry = readdir(open)) {
    if (entry->d_name[0] != '.') files.push_back(JoinPath(folder, entry->d_name));
  }
  closedir(open);
  return files;
}

class BinaryCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("binaries"));
    key_ = {"PoCL 3.1", "device", "driver 1", "-cl-std=CL1.2", Digest::Of("kernel void f() {}")};
  }
  BinaryCache Open() { return *BinaryCache::Open(JoinPath(folder_.path(), "cache")); }
  std::string TheFile() { return FilesIn(JoinPath(folder_.path(), "cache")).at(0); }

  TemporaryFolder folder_;
  BinaryKey key_;
};

TEST_F(BinaryCacheTest, GivesBackWhatWasKept) {
  EXPECT_EQ(Open().Get(key_), std::nullopt);
  const std::string binary("\0binary\n", 8);
  ASSERT_OK(Open().Put(key_, binary));
  EXPECT_THAT(Open().Get(key_), Optional(binary));
  Open().Drop(key_);
  EXPECT_EQ(Open().Get(key_), std::nullopt);
}

TEST_F(BinaryCacheTest, ForgetsWhatWasLongestUnused) {
  const std::string folder = JoinPath(folder_.path(), "cache");
  std::vector<BinaryKey> keys(6, key_);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_OK_AND_ASSIGN(const BinaryCache cache, BinaryCache::Open(folder, 5000));
    keys[i].options = std::string(i, 'x');
    ASSERT_OK(cache.Put(keys[i], std::string(1000, 'b')));
    // The first is used again and again.
    EXPECT_TRUE(cache.Get(keys[0]).has_value()) << i;
  }
  EXPECT_LT(FilesIn(folder).size(), 5u);
  EXPECT_TRUE(Open().Get(keys[0]).has_value());
  EXPECT_TRUE(Open().Get(keys.back()).has_value());
  EXPECT_EQ(Open().Get(keys[1]), std::nullopt);
}

TEST_F(BinaryCacheTest, KnowsDevicesDriversOptionsAndSourcesApart) {
  ASSERT_OK(Open().Put(key_, "binary"));
  std::vector<BinaryKey> others(5, key_);
  others[0].platform = "PoCL 4.0";
  others[1].device = "other";
  others[2].driver = "driver 2";
  others[3].options = "";
  others[4].source = Digest::Of("kernel void g() {}");
  for (const BinaryKey& other : others) EXPECT_EQ(Open().Get(other), std::nullopt);
  // Parts do not run into each other.
  BinaryKey shifted = key_;
  shifted.platform = "PoCL 3.1d";
  shifted.device = "evice";
  EXPECT_NE(shifted.ToDigest(), key_.ToDigest());
}

TEST_F(BinaryCacheTest, WhatIsNotWholeIsNeitherGivenNorLeft) {
  ASSERT_OK(Open().Put(key_, "binary"));
  ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(TheFile(), 1000));
  const std::string path = TheFile();
  std::vector<std::string> spoilt = {"", "binary", whole.substr(0, whole.size() - 1), whole + "x",
                                     whole.substr(1)};
  for (size_t i = 0; i < whole.size(); ++i) {
    spoilt.push_back(whole);
    spoilt.back()[i] ^= 1;
  }
  for (const std::string& file : spoilt) {
    ASSERT_OK(WriteFileAtomically(path, file, false));
    EXPECT_EQ(Open().Get(key_), std::nullopt);
    EXPECT_THAT(ReadFile(path, 1000), StatusIs(absl::StatusCode::kNotFound));
  }
  // A whole one under another's name.
  BinaryKey other = key_;
  other.driver = "driver 2";
  ASSERT_OK(Open().Put(other, "binary"));
  ASSERT_OK_AND_ASSIGN(const std::string others, ReadFile(TheFile(), 1000));
  ASSERT_OK(WriteFileAtomically(path, others, false));
  EXPECT_EQ(Open().Get(key_), std::nullopt);
}

TEST_F(BinaryCacheTest, AFolderThatOthersWriteToIsRefused) {
  const std::string folder = JoinPath(folder_.path(), "cache");
  ASSERT_OK(MakeFolders(folder));
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_THAT(BinaryCache::Open(folder), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(BinaryCacheTest, AVeryLargeOneIsNotKept) {
  const std::string large(static_cast<size_t>(BinaryCache::kMaxBinaryBytes) + 1, 'x');
  EXPECT_THAT(Open().Put(key_, large), StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace slipway
