#include "server/handlers/open_downloads.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace slipway::server {

absl::Status OpenDownloads::Begin(absl::string_view owner) {
  absl::MutexLock lock(&mu_);
  int& of_owner = by_owner_[owner];
  if (count_ < limits_.in_all && of_owner < limits_.of_owner) {
    ++count_;
    ++of_owner;
    return absl::OkStatus();
  }
  const bool is_full = count_ >= limits_.in_all;
  if (of_owner == 0) by_owner_.erase(owner);
  return absl::UnavailableError(
      is_full ? absl::StrCat(limits_.in_all, " blobs are being read, as many as may be at a time")
              : absl::StrCat(limits_.of_owner, " blobs are being read for '", owner,
                             "', as many as may be at a time"));
}

void OpenDownloads::End(absl::string_view owner) {
  absl::MutexLock lock(&mu_);
  --count_;
  const auto found = by_owner_.find(owner);
  if (--found->second == 0) by_owner_.erase(found);
}

int64_t OpenDownloads::PieceBytes() const {
  absl::MutexLock lock(&mu_);
  return std::clamp(limits_.bytes / std::max(count_, 1), limits_.least_piece,
                    limits_.largest_piece);
}

}  // namespace slipway::server
