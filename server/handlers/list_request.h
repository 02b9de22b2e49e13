// What requests for lists have in common, checked.
#ifndef SLIPWAY_SERVER_HANDLERS_LIST_REQUEST_H_
#define SLIPWAY_SERVER_HANDLERS_LIST_REQUEST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/caller.h"
#include "server/page.h"

namespace slipway::server {

// INVALID_ARGUMENT for a page_size out of range.
absl::StatusOr<PageLimits> PageListed(int page_size);

// Whose `things` ("jobs") are listed: `owner`'s; where none is named those of the caller, or of everybody, which is "". PERMISSION_DENIED when
// these are another's and the caller is no administrator.
absl::StatusOr<std::string> OwnerListed(const Caller& caller, absl::string_view things,
                                        absl::string_view owner, bool of_everybody);

// The id of a device or worker; empty: any. INVALID_ARGUMENT for what is none.
absl::StatusOr<std::string> IdListed(absl::string_view what, const std::string& id);

// Nanoseconds since 1970; 0: `otherwise`. INVALID_ARGUMENT for a negative one.
absl::StatusOr<absl::Time> TimeListed(absl::string_view what, int64_t time_ns,
                                      absl::Time otherwise);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_LIST_REQUEST_H_
