// JobService over gRPC.
#ifndef SLIPWAY_SERVER_SERVICES_JOB_SERVICE_H_
#define SLIPWAY_SERVER_SERVICES_JOB_SERVICE_H_

#include "proto/slipway/v1/job.grpc.pb.h"
#include "server/change_hub.h"
#include "server/handlers/environment.h"
#include "server/services/calls.h"

namespace slipway::server {

class JobGrpcService final : public v1::JobService::CallbackService {
 public:
  JobGrpcService(const Calls* calls, const Environment* env, ChangeHub* hub)
      : calls_(*calls), env_(*env), hub_(*hub) {}

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request, v1::Job* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerWriteReactor<v1::Job>* WatchJob(grpc::CallbackServerContext* context,
                                              const v1::WatchJobRequest* request) override;
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::Job* response) override;

 private:
  const Calls& calls_;
  const Environment& env_;
  ChangeHub& hub_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_JOB_SERVICE_H_
