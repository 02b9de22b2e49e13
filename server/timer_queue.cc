#include "server/timer_queue.h"

namespace slipway::server {

TimerQueue::TimerQueue() : thread_([this] { Loop(); }) {}

TimerQueue::~TimerQueue() { Stop(); }

void TimerQueue::Stop() {
  {
    absl::MutexLock lock(&mu_);
    ends_ = true;
    changed_.Signal();
  }
  if (thread_.joinable()) thread_.join();
}

TimerQueue::Id TimerQueue::After(absl::Duration delay, std::function<void()> work) {
  absl::MutexLock lock(&mu_);
  if (ends_) return ++last_id_;
  const Key key(clock_.Monotonic() + delay, ++last_id_);
  waiting_.emplace(key, std::move(work));
  times_.emplace(key.second, key.first);
  if (waiting_.begin()->first == key) changed_.Signal();
  return key.second;
}

void TimerQueue::Cancel(Id id) {
  std::function<void()> dropped;  // Destroyed outside the lock: it may own anything.
  absl::MutexLock lock(&mu_);
  auto it = times_.find(id);
  if (it == times_.end()) return;
  auto waiting = waiting_.find(Key(it->second, id));
  dropped = std::move(waiting->second);
  waiting_.erase(waiting);
  times_.erase(it);
}

void TimerQueue::CancelAndWait(Id id) {
  Cancel(id);
  const auto is_over = [this, id]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return running_ != id; };
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&is_over));
}

void TimerQueue::Loop() {
  mu_.Lock();
  while (!ends_) {
    if (waiting_.empty()) {
      changed_.Wait(&mu_);
      continue;
    }
    auto first = waiting_.begin();
    const absl::Duration wait = first->first.first - clock_.Monotonic();
    if (wait > absl::ZeroDuration()) {
      changed_.WaitWithTimeout(&mu_, wait);
      continue;
    }
    std::function<void()> work = std::move(first->second);
    running_ = first->first.second;
    times_.erase(running_);
    waiting_.erase(first);
    mu_.Unlock();
    work();
    work = nullptr;
    mu_.Lock();
    running_ = 0;
  }
  mu_.Unlock();
}

}  // namespace slipway::server
