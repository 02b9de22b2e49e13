#include "device_agent/session/leased_session.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace slipway {

void LeasedSession::Begin(std::shared_ptr<SessionHost> host) {
  absl::MutexLock lock(&mutex_);
  host_ = std::move(host);
}

void LeasedSession::End() {
  std::shared_ptr<SessionHost> host;
  absl::MutexLock lock(&mutex_);
  // Its thread may end with it.
  host.swap(host_);
}

void LeasedSession::Enter(const v1::SessionRequest& first,
                          std::shared_ptr<SessionConnection> connection) {
  if (first.has_open()) {
    return connection->End(absl::FailedPreconditionError(
        "this agent takes sessions from its server alone: open the session there"));
  }
  if (!first.has_resume()) {
    return connection->End(
        absl::FailedPreconditionError("a connection of a session begins with open or resume"));
  }
  std::shared_ptr<SessionHost> host;
  {
    absl::MutexLock lock(&mutex_);
    host = host_;
  }
  if (host == nullptr || host->terms().session != first.resume().session()) {
    return connection->End(absl::NotFoundError(
        absl::StrCat("there is no session ", absl::Utf8SafeCEscape(first.resume().session()),
                     ": its lease has ended, or this is another device")));
  }
  host->Resume(first.resume(), std::move(connection));
}

}  // namespace slipway
