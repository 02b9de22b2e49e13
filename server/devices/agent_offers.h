// AgentOffers: what agents are offered, kept in a file of the data folder: it is little, and changes when an administrator says so.
#ifndef SLIPWAY_SERVER_DEVICES_AGENT_OFFERS_H_
#define SLIPWAY_SERVER_DEVICES_AGENT_OFFERS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/base/digest.h"
#include "server/devices/device_record.pb.h"

namespace slipway::server {

// For so many platforms at most.
inline constexpr size_t kMaxAgentOffers = 64;

// Thread-safe.
class AgentOffers {
 public:
  // DATA_LOSS when the file cannot be read as offers; errors of reading it. One that is not there holds none.
  static absl::StatusOr<std::unique_ptr<AgentOffers>> Open(std::string path);

  // Tells `take` of all, one a platform, sorted by it: now, and with every change before whoever changes them goes on. It must not
  // call this object.
  void Follow(std::function<void(const std::vector<AgentOfferRecord>&)> take);
  // The binaries, which must stay.
  std::vector<Digest> Binaries() const;

  // Keeps an offer in place of the one to its platform, durably. RESOURCE_EXHAUSTED; errors of writing, and then all is as before.
  absl::Status Put(const AgentOfferRecord& record);
  // Takes one back, durably, and returns it. NOT_FOUND; errors of writing, as above.
  absl::StatusOr<AgentOfferRecord> Remove(const std::string& platform);

 private:
  using Records = absl::btree_map<std::string, AgentOfferRecord>;  // By platform.

  explicit AgentOffers(std::string path) : path_(std::move(path)) {}
  absl::Status Store(Records records) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tell() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;
  mutable absl::Mutex mu_;
  Records records_ ABSL_GUARDED_BY(mu_);
  std::function<void(const std::vector<AgentOfferRecord>&)> take_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_AGENT_OFFERS_H_
