#include "tests/integration/grpc_stored_job.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>

#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "proto/slipway/v1/compile.grpc.pb.h"
#include "proto/slipway/v1/job.grpc.pb.h"
#include "proto/slipway/v1/run.grpc.pb.h"

namespace slipway::testing {
namespace {

std::shared_ptr<grpc::Channel> Channel(const std::string& server) {
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(),
                                   ClientChannelArguments());
}

template <typename Stub, typename Request, typename Response, typename Spec>
absl::StatusOr<std::string> Ask(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const std::string& request_id, const Spec& spec) {
  grpc::ClientContext context;
  Request request;
  request.set_request_id(request_id);
  *request.mutable_spec() = spec;
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok()) return FromGrpc(status);
  return response.job_id();
}

}  // namespace

absl::StatusOr<v1::Job> GetStoredJob(const std::string& server, const std::string& id) {
  const auto jobs = v1::JobService::NewStub(Channel(server));
  grpc::ClientContext context;
  v1::GetJobRequest request;
  request.set_id(id);
  v1::Job job;
  const grpc::Status status = jobs->GetJob(&context, request, &job);
  if (!status.ok()) return FromGrpc(status);
  return job;
}

absl::StatusOr<std::string> AskAgain(const std::string& server, const v1::Job& job) {
  const auto runs = v1::RunService::NewStub(Channel(server));
  if (job.has_run()) {
    return Ask(*runs, &v1::RunService::Stub::CreateRun, job.request_id(), job.run());
  }
  if (job.has_benchmark()) {
    return Ask(*runs, &v1::RunService::Stub::CreateBenchmark, job.request_id(), job.benchmark());
  }
  const auto compiles = v1::CompileService::NewStub(Channel(server));
  return Ask(*compiles, &v1::CompileService::Stub::CreateCompilation, job.request_id(),
             job.compilation());
}

}  // namespace slipway::testing
