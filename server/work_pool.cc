#include "server/work_pool.h"

#include <utility>

namespace slipway::server {

WorkPool::WorkPool(int threads, size_t max_waiting) : max_waiting_(max_waiting) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

WorkPool::~WorkPool() {
  {
    absl::MutexLock lock(&mu_);
    ends_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

bool WorkPool::TryPost(std::function<void()> work) {
  absl::MutexLock lock(&mu_);
  if (waiting_.size() >= max_waiting_) return false;
  waiting_.push_back(std::move(work));
  return true;
}

void WorkPool::Post(std::function<void()> work) {
  absl::MutexLock lock(&mu_);
  waiting_.push_back(std::move(work));
}

int64_t WorkPool::waiting() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int64_t>(waiting_.size());
}

void WorkPool::Loop() {
  while (true) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &WorkPool::HasWorkOrEnds));
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace slipway::server
