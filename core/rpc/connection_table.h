// ConnectionTable: which connections a server holds, and whether it takes another.
#ifndef SLIPWAY_CORE_RPC_CONNECTION_TABLE_H_
#define SLIPWAY_CORE_RPC_CONNECTION_TABLE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/rpc/held_connection.h"

namespace slipway {

struct ConnectionLimits {
  int all = 0;        // Held at a time.
  int each_peer = 0;  // Of these, from one peer.
};

// Not thread-safe.
class ConnectionTable {
 public:
  // Whether a connection is still open; its owner tells nobody when he closes it.
  using IsOpen = std::function<bool(const HeldConnection&)>;

  ConnectionTable(const ConnectionLimits& limits, IsOpen is_open)
      : limits_(limits), is_open_(std::move(is_open)) {}

  enum class Answer { kTaken, kFull, kFullForPeer };

  // Takes the connection, or says which limit is reached. Looks which are still open when one seems to be.
  Answer Take(HeldConnection connection);

  // Those taken and not seen closed.
  const std::vector<HeldConnection>& connections() const { return connections_; }
  int size() const { return static_cast<int>(connections_.size()); }

  void ForgetClosed();

 private:
  Answer MayTake(const std::string& peer) const;

  const ConnectionLimits limits_;
  const IsOpen is_open_;
  std::vector<HeldConnection> connections_;
  absl::flat_hash_map<std::string, int> of_peer_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_CONNECTION_TABLE_H_
