// Reads the audit log of a server, running or not.
#ifndef SLIPWAY_SERVER_AUDIT_AUDIT_READER_H_
#define SLIPWAY_SERVER_AUDIT_AUDIT_READER_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/audit/audit_entry.h"

namespace slipway::server {

struct AuditVisitor {
  absl::FunctionRef<void(AuditEntry entry)> entry;
  // A line that is damaged, and was passed over: the name of its file, and its number from 1.
  absl::FunctionRef<void(absl::string_view file, int64_t line)> damaged;
};

// Shows every entry of the folder that AuditLog::Open was given, the oldest first. Each is shown once, whatever is written
// meanwhile; memory does not grow with the files. NOT_FOUND when there is no log; errors of opening and reading the files.
absl::Status ReadAuditLog(const std::string& folder, const AuditVisitor& visitor);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_AUDIT_AUDIT_READER_H_
