#include "core/wire/status_proto.h"

#include "core/base/check.h"
#include "core/base/utf8.h"

namespace slipway {
v1::JobError ToProto(const absl::Status& status, absl::string_view log) {
  SLIPWAY_CHECK(!status.ok(), "an OK status is no failure");
  if (log.size() > kMaxLogTailBytes) log.remove_prefix(log.size() - kMaxLogTailBytes);
  v1::JobError error;
  error.set_code(static_cast<int>(status.code()));
  // What a crashing process wrote is anything.
  error.set_message(ToUtf8(status.message()));
  error.set_log_tail(ToUtf8(log));
  return error;
}

absl::Status FromProto(const v1::JobError& error) {
  const auto code = static_cast<absl::StatusCode>(error.code());
  if (code < absl::StatusCode::kCancelled || code > absl::StatusCode::kUnauthenticated) {
    return absl::InternalError(error.message());
  }
  return absl::Status(code, error.message());
}

}  // namespace slipway
