// SessionWire: a connection of a session as it is spoken, by a client that may do whatever it likes.
#ifndef SLIPWAY_TESTS_COMMON_GRPC_SESSION_WIRE_H_
#define SLIPWAY_TESTS_COMMON_GRPC_SESSION_WIRE_H_

#include <grpcpp/create_channel.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/rpc/grpc_settings.h"
#include "core/rpc/grpc_status.h"
#include "core/wire/tensor_proto.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/session.grpc.pb.h"

namespace slipway::testing {

// Not thread-safe, but one thread may write while another reads. Ends after a while, whatever happens.
class SessionWire {
 public:
  explicit SessionWire(const std::string& address, const std::string& token = "")
      : stub_(v1::SessionService::NewStub(grpc::CreateCustomChannel(
            address, grpc::InsecureChannelCredentials(), ClientChannelArguments()))) {
    context_.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    if (!token.empty()) context_.AddMetadata("authorization", absl::StrCat("Bearer ", token));
    stream_ = stub_->Open(&context_);
  }
  ~SessionWire() {
    if (!is_finished_) Finish().IgnoreError();
  }

  void Send(const v1::SessionRequests& requests) { stream_->Write(requests); }
  void Send(v1::SessionRequest request, uint64_t acked = 0) {
    v1::SessionRequests requests;
    requests.set_acked(acked);
    requests.add_requests()->Swap(&request);
    Send(requests);
  }
  // Numbers it.
  uint64_t Ask(v1::SessionRequest request) {
    request.set_id(++last_);
    Send(std::move(request));
    return last_;
  }
  // But for the log.
  v1::SessionResponse Next() {
    while (true) {
      while (next_ >= responses_.responses_size()) {
        next_ = 0;
        if (!stream_->Read(&responses_)) return {};
      }
      if (!responses_.responses(next_).has_log()) return responses_.responses(next_++);
      ++next_;
    }
  }
  v1::SessionResponse Do(v1::SessionRequest request) {
    const uint64_t id = Ask(std::move(request));
    v1::SessionResponse response = Next();
    EXPECT_EQ(response.id(), id) << response.ShortDebugString();
    return response;
  }
  absl::Status Finish() {
    is_finished_ = true;
    context_.TryCancel();
    return FromGrpc(stream_->Finish());
  }
  // Of a call that the agent ends.
  absl::Status End() {
    while (stream_->Read(&responses_)) {
    }
    is_finished_ = true;
    return FromGrpc(stream_->Finish());
  }

  uint64_t last_ = 0;

 private:
  std::unique_ptr<v1::SessionService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::SessionRequests, v1::SessionResponses>> stream_;
  v1::SessionResponses responses_;
  int next_ = 0;
  bool is_finished_ = false;
};

inline v1::SessionRequest OpenFor(absl::Duration idle) {
  v1::SessionRequest request;
  request.mutable_open()->set_idle_ns(absl::ToInt64Nanoseconds(idle));
  return request;
}
inline v1::SessionRequest AllocateOf(uint64_t handle, const TensorType& type) {
  v1::SessionRequest request;
  request.mutable_allocate()->set_tensor(handle);
  *request.mutable_allocate()->mutable_type() = ToProto(type);
  return request;
}
inline v1::SessionRequest WriteOf(uint64_t handle, const std::string& data) {
  v1::SessionRequest request;
  request.mutable_write()->set_tensor(handle);
  request.set_data(data);
  return request;
}
inline v1::SessionRequest ReadOf(uint64_t handle, int64_t size) {
  v1::SessionRequest request;
  request.mutable_read()->set_tensor(handle);
  request.mutable_read()->set_size(size);
  return request;
}
inline v1::SessionRequest CallOf(uint64_t program, uint64_t input, uint64_t output) {
  v1::SessionRequest request;
  request.mutable_call()->set_program(program);
  request.mutable_call()->add_inputs(input);
  request.mutable_call()->add_outputs(output);
  return request;
}

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_COMMON_GRPC_SESSION_WIRE_H_
