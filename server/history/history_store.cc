#include "server/history/history_store.h"

#include "absl/strings/str_cat.h"

namespace slipway::server {

absl::Status NoSuchEntry(absl::string_view id) {
  return absl::NotFoundError(
      absl::StrCat("the history has no '", id,
                   "': no benchmark of this id has succeeded, or it was dropped for newer ones"));
}

}  // namespace slipway::server
