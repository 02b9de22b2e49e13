// AuditEntry: who did what, when and from where; one line of the audit log.
#ifndef SLIPWAY_SERVER_AUDIT_AUDIT_ENTRY_H_
#define SLIPWAY_SERVER_AUDIT_AUDIT_ENTRY_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace slipway::server {

// Texts may come from anybody and hold anything. Empty: unknown, or there is none.
struct AuditEntry {
  absl::Time time;
  std::string owner;     // Caller::owner.
  std::string identity;  // The id of his record, also of one that was refused.
  std::string address;   // Where the call came from, as gRPC names it.
  std::string call;      // "RunService.CreateRun"; "join" at the join door.
  std::string subject;   // What it was about: a job, a device, a name.
  std::string outcome;   // The name of a status code.
  std::string message;   // Of what is not OK.
  std::string request_id;
};

// A longer text is cut to so many bytes, the last of them "...".
inline constexpr size_t kMaxAuditTextBytes = 256;
// No line is longer: each byte of a text is six at most.
inline constexpr size_t kMaxAuditLineBytes = 16 << 10;

// A JSON object of texts in one line, which ends in a newline. Times are of RFC 3339, in UTC; what is empty is left out. No
// line holds another control character.
std::string FormatAuditLine(const AuditEntry& entry);

// Reads a line, without its newline; texts of other names are passed over. None for one that is damaged.
absl::optional<AuditEntry> ParseAuditLine(absl::string_view line);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_AUDIT_AUDIT_ENTRY_H_
