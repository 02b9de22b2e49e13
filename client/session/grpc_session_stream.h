// GrpcSessionStream: one connection of a session, a gRPC call whose events come out of a completion queue.
#ifndef SLIPWAY_CLIENT_SESSION_GRPC_SESSION_STREAM_H_
#define SLIPWAY_CLIENT_SESSION_GRPC_SESSION_STREAM_H_

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/session/grpc_route.h"
#include "core/rpc/grpc_cord.h"

namespace slipway {

// What comes out of the queue of a session.
enum class GrpcSessionEvent : uintptr_t { kWritten = 1, kRead, kFinished, kAsked, kProbed };

inline void* ToTag(GrpcSessionEvent event) { return reinterpret_cast<void*>(event); }

// Not thread-safe. Destroy it once it is gone.
class GrpcSessionStream {
 public:
  // Begins with the message `first`. `wait` says whether a connection that does not come about is waited for.
  GrpcSessionStream(GrpcRoute& route, grpc::CompletionQueue& queue, bool wait,
                    const absl::Cord& first) {
    route.AddToken(context_);
    context_.set_wait_for_ready(wait);
    context_.set_initial_metadata_corked(true);  // They go with the first message.
    call_ = route.stub.PrepareCall(&context_, "/slipway.v1.SessionService/Open", &queue);
    call_->StartCall(nullptr);
    Write(first);
    call_->Read(&message_, ToTag(GrpcSessionEvent::kRead));
  }

  // REQUIRES: !is_writing().
  void Write(const absl::Cord& message) {
    is_writing_ = true;
    call_->Write(ToByteBuffer(message), ToTag(GrpcSessionEvent::kWritten));
  }
  bool is_writing() const { return is_writing_; }

  // The event of these names has come.
  void Written() { is_writing_ = false; }
  absl::Cord Read() {
    absl::Cord message = ToCord(message_);
    call_->Read(&message_, ToTag(GrpcSessionEvent::kRead));
    return message;
  }
  // Nothing more will be read: why?
  void ReadFailed() { call_->Finish(&status_, ToTag(GrpcSessionEvent::kFinished)); }
  void Finished() { is_finished_ = true; }

  void Cancel() { context_.TryCancel(); }
  // No event of it will come any more.
  bool is_gone() const { return is_finished_ && !is_writing_; }
  // REQUIRES: is_gone().
  const grpc::Status& status() const { return status_; }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::ByteBuffer message_;
  grpc::Status status_;
  bool is_writing_ = false;
  bool is_finished_ = false;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SESSION_GRPC_SESSION_STREAM_H_
