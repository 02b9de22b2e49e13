// Status at the border to gRPC; the numbers of both are those of
// google.rpc.Code.
#ifndef SLIPWAY_CORE_RPC_GRPC_STATUS_H_
#define SLIPWAY_CORE_RPC_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace slipway {

inline grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status();
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

inline absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_GRPC_STATUS_H_
