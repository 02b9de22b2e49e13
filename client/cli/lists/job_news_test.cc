#include "client/cli/lists/job_news.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Job AJob(const std::string& id, int64_t accepted, int64_t revision, JobState state) {
  Job job;
  job.id = id;
  job.create_time = absl::FromUnixSeconds(accepted);
  job.revision = revision;
  job.state = state;
  return job;
}

std::vector<std::string> Ids(const std::vector<Job>& jobs) {
  std::vector<std::string> ids;
  for (const Job& job : jobs) ids.push_back(job.id);
  return ids;
}

TEST(JobNewsTest, TellsEachChangeOnceInTheirOrder) {
  JobNews news;
  EXPECT_THAT(
      Ids(news.Take({AJob("b", 2, 7, JobState::kRunning), AJob("a", 1, 9, JobState::kQueued)})),
      ElementsAre("b", "a"));
  EXPECT_THAT(
      Ids(news.Take({AJob("b", 2, 7, JobState::kRunning), AJob("a", 1, 9, JobState::kQueued)})),
      IsEmpty());
  EXPECT_THAT(
      Ids(news.Take({AJob("c", 3, 11, JobState::kQueued), AJob("b", 2, 12, JobState::kSucceeded),
                     AJob("a", 1, 9, JobState::kQueued)})),
      ElementsAre("c", "b"));
}

TEST(JobNewsTest, GoesBackToTheOldestThatMayStillChange) {
  JobNews news;
  EXPECT_EQ(news.since(), absl::InfinitePast());
  news.Take({AJob("c", 3, 3, JobState::kFailed), AJob("b", 2, 2, JobState::kRunning),
             AJob("a", 1, 1, JobState::kSucceeded)});
  EXPECT_EQ(news.since(), absl::FromUnixSeconds(2));
  // Others that are accepted at the time of the newest are still to come.
  news.Take({AJob("c", 3, 3, JobState::kFailed), AJob("b", 2, 4, JobState::kSucceeded)});
  EXPECT_EQ(news.since(), absl::FromUnixSeconds(3));
  EXPECT_THAT(
      Ids(news.Take({AJob("d", 3, 5, JobState::kQueued), AJob("c", 3, 3, JobState::kFailed)})),
      ElementsAre("d"));
  news.Take({});
  EXPECT_EQ(news.since(), absl::FromUnixSeconds(3));
}

}  // namespace
}  // namespace slipway::cli
