#include "client/cli/lists/job_news.h"

#include <algorithm>
#include <utility>

namespace slipway::cli {

std::vector<Job> JobNews::Take(std::vector<Job> listed) {
  absl::Time since = since_;
  absl::Time oldest_live = absl::InfiniteFuture();
  std::map<std::string, int64_t> told;
  for (const Job& job : listed) {
    told[job.id] = job.revision;
    since = std::max(since, job.create_time);
    if (!job.ended()) oldest_live = std::min(oldest_live, job.create_time);
  }
  std::vector<Job> news;
  for (Job& job : listed) {
    const auto before = told_.find(job.id);
    if (before == told_.end() || before->second != job.revision) news.push_back(std::move(job));
  }
  std::sort(news.begin(), news.end(),
            [](const Job& a, const Job& b) { return a.revision < b.revision; });
  told_ = std::move(told);
  since_ = std::min(since, oldest_live);
  return news;
}

}  // namespace slipway::cli
