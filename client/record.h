// Records: results of the history that a server has signed, which anybody who trusts its authority can check without it.
#ifndef SLIPWAY_CLIENT_RECORD_H_
#define SLIPWAY_CLIENT_RECORD_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/types.h"
#include "core/identity/signed_statement.h"

namespace slipway {

// What a record says, and when its server said so.
struct CheckedRecord {
  HistoryEntry entry;  // With its samples.
  absl::Time signed_at;
};

// Of a file that Client::GetRecord gave. Errors of ParseRecord (core/wire/record_file.h) for what is no whole record, of CheckRecordStatement
// (core/rpc/record_statement.h) for what the checker's authority does not vouch for: altered, another authority's, or signed
// at another time.
absl::StatusOr<CheckedRecord> CheckRecord(absl::string_view file, const StatementChecker& checker);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_RECORD_H_
