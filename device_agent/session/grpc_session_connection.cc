#include "device_agent/session/grpc_session_connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/awake_clock.h"
#include "core/base/clock.h"
#include "core/wire/session_messages.h"
#include "device_agent/session/session_host.h"

namespace slipway {
namespace {

absl::Status NothingCame(absl::Duration patience) {
  return absl::DeadlineExceededError(absl::StrCat(
      "the connection did not say what it is for within ", absl::FormatDuration(patience)));
}

}  // namespace

void GrpcSessionConnection::Begin(std::shared_ptr<Duplex> duplex, absl::Duration patience) {
  {
    absl::MutexLock lock(&mutex_);
    duplex_ = std::move(duplex);
  }
  if (patience < absl::InfiniteDuration()) AwaitFirst(patience);
  ReadNext();
}

void GrpcSessionConnection::AwaitFirst(absl::Duration patience) {
  const absl::Duration until = SystemClock().Monotonic() + patience;
  alarm_.Set(absl::ToChronoTime(absl::Now() + patience),
             [self = shared_from_this(), patience, until](bool has_rung) {
               if (!has_rung || self->has_spoken_) return;
               // An alarm this late was slept through, and what came meanwhile waits to be read.
               if (SystemClock().Monotonic() - until > AwakeClock::kAsleep) {
                 // What it captured goes with the next one.
                 const std::shared_ptr<GrpcSessionConnection> live = self;
                 return live->AwaitFirst(patience);
               }
               self->End(NothingCame(patience));
             });
}

std::shared_ptr<Duplex> GrpcSessionConnection::duplex() const {
  absl::MutexLock lock(&mutex_);
  return duplex_;
}

void GrpcSessionConnection::Attached(std::shared_ptr<SessionHost> host) {
  absl::MutexLock lock(&mutex_);
  host_ = std::move(host);
}

void GrpcSessionConnection::Send(absl::Cord message, bool has_data) {
  // What a session may have under way bounds what waits.
  if (const std::shared_ptr<Duplex> to = duplex()) to->Send(std::move(message), has_data);
}

void GrpcSessionConnection::ReadNext() {
  if (const std::shared_ptr<Duplex> from = duplex()) from->ReadNext();
}

void GrpcSessionConnection::End(const absl::Status& status) {
  if (const std::shared_ptr<Duplex> ended = duplex()) ended->End(status);
}

void GrpcSessionConnection::Break() {
  if (const std::shared_ptr<Duplex> broken = duplex()) broken->Break();
}

void GrpcSessionConnection::OnMessage(absl::Cord message) {
  std::shared_ptr<SessionHost> host;
  {
    absl::MutexLock lock(&mutex_);
    host = host_;
  }
  if (host != nullptr) return host->Take(this, message);
  if (entrance_ == nullptr) return;  // It is being refused.
  if (has_spoken_.exchange(true)) return entrance_->Sent(this, message);
  alarm_.Cancel();
  const absl::StatusOr<SessionRequestParts> parts = ParseSessionRequests(message);
  if (!parts.ok()) return End(parts.status());
  if (parts->message.requests_size() != 1) {
    return End(absl::InvalidArgumentError(absl::StrCat("a connection begins with one request, not ",
                                                       parts->message.requests_size())));
  }
  entrance_->Enter(parts->message.requests(0), shared_from_this());
}

void GrpcSessionConnection::OnGone(const absl::Status& status) {
  std::shared_ptr<SessionHost> host;
  {
    absl::MutexLock lock(&mutex_);
    host = std::move(host_);
    duplex_ = nullptr;
  }
  if (host != nullptr) {
    host->Detach(this);
  } else if (entrance_ != nullptr) {
    entrance_->Left(this);
  }
  alarm_.Cancel();
  if (gone_) gone_(status);
}

}  // namespace slipway
