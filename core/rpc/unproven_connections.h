// UnprovenConnections: those of whom nothing is known yet but that they began as TLS does. Until a call comes from one, which takes a
// certificate, a stranger may have made it; these are given little time, and there are not many.
#ifndef SLIPWAY_CORE_RPC_UNPROVEN_CONNECTIONS_H_
#define SLIPWAY_CORE_RPC_UNPROVEN_CONNECTIONS_H_

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/rpc/connection_table.h"

namespace slipway {

// Not thread-safe. Times are of a clock that only rises.
class UnprovenConnections {
 public:
  // `most` at a time, each for at most `patience`.
  UnprovenConnections(int most, absl::Duration patience) : most_(most), patience_(patience) {}

  // Adds the one from `address` (peer_address.h). When there are more than may be, the one that came first is no longer among
  // them, and returned, to be ended.
  std::optional<HeldConnection> Add(absl::string_view address, HeldConnection connection,
                                    absl::Duration now);
  // A call came from there: takes the connection out, if it is among them.
  std::optional<HeldConnection> Prove(absl::string_view address);
  // Takes out those whose time is over, to be ended.
  std::vector<HeldConnection> TakeOverdue(absl::Duration now);
  // When the next one's time is over; infinite when there is none.
  absl::Duration NextEnd() const;

  int size() const { return static_cast<int>(entries_.size()); }

 private:
  struct Entry {
    std::string address;
    HeldConnection connection;
    absl::Duration until;
  };
  HeldConnection TakeFirst();

  const int most_;
  const absl::Duration patience_;
  std::list<Entry> entries_;  // The one that came first in front.
  absl::flat_hash_map<std::string, std::list<Entry>::iterator> by_address_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_UNPROVEN_CONNECTIONS_H_
