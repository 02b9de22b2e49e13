// JobNews: what a list of jobs that is asked for again and again has that was not told before. Pure; not thread-safe.
#ifndef SLIPWAY_CLIENT_CLI_LISTS_JOB_NEWS_H_
#define SLIPWAY_CLIENT_CLI_LISTS_JOB_NEWS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/types.h"

namespace slipway::cli {

class JobNews {
 public:
  // Those that are new or look otherwise than when they were told last, in the order in which they changed. `listed` has what
  // there is, accepted at since() or later.
  std::vector<Job> Take(std::vector<Job> listed);

  // What was accepted before this does not change any more, or was told and has ended: a list need not go back further. Infinite past at
  // first.
  absl::Time since() const { return since_; }

 private:
  std::map<std::string, int64_t> told_;  // Revisions, by job, of those accepted at since_ or later.
  absl::Time since_ = absl::InfinitePast();
};

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_LISTS_JOB_NEWS_H_
