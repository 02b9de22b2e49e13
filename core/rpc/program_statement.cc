#include "core/rpc/program_statement.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

v1::ProgramStatement About(const Digest& manifest, absl::string_view target) {
  v1::ProgramStatement program;
  *program.mutable_manifest() = ToProto(manifest);
  program.set_target(std::string(target));
  return program;
}

absl::StatusOr<v1::SignedStatement> Sign(const StatementSigner& signer,
                                         const v1::ProgramStatement& program, absl::Time now) {
  SLIPWAY_ASSIGN_OR_RETURN(const SignedStatement statement,
                           signer.Sign(kProgramPurpose, program.SerializeAsString(), now));
  return ToProto(statement);
}

}  // namespace

v1::SignedStatement ToProto(const SignedStatement& statement) {
  v1::SignedStatement proto;
  proto.set_payload(statement.payload);
  proto.set_time_ns(absl::ToUnixNanos(statement.time));
  proto.set_certificate(statement.certificate);
  proto.set_signature(statement.signature);
  return proto;
}

SignedStatement FromProto(const v1::SignedStatement& statement) {
  return {.payload = statement.payload(),
          .time = absl::FromUnixNanos(statement.time_ns()),
          .certificate = statement.certificate(),
          .signature = statement.signature()};
}

absl::StatusOr<v1::SignedStatement> SignCompiled(const StatementSigner& signer,
                                                 const Digest& manifest, absl::string_view target,
                                                 absl::string_view compile_key,
                                                 absl::string_view worker, absl::Time now) {
  v1::ProgramStatement program = About(manifest, target);
  program.mutable_compiled()->set_compile_key(std::string(compile_key));
  program.mutable_compiled()->set_worker(std::string(worker));
  return Sign(signer, program, now);
}

absl::StatusOr<v1::SignedStatement> SignBrought(const StatementSigner& signer,
                                                const Digest& manifest, absl::string_view target,
                                                absl::string_view owner, absl::Time now) {
  v1::ProgramStatement program = About(manifest, target);
  program.mutable_brought()->set_owner(std::string(owner));
  return Sign(signer, program, now);
}

absl::StatusOr<v1::ProgramStatement> CheckProgramStatement(const StatementChecker& checker,
                                                           const v1::SignedStatement& statement,
                                                           const Digest& manifest,
                                                           absl::string_view target) {
  SLIPWAY_RETURN_IF_ERROR(checker.Check(FromProto(statement), kProgramPurpose));
  v1::ProgramStatement program;
  if (!program.ParseFromString(statement.payload()) ||
      program.maker_case() == v1::ProgramStatement::MAKER_NOT_SET) {
    return absl::PermissionDeniedError("the statement does not say who made the program");
  }
  const absl::StatusOr<Digest> about = FromProto(program.manifest());
  if (!about.ok() || *about != manifest) {
    return absl::PermissionDeniedError(absl::StrCat("the statement is about ",
                                                    about.ok() ? about->ToString() : "no program",
                                                    ", not about ", manifest.ToString()));
  }
  if (program.target() != target) {
    return absl::PermissionDeniedError(absl::StrCat("the statement is about a program for \"",
                                                    absl::Utf8SafeCEscape(program.target()),
                                                    "\", not for \"", target, "\""));
  }
  return program;
}

}  // namespace slipway
