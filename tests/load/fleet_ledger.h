// FleetLedger: what simulated clients and agents saw of each job, and what follows from it: which jobs a server has lost, and
// which it has done twice. README.md says how each is told.
#ifndef SLIPWAY_TESTS_LOAD_FLEET_LEDGER_H_
#define SLIPWAY_TESTS_LOAD_FLEET_LEDGER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/slipway/v1/job.pb.h"

namespace slipway::testing {

// How a job ended, as a client was told.
struct FleetEnd {
  v1::Job::State state = v1::Job::STATE_UNSPECIFIED;
  int64_t revision = 0;
  int64_t mark = 0;  // In its result; see Worked.
};

// What a whole run comes to.
struct FleetVerdict {
  int64_t asked = 0;     // Requests.
  int64_t accepted = 0;  // Requests that were answered with a job.
  int64_t finished = 0;  // Of those, whose job succeeded, with the result of one of its attempts.
  int64_t lost = 0;
  int64_t doubled = 0;
  // Accepted, and not ended when nobody waited any more, though the server still has them.
  int64_t unfinished = 0;
  // Ended well under several attempts, of whose results one was taken: that is no mistake, and rare.
  int64_t worked_again = 0;
  // A few of those lost and doubled: which job, and why.
  std::vector<std::string> complaints;
};

// Of the jobs for which it is known, each sorted.
struct FleetTimes {
  std::vector<absl::Duration> accept;  // Until the request was answered.
  std::vector<absl::Duration> give;    // Until an agent had the job.
  std::vector<absl::Duration> finish;  // Until the client was told of its end.
};

// Thread-safe. Times are monotonic. What is said of a job may come in any order.
class FleetLedger {
 public:
  // --- As clients see it. ---

  // Requests are numbered. Once for each, however often it is asked again.
  void Asked(int64_t request, absl::Duration now);
  void Accepted(int64_t request, const std::string& job, absl::Duration now);
  void Ended(const std::string& job, const FleetEnd& end, absl::Duration now);

  // --- As agents see it. ---

  void Given(const std::string& job, absl::Duration now);
  // An attempt of the job is going to report this result, whose mark no other has; above 0.
  void Worked(const std::string& job, int64_t mark);

  // --- As the server lists it, when all is over. ---

  void Listed(int64_t request, const std::string& job, v1::Job::State state, int64_t revision);

  int64_t accepted() const;
  int64_t ended() const;

  // When the listing is complete.
  FleetVerdict Judge() const;
  FleetTimes Times() const;

 private:
  struct Request {
    absl::Duration asked;
    absl::Duration accepted;
    std::vector<std::string> jobs;    // That answers named; more than one is a mistake.
    std::vector<std::string> listed;  // That the server says are for it.
  };
  struct Job {
    std::optional<int64_t> request;
    std::optional<absl::Duration> given;
    std::optional<absl::Duration> ended;
    std::vector<FleetEnd> ends;  // Different ones; more than one is a mistake.
    std::vector<int64_t> marks;
    std::optional<FleetEnd> listed;  // Without a mark.
  };

  // What is wrong with a job that a request was answered with; empty: nothing.
  static std::string Loss(const Job& job);
  static std::string Doubling(const Job& job);

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<int64_t, Request> requests_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Job> jobs_ ABSL_GUARDED_BY(mutex_);
  int64_t accepted_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t ended_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_FLEET_LEDGER_H_
