// BlobService over gRPC.
#ifndef SLIPWAY_SERVER_SERVICES_BLOB_SERVICE_H_
#define SLIPWAY_SERVER_SERVICES_BLOB_SERVICE_H_

#include "proto/slipway/v1/blob.grpc.pb.h"
#include "server/handlers/environment.h"
#include "server/services/calls.h"

namespace slipway::server {

class BlobGrpcService final : public v1::BlobService::CallbackService {
 public:
  BlobGrpcService(const Calls* calls, const Environment* env) : calls_(*calls), env_(*env) {}

  grpc::ServerUnaryReactor* FindMissing(grpc::CallbackServerContext* context,
                                        const v1::FindMissingRequest* request,
                                        v1::FindMissingResponse* response) override;
  grpc::ServerUnaryReactor* QueryWrite(grpc::CallbackServerContext* context,
                                       const v1::QueryWriteRequest* request,
                                       v1::QueryWriteResponse* response) override;
  grpc::ServerReadReactor<v1::WriteRequest>* Write(grpc::CallbackServerContext* context,
                                                   v1::WriteResponse* response) override;
  grpc::ServerWriteReactor<v1::ReadResponse>* Read(grpc::CallbackServerContext* context,
                                                   const v1::ReadRequest* request) override;

 private:
  const Calls& calls_;
  const Environment& env_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_BLOB_SERVICE_H_
