// How a call says for which request it is made, besides what its message says.
#ifndef SLIPWAY_CORE_RPC_REQUEST_ID_H_
#define SLIPWAY_CORE_RPC_REQUEST_ID_H_

namespace slipway {

// Metadata of a call: its caller's name for it, 1 to 128 printable characters, which stands in the logs of both sides. The calls that make
// jobs have the request_id of the job there.
inline constexpr char kRequestIdName[] = "x-request-id";

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_REQUEST_ID_H_
