#include "device_agent/session/session_log.h"

#include <algorithm>

#include "core/wire/session_messages.h"
#include "proto/slipway/v1/session.pb.h"

namespace slipway {
namespace {

absl::Duration TimeFor(int64_t bytes) {
  return absl::Seconds(1) * bytes / SessionLog::kBytesPerSecond;
}

}  // namespace

absl::Cord SessionLog::Next(absl::Duration now) {
  if (lines_.is_empty() || under_way_.is_busy() || now < due()) return {};
  v1::SessionResponse news;
  news.mutable_log()->set_text(lines_.Take());
  paid_until_ =
      std::max(paid_until_, now) + TimeFor(static_cast<int64_t>(news.log().text().size()));
  return under_way_.Send(WriteSessionResponse(news));
}

absl::Duration SessionLog::due() const {
  if (lines_.is_empty() || under_way_.is_busy()) return absl::InfiniteDuration();
  return paid_until_ - TimeFor(kBurstBytes);
}

}  // namespace slipway
