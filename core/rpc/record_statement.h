// Statements on records: how a server vouches for what its history has, and how anybody who trusts its authority checks that.
#ifndef SLIPWAY_CORE_RPC_RECORD_STATEMENT_H_
#define SLIPWAY_CORE_RPC_RECORD_STATEMENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/identity/signed_statement.h"
#include "proto/slipway/v1/history.pb.h"

namespace slipway {

// The purpose of statements on records.
inline constexpr char kRecordPurpose[] = "slipway record 1";

// Says that the server's history has this entry, a serialized v1::HistoryEntry; by its digest, since it may be larger than a statement. Errors of
// StatementSigner::Sign.
absl::StatusOr<v1::SignedRecord> SignRecord(const StatementSigner& signer, std::string entry,
                                            absl::Time now);

// OK if a signer of the checker's authority has vouched for each byte of the entry. PERMISSION_DENIED, saying why, when the statement is
// none of it for this purpose, or is of a time at which its signer's certificate was not valid; DATA_LOSS when it is good, but of another
// entry: this one was altered.
absl::Status CheckRecordStatement(const StatementChecker& checker, const v1::SignedRecord& record);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_RECORD_STATEMENT_H_
