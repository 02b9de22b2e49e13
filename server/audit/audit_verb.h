// slipwayd audit: shows who did what at a server of this machine.
#ifndef SLIPWAY_SERVER_AUDIT_AUDIT_VERB_H_
#define SLIPWAY_SERVER_AUDIT_AUDIT_VERB_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace slipway::server {

// Is run with the arguments after its name; what was asked for goes to `out`, what people want to know besides to `err`.
// INVALID_ARGUMENT when it was called wrongly; errors of ReadAuditLog.
absl::Status AuditVerb(absl::Span<const std::string> arguments, absl::Time now, std::ostream& out,
                       std::ostream& err);

// "90m", "24h" or "7d" before `now`; or "2026-11-23", "2026-11-23 10:00:00" (UTC) or RFC 3339. INVALID_ARGUMENT.
absl::StatusOr<absl::Time> ParseSince(absl::string_view text, absl::Time now);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_AUDIT_AUDIT_VERB_H_
