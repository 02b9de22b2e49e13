#include "core/codegen/kernel_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

class KernelCacheTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("kernel-cache")); }
  std::unique_ptr<FileKernelCache> Open(int64_t max_bytes = 1 << 20) {
    auto cache = FileKernelCache::Create({JoinPath(folder_.path(), "kernels"), max_bytes});
    EXPECT_OK(cache.status());
    return *std::move(cache);
  }
  std::vector<std::filesystem::path> Files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(JoinPath(folder_.path(), "kernels"))) {
      files.push_back(entry.path());
    }
    return files;
  }
  TemporaryFolder folder_;
};

Digest Key(int i) { return Digest::Of(absl::StrCat("key ", i)); }

TEST_F(KernelCacheTest, ReturnsWhatWasPutAlsoToAnotherProcess) {
  const auto cache = Open();
  EXPECT_EQ(cache->Get(Key(1)), std::nullopt);
  EXPECT_OK(cache->Put(Key(1), "object"));
  EXPECT_EQ(cache->Get(Key(1)), "object");
  EXPECT_EQ(Open()->Get(Key(1)), "object");
  EXPECT_EQ(cache->Get(Key(2)), std::nullopt);
}

TEST_F(KernelCacheTest, DamagedFilesCountAsAbsentAndAreRemoved) {
  const auto cache = Open();
  for (const auto damage : {0, 1, 2, 3}) {
    ASSERT_OK(cache->Put(Key(1), "a kernel's object"));
    const std::string path = Files().at(0).string();
    ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(path, 1 << 20));
    if (damage == 0) bytes.back() ^= 1;
    if (damage == 1) bytes.resize(bytes.size() - 1);
    if (damage == 2) bytes.clear();
    if (damage == 3) bytes[0] = 'S';
    ASSERT_OK(WriteFileAtomically(path, bytes, false));
    EXPECT_EQ(cache->Get(Key(1)), std::nullopt) << damage;
    EXPECT_TRUE(Files().empty());
  }
}

TEST_F(KernelCacheTest, ForgetsTheOldestWhenItIsFull) {
  const auto cache = Open(10'000);
  for (int i = 0; i < 30; ++i) {
    ASSERT_OK(cache->Put(Key(i), std::string(1000, 'x')));
    // File times may be coarse: an explicit order.
    for (const auto& file : Files()) {
      if (file.filename().string().find(Key(i).hex()) == 0) {
        std::filesystem::last_write_time(
            file, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(i - 100));
      }
    }
  }
  EXPECT_NE(cache->Get(Key(29)), std::nullopt);
  EXPECT_EQ(cache->Get(Key(0)), std::nullopt);
  EXPECT_LE(Files().size(), 10u);
}

TEST_F(KernelCacheTest, ManyWritersDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      const auto cache = Open();
      for (int i = 0; i < 50; ++i) {
        const std::string object = absl::StrCat("object of ", i % 7);
        EXPECT_OK(cache->Put(Key(i % 7), object));
        const std::optional<std::string> found = cache->Get(Key(i % 7));
        if (found.has_value()) EXPECT_EQ(*found, object);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace slipway
