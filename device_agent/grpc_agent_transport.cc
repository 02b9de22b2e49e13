#include "device_agent/grpc_agent_transport.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/grpc_reconnect.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "core/wire/digest_proto.h"
#include "proto/slipway/v1/agent.grpc.pb.h"
#include "proto/slipway/v1/blob.grpc.pb.h"

namespace slipway {
namespace {

// What blob.proto says is enough on a slow link.
absl::Duration BlobDeadline(int64_t bytes) {
  return absl::Seconds(60) + absl::Seconds(1) * (bytes >> 20);
}

void Prepare(grpc::ClientContext& context, const std::string& token, absl::Duration deadline) {
  context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoNanoseconds(deadline));
  if (!token.empty()) context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
}

class GrpcSyncCall final : public SyncCall {
 public:
  GrpcSyncCall(v1::AgentService::StubInterface& agents, const std::string& token)
      : agents_(agents), token_(token) {}

  absl::StatusOr<v1::DesiredAgentState> Run(const v1::AgentState& state,
                                            absl::Duration deadline) override {
    Prepare(context_, token_, deadline);
    v1::DesiredAgentState desired;
    SLIPWAY_RETURN_IF_ERROR(FromGrpc(agents_.Sync(&context_, state, &desired)));
    return desired;
  }
  // A call that has not begun yet is cancelled when it does.
  void Cancel() override { context_.TryCancel(); }

 private:
  v1::AgentService::StubInterface& agents_;
  const std::string& token_;
  grpc::ClientContext context_;
};

class GrpcAgentTransport final : public AgentTransport {
 public:
  GrpcAgentTransport(const std::string& server, std::string token)
      : token_(std::move(token)),
        channel_(grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(),
                                           ClientChannelArguments())),
        agents_(v1::AgentService::NewStub(channel_)),
        blobs_(v1::BlobService::NewStub(channel_)) {}

  std::unique_ptr<SyncCall> NewSync() override {
    return std::make_unique<GrpcSyncCall>(*agents_, token_);
  }

  void Pause(absl::Duration pause, std::stop_token stop) override {
    PauseUntilConnected(*channel_, pause, std::move(stop));
  }

  absl::Status ReadBlob(const Digest& digest, BlobWriter& writer, std::stop_token stop) override {
    grpc::ClientContext context;
    Prepare(context, token_, BlobDeadline(digest.size_bytes()));
    const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    v1::ReadRequest request;
    *request.mutable_digest() = ToProto(digest);
    request.set_offset(writer.committed_bytes());
    const auto reader = blobs_->Read(&context, request);
    v1::ReadResponse response;
    absl::Status local;
    while (reader->Read(&response)) {
      local = writer.Append(response.data());
      if (!local.ok()) {
        context.TryCancel();
        break;
      }
    }
    const absl::Status status = FromGrpc(reader->Finish());
    SLIPWAY_RETURN_IF_ERROR(local);
    SLIPWAY_RETURN_IF_ERROR(status);
    if (writer.committed_bytes() != digest.size_bytes()) {
      return absl::UnavailableError(
          absl::StrCat("the server sent ", writer.committed_bytes(), " bytes"));
    }
    return absl::OkStatus();
  }

  absl::Status WriteBlob(const Digest& digest, const Blob& blob, std::stop_token stop) override {
    v1::QueryWriteResponse held;
    {
      grpc::ClientContext context;
      Prepare(context, token_, BlobDeadline(0));
      const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
      v1::QueryWriteRequest request;
      *request.mutable_digest() = ToProto(digest);
      SLIPWAY_RETURN_IF_ERROR(FromGrpc(blobs_->QueryWrite(&context, request, &held)));
    }
    if (held.complete()) return absl::OkStatus();
    grpc::ClientContext context;
    Prepare(context, token_, BlobDeadline(digest.size_bytes()));
    const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    v1::WriteResponse response;
    const auto writer = blobs_->Write(&context, &response);
    int64_t offset = std::clamp<int64_t>(held.committed_bytes(), 0, blob.size_bytes());
    v1::WriteRequest request;
    *request.mutable_digest() = ToProto(digest);
    do {
      const int64_t size = std::min<int64_t>(kMaxPieceBytes, blob.size_bytes() - offset);
      request.set_offset(offset);
      request.set_data(std::string(blob.Part(offset, size).bytes()));
      // The reason is in the status below.
      if (!writer->Write(request)) break;
      request.clear_digest();
      offset += size;
    } while (offset < blob.size_bytes());
    writer->WritesDone();
    return FromGrpc(writer->Finish());
  }

 private:
  const std::string token_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::AgentService::StubInterface> agents_;
  const std::unique_ptr<v1::BlobService::StubInterface> blobs_;
};

}  // namespace

std::unique_ptr<AgentTransport> MakeGrpcAgentTransport(const std::string& server,
                                                       const std::string& token) {
  return std::make_unique<GrpcAgentTransport>(server, token);
}

}  // namespace slipway
