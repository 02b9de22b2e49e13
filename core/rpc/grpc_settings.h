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

// A peer that is gone without closing its connection is noticed after the sum.
inline constexpr int kKeepaliveMs = 20'000;
inline constexpr int kKeepaliveTimeoutMs = 10'000;
// The server tolerates pings twice as often as clients send them.
inline constexpr int kMinPingIntervalMs = kKeepaliveMs / 2;

inline constexpr int kFirstReconnectMs = 50;
inline constexpr int kLongestReconnectMs = 2'000;
// Time a connection gets to come about; gRPC calls it the least backoff.
inline constexpr int kConnectMs = 5'000;

// For every channel of a client, agent or worker.
inline grpc::ChannelArguments ClientChannelArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttp2FrameBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
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
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
  // Two servers on one port would share its connections by chance.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_SETTINGS_H_
