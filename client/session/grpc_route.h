// GrpcRoute: an address, and a session's own connection there. GrpcQuestion: whether somebody lives there.
#ifndef SLIPWAY_CLIENT_SESSION_GRPC_ROUTE_H_
#define SLIPWAY_CLIENT_SESSION_GRPC_ROUTE_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/rpc/caller_proof.h"
#include "core/rpc/grpc_credentials.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"

namespace slipway {

struct GrpcRoute {
  // `names`: those of whom it leads to (core/rpc/grpc_credentials.h).
  GrpcRoute(const std::string& to, const CallerProof& by, const std::vector<std::string>& names)
      : address(to),
        proof(by),
        channel(grpc::CreateCustomChannel(to, CallerCredentials(by, names), Arguments(by, names))),
        stub(channel) {}

  void AddToken(grpc::ClientContext& context) const {
    if (proof.token.empty()) return;
    context.AddMetadata("authorization", absl::StrCat("Bearer ", proof.token));
  }

  const std::string address;
  const CallerProof proof;
  const std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub stub;

 private:
  static grpc::ChannelArguments Arguments(const CallerProof& proof,
                                          const std::vector<std::string>& names) {
    grpc::ChannelArguments arguments = ClientChannelArguments();
    // Another session that sends much delays nothing here, and its events wake nobody here.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    ApplyNames(proof, names, arguments);
    return arguments;
  }
};

// Asks at once; `tag` comes out of the queue when there is an answer, or none within a second. Destroy it after that.
class GrpcQuestion {
 public:
  GrpcQuestion(std::unique_ptr<GrpcRoute> route, grpc::CompletionQueue& queue, void* tag)
      : route_(std::move(route)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    route_->AddToken(context_);
    const grpc::ByteBuffer nothing(nullptr, 0);
    call_ = route_->stub.PrepareUnaryCall(&context_, "/slipway.v1.ServerService/GetServerInfo",
                                          nothing, &queue);
    call_->StartCall();
    call_->Finish(&answer_, &status_, tag);
  }
  void Cancel() { context_.TryCancel(); }

  // --- Once the tag has come. ---
  // Any answer is a sign of life, refusals too.
  bool lives() const {
    const absl::Status status = FromGrpc(status_);
    return !absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status);
  }
  std::string error() const { return status_.error_message(); }
  std::unique_ptr<GrpcRoute> TakeRoute() { return std::move(route_); }

 private:
  std::unique_ptr<GrpcRoute> route_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> call_;
  grpc::ByteBuffer answer_;
  grpc::Status status_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_GRPC_ROUTE_H_
