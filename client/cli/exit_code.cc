#include "client/cli/exit_code.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace slipway::cli {
namespace {

constexpr char kPayload[] = "slipway/exit_code";

}  // namespace

absl::Status WithExitCode(absl::Status status, ExitCode code) {
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(static_cast<int>(code))));
  return status;
}

absl::Status WithoutVerdict(absl::Status status) {
  if (ExitCodeOf(status) != ExitCode::kWorkFailed) return status;
  return WithExitCode(std::move(status), ExitCode::kNoVerdict);
}

absl::Status WrongCall(absl::string_view message) {
  return WithExitCode(absl::InvalidArgumentError(message), ExitCode::kWrongCall);
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kDone;
  if (const auto payload = status.GetPayload(kPayload); payload.has_value()) {
    for (const ExitCode code : {ExitCode::kWorkFailed, ExitCode::kWrongCall, ExitCode::kUnreachable,
                                ExitCode::kNoVerdict}) {
      if (*payload == absl::StrCat(static_cast<int>(code))) return code;
    }
  }
  if (absl::IsUnavailable(status)) return ExitCode::kUnreachable;
  if (absl::IsUnauthenticated(status)) return ExitCode::kWrongCall;
  return ExitCode::kWorkFailed;
}

}  // namespace slipway::cli
