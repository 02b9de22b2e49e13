#include "client/session/response_status.h"

#include "absl/strings/cord.h"
#include "core/wire/status_proto.h"

namespace slipway {
namespace {

constexpr absl::string_view kLogPayload = "slipway.v1.SessionResponse.log_tail";

}  // namespace

absl::Status ErrorOf(const v1::SessionResponse& response) {
  if (response.code() == 0) return absl::OkStatus();
  v1::JobError error;
  error.set_code(response.code());
  error.set_message(response.message());
  absl::Status status = FromProto(error);
  if (!response.log_tail().empty()) {
    status.SetPayload(kLogPayload, absl::Cord(response.log_tail()));
  }
  return status;
}

std::string DeviceLogOf(const absl::Status& status) {
  const auto log = status.GetPayload(kLogPayload);
  return log.has_value() ? std::string(*log) : std::string();
}

}  // namespace slipway
