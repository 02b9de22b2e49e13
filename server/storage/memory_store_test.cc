#include "server/storage/memory_store.h"

#include <memory>

#include "gtest/gtest.h"
#include "server/jobs/job_store_test_suite.h"

namespace slipway::server {
namespace {

class MemoryFixture final : public JobStoreFixture {
 public:
  Stores Open() override {
    const auto store = std::make_shared<MemoryStore>(&database_);
    return {store, store, store, store};
  }
  bool IsShared() const override { return true; }

 private:
  MemoryDatabase database_;
};

INSTANTIATE_TEST_SUITE_P(MemoryStore, JobStoreTest, ::testing::Values(MakeJobStoreFixture([] {
                           return std::make_unique<MemoryFixture>();
                         })));
INSTANTIATE_TEST_SUITE_P(MemoryStore, HistoryStoreTest, ::testing::Values(MakeJobStoreFixture([] {
                           return std::make_unique<MemoryFixture>();
                         })));

}  // namespace
}  // namespace slipway::server
