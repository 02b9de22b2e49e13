#include "server/handlers/list_request.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/identity/role.h"
#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {

absl::StatusOr<PageLimits> PageListed(int page_size) {
  if (page_size < 0 || page_size > kMaxPageSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("page_size is ", page_size, "; 0 to ", kMaxPageSize, " wanted"));
  }
  return PageLimits{.items = page_size == 0 ? kDefaultPageSize : page_size,
                    .bytes = kMaxPageBytes,
                    .rows = kMaxPageRows};
}

absl::StatusOr<std::string> OwnerListed(const Caller& caller, absl::string_view things,
                                        absl::string_view owner, bool of_everybody) {
  if (owner.empty() && !of_everybody) return caller.owner;
  if (owner != caller.owner && !caller.roles.Has(Role::kAdmin)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "'", caller.owner, "' is not ", RoleName(Role::kAdmin), ", as listing the ", things, " of ",
        owner.empty() ? "everybody" : "others", " wants: list your own, or ask an administrator"));
  }
  return std::string(owner);
}

absl::StatusOr<std::string> IdListed(absl::string_view what, const std::string& id) {
  if (!id.empty()) SLIPWAY_RETURN_IF_ERROR(CheckPeerId(what, id));
  return id;
}

absl::StatusOr<absl::Time> TimeListed(absl::string_view what, int64_t time_ns,
                                      absl::Time otherwise) {
  if (time_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is ", time_ns, "; nanoseconds since 1970 wanted"));
  }
  return time_ns == 0 ? otherwise : absl::FromUnixNanos(time_ns);
}

}  // namespace slipway::server
