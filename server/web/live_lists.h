// LiveLists: tells whoever looks at lists what changes in them.
//
// The server has no call that follows a list. So one thread looks at each list once a second, once for all who see it alike (with one
// token), and only while somebody looks; each is sent what is not as it was sent before.
#ifndef SLIPWAY_SERVER_WEB_LIVE_LISTS_H_
#define SLIPWAY_SERVER_WEB_LIVE_LISTS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/http/http_message.h"
#include "server/web/changes.h"
#include "server/web/sessions.h"

namespace slipway::web {

// The last is for administrators.
enum class Topic { kDevices, kQueue, kStatus, kJobs, kEverybodysJobs };

// "devices,queue": INVALID_ARGUMENT names the one that there is not, or says that there is none.
absl::StatusOr<std::set<Topic>> ParseTopics(absl::string_view text);

// A list as it is now. Devices without when they were last heard, which changes all the time.
absl::StatusOr<Snapshot> ReadTopic(Topic topic, Upstream& upstream);

// Thread-safe.
class LiveLists {
 public:
  struct Options {
    absl::Duration every = absl::Seconds(1);
    size_t most_streams = 256;
    size_t most_streams_of_one = 32;
  };
  // `forget` is called for who the server does not know any more; it must outlive this.
  LiveLists(const Options& options, std::function<void(const SignedIn&)> forget);
  ~LiveLists();

  // OK if one more of his may be begun; RESOURCE_EXHAUSTED otherwise.
  absl::Status CheckPlace(const SignedIn& signed_in);
  // "ready" when it is known what there is, which the viewer then asks for; after that what changes, until the stream is gone.
  void Add(std::shared_ptr<const SignedIn> signed_in, std::set<Topic> topics,
           std::shared_ptr<HttpStream> stream);

 private:
  struct Viewer {
    std::shared_ptr<const SignedIn> signed_in;
    std::set<Topic> topics;
    std::shared_ptr<HttpStream> stream;
    std::map<Topic, Snapshot> sent;
    bool is_ready = false;  // He was told so.
    bool is_away = false;   // He was told that the server is.
  };
  void Run();
  // What the viewers of one token see, and sends it; without the lock.
  void Serve(const std::vector<std::shared_ptr<Viewer>>& viewers);

  const Options options_;
  const std::function<void(const SignedIn&)> forget_;
  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_new_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<Viewer>> viewers_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_LIVE_LISTS_H_
