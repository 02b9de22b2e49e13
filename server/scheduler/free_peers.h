// FreePeers: the agents and workers that may have places, found by what they can take.
#ifndef SLIPWAY_SERVER_SCHEDULER_FREE_PEERS_H_
#define SLIPWAY_SERVER_SCHEDULER_FREE_PEERS_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "core/selector/device_attributes.h"
#include "server/devices/device_need.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/selector_index.h"

namespace slipway::server {

// Looking for one takes time with the number of distinct offers, not of peers: thousands of boards are of a few kinds. Whom a
// selector matches is found out once, for as long as it is among the last that were asked for.
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

  // How many selectors are remembered.
  static constexpr size_t kMaxSelectors = 256;

  // The same for a need of a selector.
  absl::optional<std::string> NextSelected(const DeviceNeed& need, absl::string_view after) const;
  // The peers that a need's selector matches.
  const absl::btree_set<std::string>& Matching(const DeviceNeed& need) const;

  Kinds kinds_;  // None is empty.
  absl::flat_hash_map<std::string, Kinds::iterator> kind_of_;
  absl::flat_hash_map<std::string, std::string> by_device_;
  absl::flat_hash_map<std::string, std::string> device_of_;  // Of agents.
  absl::flat_hash_map<std::string, std::shared_ptr<const DeviceAttributes>>
      attributes_;  // The same.
  // What has been found out of selectors, by their canonical forms: no state, but memory of it.
  mutable SelectorIndex selectors_;
  mutable absl::flat_hash_map<std::string, absl::btree_set<std::string>> matching_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_FREE_PEERS_H_
