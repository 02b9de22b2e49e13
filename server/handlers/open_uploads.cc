#include "server/handlers/open_uploads.h"

#include <iterator>

namespace slipway::server {

template <typename May>
bool OpenUploads::LetGoOf(May may) {
  for (Entry& entry : entries_) {
    if (!may(entry) || !entry.upload->LetGo()) continue;
    Remove(entry.upload);
    return true;
  }
  return false;
}

void OpenUploads::Used(OpenUpload* upload, const std::string& owner) {
  absl::MutexLock lock(&mu_);
  Remove(upload);
  entries_.push_back({upload, owner, clock_.Monotonic()});
  index_[upload] = std::prev(entries_.end());
  const int of_owner = ++by_owner_[owner];
  const auto is_another = [upload](const Entry& entry) { return entry.upload != upload; };
  if (of_owner > limits_.of_owner) {
    LetGoOf([&](const Entry& entry) { return is_another(entry) && entry.owner == owner; });
  }
  if (static_cast<int>(entries_.size()) > limits_.in_all) LetGoOf(is_another);
}

void OpenUploads::Closed(OpenUpload* upload) {
  absl::MutexLock lock(&mu_);
  Remove(upload);
}

void OpenUploads::CloseIdle() {
  absl::MutexLock lock(&mu_);
  const absl::Duration limit = clock_.Monotonic() - limits_.idle;
  while (LetGoOf([limit](const Entry& entry) { return entry.used < limit; })) {
  }
}

int OpenUploads::size() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int>(entries_.size());
}

void OpenUploads::Remove(OpenUpload* upload) {
  const auto found = index_.find(upload);
  if (found == index_.end()) return;
  const auto owner = by_owner_.find(found->second->owner);
  if (--owner->second == 0) by_owner_.erase(owner);
  entries_.erase(found->second);
  index_.erase(found);
}

}  // namespace slipway::server
