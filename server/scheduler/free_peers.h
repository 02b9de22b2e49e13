// FreePeers: the agents and workers that may have places, found by what they can take.
#ifndef SLIPWAY_SERVER_SCHEDULER_FREE_PEERS_H_
#define SLIPWAY_SERVER_SCHEDULER_FREE_PEERS_H_

#include <list>
#include <string>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "server/scheduler/scheduler.h"

namespace slipway::server {

// Looking for one takes time with the number of distinct offers, not of peers: thousands of boards are of a few kinds.
// Peers are named by keys of names.h. Not thread-safe.
class FreePeers {
 public:
  // What was said of it before does not count any more.
  void Put(const std::string& peer, const Supply& supply);
  // Nothing when it is not here.
  void Erase(absl::string_view peer);

  // The first peer by name that fits the need, of those whose names sort behind `after`.
  absl::optional<std::string> Next(const Need& need, absl::string_view after) const;

 private:
  // Peers that differ by their devices' names alone.
  struct Kind {
    Supply supply;  // Of one of them.
    absl::btree_set<std::string> peers;
  };
  using Kinds = std::list<Kind>;

  Kinds kinds_;  // None is empty.
  absl::flat_hash_map<std::string, Kinds::iterator> kind_of_;
  absl::flat_hash_map<std::string, std::string> by_device_;
  absl::flat_hash_map<std::string, std::string> device_of_;  // Of agents.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_FREE_PEERS_H_
