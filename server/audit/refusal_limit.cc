#include "server/audit/refusal_limit.h"

#include <utility>

namespace slipway::server {

bool RefusalLimit::LetIn(absl::string_view address, absl::Duration now) {
  if (now - began_ >= kMinute) {
    began_ = now;
    written_ = 0;
    of_host_.clear();
  }
  if (written_ < kMost) {
    int& of_host = of_host_[address.substr(0, address.rfind(':'))];
    if (of_host < kMostOfAddress) {
      ++of_host;
      ++written_;
      return true;
    }
  }
  ++left_out_;
  return false;
}

int64_t RefusalLimit::TakeLeftOut(absl::Duration now) {
  return now - began_ < kMinute ? 0 : TakeLeftOut();
}

int64_t RefusalLimit::TakeLeftOut() { return std::exchange(left_out_, 0); }

}  // namespace slipway::server
