// CallAudit: tells the audit log what becomes of calls.
#ifndef SLIPWAY_SERVER_SERVICES_CALL_AUDIT_H_
#define SLIPWAY_SERVER_SERVICES_CALL_AUDIT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/audit/audit_log.h"
#include "server/caller.h"
#include "server/services/access.h"

namespace slipway::server {

// Thread-safe; a copy is as good. A call is told before it is answered, so that who has the answer finds its line.
class CallAudit {
 public:
  // The log must outlive this.
  explicit CallAudit(AuditLog* log) : log_(*log) {}

  // What became of a call: one that was refused (UNAUTHENTICATED, PERMISSION_DENIED), or any whose row is audited. `subject` is
  // what it was about, AuditEntry::subject.
  void Tell(const Caller& caller, Rpc rpc, const absl::Status& status, std::string subject) const;
  // The same of a call that changes nothing, whatever its row says.
  void TellRefusal(const Caller& caller, Rpc rpc, const absl::Status& status,
                   std::string subject) const;

  struct Join {
    absl::string_view name;  // Whose it is from now on; and the id of his record. Empty: nobody's.
    absl::string_view identity;
    absl::string_view role;  // As what he asked to join.
    absl::string_view address;
  };
  // Somebody was at the join door. Whoever is not let in counts as refused, whatever the code.
  void TellJoin(const Join& join, const absl::Status& status) const;

  // Somebody was shut out for a time, because he flooded the server with calls. Name and identity are empty for who has proven neither.
  void TellFlood(absl::string_view name, absl::string_view identity,
                 absl::string_view address) const;

 private:
  AuditLog& log_;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_CALL_AUDIT_H_
