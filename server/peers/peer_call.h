// PeerCall: who calls Sync.
#ifndef SLIPWAY_SERVER_PEERS_PEER_CALL_H_
#define SLIPWAY_SERVER_PEERS_PEER_CALL_H_

#include <cstdint>
#include <string>

namespace slipway::server {

struct PeerCall {
  std::string peer;  // A key of names.h: "agent/ID" or "worker/ID".
  std::string instance_id;
  int64_t sequence = 0;  // Rises with every report of an instance.
  std::string address;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_PEER_CALL_H_
