#include "core/rpc/record_statement.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/rpc/program_statement.h"
#include "core/wire/digest_proto.h"
#include "proto/slipway/v1/statement.pb.h"

namespace slipway {

absl::StatusOr<v1::SignedRecord> SignRecord(const StatementSigner& signer, std::string entry,
                                            absl::Time now) {
  v1::RecordStatement said;
  *said.mutable_entry() = ToProto(Digest::Of(entry));
  SLIPWAY_ASSIGN_OR_RETURN(const SignedStatement statement,
                           signer.Sign(kRecordPurpose, said.SerializeAsString(), now));
  v1::SignedRecord record;
  *record.mutable_statement() = ToProto(statement);
  record.set_entry(std::move(entry));
  return record;
}

absl::Status CheckRecordStatement(const StatementChecker& checker, const v1::SignedRecord& record) {
  const SignedStatement statement = FromProto(record.statement());
  SLIPWAY_RETURN_IF_ERROR_WITH(checker.Check(statement, kRecordPurpose),
                               "the authority does not vouch for the record");
  v1::RecordStatement said;
  if (!said.ParseFromString(statement.payload)) {
    return absl::DataLossError("what was signed of the record cannot be read");
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const Digest signed_digest, FromProto(said.entry()),
                                "what was signed of the record");
  const Digest digest = Digest::Of(record.entry());
  if (digest == signed_digest) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the record was altered: what it holds has the digest ",
                                          digest.hex(), ", and what was signed has ",
                                          signed_digest.hex()));
}

}  // namespace slipway
