#include "server/memory_watch.h"

#include "absl/strings/str_cat.h"
#include "core/base/byte_size.h"
#include "core/base/log.h"

namespace slipway::server {

double MemoryWatch::Share() {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = parts_.clock->Monotonic();
  if (now < read_next_) return share_;
  read_next_ = now + kMemoryReadEvery;
  const auto read = [this] {
    return static_cast<double>(parts_.read()) / static_cast<double>(limit_);
  };
  double share = read();
  if (share >= kSoftMemoryShare && now >= give_back_next_) {
    give_back_next_ = now + kMemoryGiveBackEvery;
    parts_.give_back();
    share = read();
  }
  if ((share >= kSoftMemoryShare) != (share_ >= kSoftMemoryShare)) {
    Log(LogLevel::kWarning,
        share < kSoftMemoryShare ? "there is memory again"
                                 : "memory runs out: no new work is taken",
        {{"of_limit", absl::StrCat(static_cast<int>(share * 100), " %")},
         {"limit", RoundByteSize(limit_)}});
  }
  return share_ = share;
}

absl::Status MemoryWatch::Refusal() const {
  return absl::ResourceExhaustedError(
      absl::StrCat("the server's process has more than ", static_cast<int>(kSoftMemoryShare * 100),
                   " % of ", RoundByteSize(limit_),
                   " of memory, and begins nothing new: try again later; --memory-limit of the "
                   "server allows more"));
}

}  // namespace slipway::server
