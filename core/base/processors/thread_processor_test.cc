#include "core/base/processors/thread_processor.h"

#include <sched.h>

#include <thread>
#include <vector>

#include "core/base/processors/usable_processors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::Contains;
using ::testing::SizeIs;

TEST(ThreadProcessorTest, IsOneThatMayBeUsed) {
  EXPECT_THAT(UsableProcessors(), Contains(ThreadProcessor()));
}

TEST(ThreadProcessorTest, AThreadLeavesWhatIsTakenAndMayComeBack) {
  const std::vector<int> usable = UsableProcessors();
  if (usable.size() < 2) GTEST_SKIP() << "one processor";
  std::thread([&] {
    for (int round = 0; round < 20; ++round) {
      // All but one; some numbers are no processor's.
      std::vector<int> taken = {-1, 1 << 20};
      const int left = usable[static_cast<size_t>(round) % usable.size()];
      for (int processor : usable) {
        if (processor != left) taken.push_back(processor);
      }
      LeaveProcessors(taken);
      EXPECT_EQ(UsableProcessors(), usable);
    }
  }).join();
}

TEST(ThreadProcessorTest, AThreadGoesWhereItIsLeftRoom) {
  const std::vector<int> usable = UsableProcessors();
  if (usable.size() < 2) GTEST_SKIP() << "one processor";
  // The system may move it back between two looks; that it always does in a hundred would be no chance.
  int went = 0;
  std::thread([&] {
    for (int round = 0; round < 100; ++round) {
      const int here = ThreadProcessor();
      LeaveProcessors({here});
      went += ThreadProcessor() != here;
    }
  }).join();
  EXPECT_GT(went, 0);
}

TEST(ThreadProcessorTest, AThreadStaysWhereThereIsNoOther) {
  const std::vector<int> usable = UsableProcessors();
  std::thread([&] {
    LeaveProcessors(usable);
    EXPECT_EQ(UsableProcessors(), usable);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(usable.front()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    LeaveProcessors({usable.front()});
    EXPECT_EQ(ThreadProcessor(), usable.front());
    EXPECT_THAT(UsableProcessors(), SizeIs(1));
  }).join();
}

}  // namespace
}  // namespace slipway
