// ChangeHub: tells those who wait for something that it has changed.
#ifndef SLIPWAY_SERVER_CHANGE_HUB_H_
#define SLIPWAY_SERVER_CHANGE_HUB_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

namespace slipway::server {

// Thread-safe. Must outlive its subscriptions.
class ChangeHub {
 public:
  using Callback = std::function<void()>;
  // Dropping it ends the subscription. A call that has begun may still be under way then, so the callback
  // must own what it touches.
  using Subscription = std::shared_ptr<const void>;

  // `callback` is called after every change of `key`, on the thread that made it, with no lock of the
  // server held; it must be quick. Read the state after subscribing, not before.
  Subscription Subscribe(std::string key, Callback callback);

  void Notify(absl::Span<const std::string> keys);
  // Everybody, for the last time: is_closed() from now on. Who waits stops waiting.
  void Close();
  bool is_closed() const { return is_closed_; }

 private:
  struct Subscriber {
    Callback callback;
  };
  using Subscribers = absl::InlinedVector<std::weak_ptr<Subscriber>, 1>;

  void Remove(const std::string& key);

  std::atomic<bool> is_closed_ = false;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Subscribers> subscribers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_CHANGE_HUB_H_
