// Statements on programs: how a server says who made one, and how an agent checks that before it runs it.
#ifndef SLIPWAY_CORE_RPC_PROGRAM_STATEMENT_H_
#define SLIPWAY_CORE_RPC_PROGRAM_STATEMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/identity/signed_statement.h"
#include "proto/slipway/v1/statement.pb.h"

namespace slipway {

// The purpose of statements on programs.
inline constexpr char kProgramPurpose[] = "slipway program 1";

v1::SignedStatement ToProto(const SignedStatement& statement);
SignedStatement FromProto(const v1::SignedStatement& statement);

// Says that a worker of this server has compiled the program. `target` is canonical; `worker` an id. Errors of
// StatementSigner::Sign.
absl::StatusOr<v1::SignedStatement> SignCompiled(const StatementSigner& signer,
                                                 const Digest& manifest, absl::string_view target,
                                                 absl::string_view compile_key,
                                                 absl::string_view worker, absl::Time now);
// Says that `owner` wants the program to be run. The same otherwise.
absl::StatusOr<v1::SignedStatement> SignBrought(const StatementSigner& signer,
                                                const Digest& manifest, absl::string_view target,
                                                absl::string_view owner, absl::Time now);

// What the statement says. PERMISSION_DENIED, saying why, unless it is one of the checker's authority on this program, and says
// who made it.
absl::StatusOr<v1::ProgramStatement> CheckProgramStatement(const StatementChecker& checker,
                                                           const v1::SignedStatement& statement,
                                                           const Digest& manifest,
                                                           absl::string_view target);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_PROGRAM_STATEMENT_H_
