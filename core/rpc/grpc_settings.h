// What both ends of every gRPC connection agree on: message sizes, keepalive
// and reconnecting. One file, because a server that expects fewer pings than
// its clients send closes their connections.
//
// Inline, so that a client links no server code.
#ifndef SLIPWAY_CORE_RPC_GRPC_SETTINGS_H_
#define SLIPWAY_CORE_RPC_GRPC_SETTINGS_H_

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>
#include <stdlib.h>

namespace slipway {

// Largest message either side accepts: room for a manifest and some tensors.
inline constexpr int kMaxMessageBytes = 64 << 20;
// Largest piece of a blob in one message (blob.proto).
inline constexpr int kMaxPieceBytes = 1 << 20;

// HTTP/2 frames of such bytes, instead of 16 KiB, so that the work for each is done once for a piece. A frame holds others
// of its connection up for no longer than gRPC's own writing, which does so for as many bytes.
inline constexpr int kHttp2FrameBytes = 1 << 20;

// HTTP/2's pings, by which is noticed that a connection leads nowhere any more: a machine or a gateway that went away
// without a word. `after_ms` without a byte from the other side it is pinged, and `timeout_ms` later the connection
// ends. Nobody pings where no call is open, or bytes come anyway.
//
//   who pings whom                    after   timeout  why
//   anybody a server                   12 s       5 s  of 5,000 idle agents at most 420 pings a second; most are answered
//                                                      by their server in less (park_ns) and never ping
//   an agent that holds an attempt    1.2 s     1.5 s  a session's connection is made anew before its client's patience,
//   its server                                         3.5 s, is over, and a result is reported; where clients' heartbeats
//                                                      pass, which come every second, it is not needed
//   a server anybody                   20 s      10 s  frees what it holds for them; callers notice first
//
// Clients of sessions know by their heartbeats, which go all the way to the device (client/session/liveness.h).
struct Pings {
  int after_ms;
  int timeout_ms;
};
inline constexpr Pings kPings = {12'000, 5'000};
inline constexpr Pings kBusyPings = {1'200, 1'500};
inline constexpr Pings kServerPings = {20'000, 10'000};
// A server ends connections of who pings more often, since it costs nothing to flood it.
inline constexpr int kMinPingIntervalMs = kBusyPings.after_ms / 2;
// A connection without calls is given back by who made it, else ended by the server.
inline constexpr int kIdleConnectionMs = 5 * 60'000;
inline constexpr int kServerIdleConnectionMs = 2 * kIdleConnectionMs;
// Connections over TLS are made anew after this, so that what their certificates say is looked at again.
inline constexpr int kConnectionAgeMs = 12 * 60 * 60'000;
// Calls that are under way then may go on for as long.
inline constexpr int kConnectionAgeGraceMs = 60 * 60'000;
// Calls that may be open on a connection at a time; a client has further ones wait. Who begins more does not keep to HTTP/2.
inline constexpr int kMostCallsOfConnection = 5'000;
// Who has begun a connection has this long to agree on its settings.
inline constexpr int kHandshakeMs = 10'000;

inline constexpr int kFirstReconnectMs = 50;
inline constexpr int kLongestReconnectMs = 2'000;
// Time a connection gets to come about; gRPC calls it the least backoff.
inline constexpr int kConnectMs = 5'000;

// For every channel of a client, agent or worker.
inline grpc::ChannelArguments ClientChannelArguments(const Pings& pings = kPings) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttp2FrameBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, pings.after_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, pings.timeout_ms);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, kIdleConnectionMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMs);
  // Peers are named by their operator. A proxy that is named for gRPC is meant; those of http_proxy, for pages, are not.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, getenv("grpc_proxy") != nullptr);
  return arguments;
}

// For every server.
inline void ApplyServerSettings(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttp2FrameBytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kServerPings.after_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kServerPings.timeout_ms);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kServerIdleConnectionMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostCallsOfConnection);
  // Two servers on one port would share its connections by chance.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

// For servers that are called over TLS.
inline void ApplyConnectionAge(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, kConnectionAgeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, kConnectionAgeGraceMs);
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_SETTINGS_H_
