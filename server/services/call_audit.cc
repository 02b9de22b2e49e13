#include "server/services/call_audit.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/audit/audit_entry.h"

namespace slipway::server {
namespace {

bool IsRefusal(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
}

AuditEntry EntryOf(const Caller& caller, Rpc rpc, const absl::Status& status, std::string subject) {
  return {.owner = caller.owner,
          .identity = caller.identity,
          .address = caller.address,
          .call = std::string(absl::StripPrefix(RowOf(rpc).method, "slipway.v1.")),
          .subject = std::move(subject),
          .outcome = absl::StatusCodeToString(status.code()),
          .message = std::string(status.message()),
          .request_id = caller.request_id};
}

}  // namespace

void CallAudit::Tell(const Caller& caller, Rpc rpc, const absl::Status& status,
                     std::string subject) const {
  if (RowOf(rpc).audited && !IsRefusal(status)) {
    log_.Append(EntryOf(caller, rpc, status, std::move(subject)));
  } else {
    TellRefusal(caller, rpc, status, std::move(subject));
  }
}

void CallAudit::TellRefusal(const Caller& caller, Rpc rpc, const absl::Status& status,
                            std::string subject) const {
  if (!IsRefusal(status)) return;
  log_.AppendRefusal(EntryOf(caller, rpc, status, std::move(subject)));
}

void CallAudit::TellJoin(const Join& join, const absl::Status& status) const {
  AuditEntry entry = {.owner = std::string(join.name),
                      .identity = std::string(join.identity),
                      .address = std::string(join.address),
                      .call = "join",
                      .subject = std::string(join.role),
                      .outcome = absl::StatusCodeToString(status.code()),
                      .message = std::string(status.message())};
  if (status.ok()) {
    log_.Append(std::move(entry));
  } else {
    log_.AppendRefusal(std::move(entry));
  }
}

void CallAudit::TellFlood(absl::string_view name, absl::string_view identity,
                          absl::string_view address) const {
  log_.AppendRefusal({.owner = std::string(name),
                      .identity = std::string(identity),
                      .address = std::string(address),
                      .call = "flood",
                      .outcome = absl::StatusCodeToString(absl::StatusCode::kResourceExhausted),
                      .message = "begins and cancels calls faster than anybody who means them; "
                                 "all his connections were ended"});
}

}  // namespace slipway::server
