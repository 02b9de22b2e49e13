// The server's answers as values of client/types.h. A server may say anything: what does not fit is an error.
#ifndef SLIPWAY_CLIENT_CONVERT_H_
#define SLIPWAY_CLIENT_CONVERT_H_

#include "absl/status/statusor.h"
#include "client/types.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/server.pb.h"

namespace slipway {

// INTERNAL, naming the job and the field, when the server broke the protocol.
absl::StatusOr<Job> JobFromProto(const v1::Job& proto);
absl::StatusOr<Device> DeviceFromProto(const v1::Device& proto);
ServerInfo ServerInfoFromProto(const v1::ServerInfo& proto);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_CONVERT_H_
