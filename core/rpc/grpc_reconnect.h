// Waiting for a server to come back.
#ifndef SLIPWAY_CORE_RPC_GRPC_RECONNECT_H_
#define SLIPWAY_CORE_RPC_GRPC_RECONNECT_H_

#include <grpcpp/channel.h>

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace slipway {

// After a call ended with UNAVAILABLE: waits `pause`, or less once there is a connection where there
// was none, or once `stop` is asked for. To be used in place of a sleep: while no call is under way,
// nobody drives the channel, and it would come to connect again only every 5 seconds.
inline void PauseUntilConnected(grpc::Channel& channel, absl::Duration pause,
                                std::stop_token stop) {
  constexpr absl::Duration kLook = absl::Milliseconds(50);
  const absl::Time until = absl::Now() + pause;
  // A server that is there and refuses must not be asked again at once.
  const bool was_connected = channel.GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY;
  while (!stop.stop_requested() && absl::Now() < until) {
    const absl::Duration step = std::min(kLook, until - absl::Now());
    if (was_connected) {
      std::this_thread::sleep_for(absl::ToChronoNanoseconds(step));
    } else if (channel.WaitForConnected(std::chrono::system_clock::now() +
                                        absl::ToChronoMicroseconds(step))) {
      return;
    }
  }
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_RECONNECT_H_
