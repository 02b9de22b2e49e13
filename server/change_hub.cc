#include "server/change_hub.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace slipway::server {

ChangeHub::Subscription ChangeHub::Subscribe(std::string key, Callback callback) {
  std::shared_ptr<Subscriber> subscriber(new Subscriber{std::move(callback)},
                                         [this, key](Subscriber* ended) {
                                           delete ended;
                                           Remove(key);
                                         });
  absl::MutexLock lock(&mu_);
  subscribers_[key].push_back(subscriber);
  return subscriber;
}

void ChangeHub::Remove(const std::string& key) {
  absl::MutexLock lock(&mu_);
  auto it = subscribers_.find(key);
  if (it == subscribers_.end()) return;
  Subscribers& all = it->second;
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto& s) { return s.expired(); }),
            all.end());
  if (all.empty()) subscribers_.erase(it);
}

void ChangeHub::Notify(absl::Span<const std::string> keys) {
  std::vector<std::shared_ptr<Subscriber>> called;
  {
    absl::MutexLock lock(&mu_);
    for (const std::string& key : keys) {
      auto it = subscribers_.find(key);
      if (it == subscribers_.end()) continue;
      for (const auto& weak : it->second) {
        if (std::shared_ptr<Subscriber> subscriber = weak.lock())
          called.push_back(std::move(subscriber));
      }
    }
  }
  for (const auto& subscriber : called) subscriber->callback();
}

void ChangeHub::Close() {
  is_closed_ = true;
  std::vector<std::string> keys;
  {
    absl::MutexLock lock(&mu_);
    for (const auto& [key, subscribers] : subscribers_) keys.push_back(key);
  }
  Notify(keys);
}

}  // namespace slipway::server
