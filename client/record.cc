#include "client/record.h"

#include "client/convert.h"
#include "core/base/status_macros.h"
#include "core/rpc/record_statement.h"
#include "core/wire/record_file.h"

namespace slipway {

absl::StatusOr<CheckedRecord> CheckRecord(absl::string_view file, const StatementChecker& checker) {
  SLIPWAY_ASSIGN_OR_RETURN(const v1::SignedRecord record, ParseRecord(file));
  SLIPWAY_RETURN_IF_ERROR(CheckRecordStatement(checker, record));
  v1::HistoryEntry entry;
  if (!entry.ParseFromString(record.entry())) {
    return absl::DataLossError("what the record holds cannot be read, though it was signed so");
  }
  CheckedRecord checked = {.signed_at = absl::FromUnixNanos(record.statement().time_ns())};
  SLIPWAY_ASSIGN_OR_RETURN(checked.entry, HistoryEntryFromProto(entry));
  return checked;
}

}  // namespace slipway
