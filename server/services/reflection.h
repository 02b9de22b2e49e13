// What gRPC's reflection protocol answers: the services of the access table, and the files that describe them.
#ifndef SLIPWAY_SERVER_SERVICES_REFLECTION_H_
#define SLIPWAY_SERVER_SERVICES_REFLECTION_H_

#include "absl/status/statusor.h"
#include "proto/grpc/reflection/v1alpha/reflection.pb.h"

namespace slipway::server {

// For a request that asks for nothing, an answer that says so. What no service of the table uses does not exist here, though it may be in the
// process. A file comes with those that it imports. Thread-safe.
grpc::reflection::v1alpha::ServerReflectionResponse Reflect(
    const grpc::reflection::v1alpha::ServerReflectionRequest& request);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_REFLECTION_H_
