// Dispatcher::Section: the dispatcher's lock, and what is to be done when it is released.
#ifndef SLIPWAY_SERVER_SCHEDULER_DISPATCHER_SECTION_H_
#define SLIPWAY_SERVER_SCHEDULER_DISPATCHER_SECTION_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/types/optional.h"
#include "server/scheduler/dispatcher.h"

namespace slipway::server {

// Holds the lock until its end.
class ABSL_SCOPED_LOCKABLE Dispatcher::Section {
 public:
  explicit Section(Dispatcher* dispatcher) ABSL_EXCLUSIVE_LOCK_FUNCTION(dispatcher->mu_)
      : dispatcher_(*dispatcher) {
    dispatcher_.mu_.Lock();
  }

  // Releases the lock, waits until all that was seen under it is stored, and then wakes whoever waits for what has
  // changed. An error of the store: nobody may be told what was seen; it is stored, and whoever waits is woken, at
  // the end of a later section.
  absl::Status End() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    has_ended_ = true;
    std::vector<std::string> changed = std::exchange(dispatcher_.changed_, {});
    const JobWriter::Mark seen = dispatcher_.writer_.entered();
    absl::optional<absl::Duration> wake = dispatcher_.EarlierTick();
    const int demand = dispatcher_.Demand();
    const bool tell = demand != dispatcher_.told_demand_;
    dispatcher_.told_demand_ = demand;
    dispatcher_.mu_.Unlock();

    const absl::Status stored = dispatcher_.writer_.Flush(seen);
    if (!stored.ok()) {
      wake = dispatcher_.StoreRefused(stored, std::move(changed));
    } else if (!changed.empty()) {
      dispatcher_.parts_.hub->Notify(changed);
    }
    if (wake.has_value() && dispatcher_.parts_.wake) dispatcher_.parts_.wake(*wake);
    if (tell && dispatcher_.parts_.demand) dispatcher_.parts_.demand();
    return stored;
  }

  // The same for who has changed no job, and tells nobody of what he saw: does not wait for the store.
  void EndUntold() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    has_ended_ = true;
    const absl::optional<absl::Duration> wake = dispatcher_.EarlierTick();
    dispatcher_.mu_.Unlock();
    if (wake.has_value() && dispatcher_.parts_.wake) dispatcher_.parts_.wake(*wake);
  }

  ~Section() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!has_ended_) End().IgnoreError();
  }

  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 private:
  Dispatcher& dispatcher_;
  bool has_ended_ = false;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_DISPATCHER_SECTION_H_
