// LocalWorkers: the server's own worker processes, there while there is something to compile.
#ifndef SLIPWAY_SERVER_WORKERS_LOCAL_WORKERS_H_
#define SLIPWAY_SERVER_WORKERS_LOCAL_WORKERS_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/subprocess.h"
#include "server/timer_queue.h"

namespace slipway::server {

// Thread-safe.
class LocalWorkers {
 public:
  struct Options {
    int count = 1;                            // Most processes at a time.
    absl::Duration idle = absl::Seconds(60);  // Without work for this long, they end.
    std::vector<std::string> command;         // The program and its flags, but for --worker-id.
    absl::Duration first_backoff = absl::Milliseconds(250);  // After a crash; doubles.
    absl::Duration longest_backoff = absl::Seconds(30);
  };
  // Tells, with no lock held, that the process of a worker has ended. `last_words`: the end of what it wrote to
  // stderr, which this process's stderr got too. `counted`: it ended by itself, not because it was told to.
  using Ended = std::function<void(absl::string_view worker_id, absl::string_view why,
                                   absl::string_view last_words, bool counted)>;

  // `timers` must outlive this.
  LocalWorkers(Options options, TimerQueue* timers, Ended ended);
  // Ends the processes, by force if they take long.
  ~LocalWorkers();

  // So many compilations wait or are worked on. As many processes are kept, at most options.count.
  void SetDemand(int compilations);

 private:
  struct Slot {
    std::shared_ptr<Subprocess> process;
    bool told_to_end = false;
  };

  void Keep(int index);
  void EndIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  TimerQueue& timers_;
  const Ended ended_;

  absl::Mutex mu_;
  int demand_ ABSL_GUARDED_BY(mu_) = 0;
  bool ends_ ABSL_GUARDED_BY(mu_) = false;
  TimerQueue::Id idle_timer_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Slot> slots_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> keepers_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_WORKERS_LOCAL_WORKERS_H_
