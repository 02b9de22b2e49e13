// Dispatcher::Section: the dispatcher's lock, and what is to be told when it is released.
#ifndef SLIPWAY_SERVER_SCHEDULER_DISPATCHER_SECTION_H_
#define SLIPWAY_SERVER_SCHEDULER_DISPATCHER_SECTION_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/types/optional.h"
#include "server/scheduler/dispatcher.h"

namespace slipway::server {

// Holds the lock; on destruction releases it, and then wakes whoever waits for what has changed.
class ABSL_SCOPED_LOCKABLE Dispatcher::Section {
 public:
  explicit Section(Dispatcher* dispatcher) ABSL_EXCLUSIVE_LOCK_FUNCTION(dispatcher->mu_)
      : dispatcher_(*dispatcher) {
    dispatcher_.mu_.Lock();
  }

  ~Section() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::vector<std::string> changed = std::move(dispatcher_.changed_);
    dispatcher_.changed_.clear();
    const absl::Duration now = dispatcher_.parts_.clock->Monotonic();
    const absl::Duration wait = dispatcher_.UntilNextTick();
    absl::optional<absl::Duration> wake;
    if (now + wait < dispatcher_.next_tick_) {
      dispatcher_.next_tick_ = now + wait;
      wake = wait;
    }
    const int demand = dispatcher_.live_.CompilationsWanted();
    const bool tell = demand != dispatcher_.told_demand_;
    dispatcher_.told_demand_ = demand;
    dispatcher_.mu_.Unlock();

    if (!changed.empty()) dispatcher_.parts_.hub->Notify(changed);
    if (wake.has_value() && dispatcher_.parts_.wake) dispatcher_.parts_.wake(*wake);
    if (tell && dispatcher_.parts_.demand) dispatcher_.parts_.demand();
  }

  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 private:
  Dispatcher& dispatcher_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_DISPATCHER_SECTION_H_
