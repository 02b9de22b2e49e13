#include "core/rpc/connection_table.h"

#include <algorithm>
#include <utility>

namespace slipway {

ConnectionTable::Answer ConnectionTable::MayTake(const std::string& peer) const {
  if (size() >= limits_.all) return Answer::kFull;
  if (peer.empty()) return Answer::kTaken;
  const auto found = of_peer_.find(peer);
  const bool is_full = found != of_peer_.end() && found->second >= limits_.each_peer;
  return is_full ? Answer::kFullForPeer : Answer::kTaken;
}

void ConnectionTable::ForgetClosed() {
  const auto closed = std::partition(connections_.begin(), connections_.end(), std::cref(is_open_));
  for (auto it = closed; it != connections_.end(); ++it) {
    const auto found = of_peer_.find(it->peer);
    if (found != of_peer_.end() && --found->second == 0) of_peer_.erase(found);
  }
  connections_.erase(closed, connections_.end());
}

ConnectionTable::Answer ConnectionTable::Take(HeldConnection connection) {
  Answer answer = MayTake(connection.peer);
  if (answer != Answer::kTaken) {
    ForgetClosed();
    answer = MayTake(connection.peer);
  }
  if (answer != Answer::kTaken) return answer;
  if (!connection.peer.empty()) ++of_peer_[connection.peer];
  connections_.push_back(std::move(connection));
  return Answer::kTaken;
}

}  // namespace slipway
