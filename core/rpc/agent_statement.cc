#include "core/rpc/agent_statement.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/program_statement.h"
#include "core/wire/digest_proto.h"

namespace slipway {

absl::StatusOr<v1::SignedStatement> SignAgent(const StatementSigner& signer,
                                              const OfferedBinary& offered, absl::Time now) {
  v1::AgentStatement agent;
  *agent.mutable_binary() = ToProto(offered.binary);
  agent.set_version(offered.version);
  agent.set_platform(offered.platform);
  SLIPWAY_ASSIGN_OR_RETURN(const SignedStatement statement,
                           signer.Sign(kAgentPurpose, agent.SerializeAsString(), now));
  return ToProto(statement);
}

absl::StatusOr<OfferedBinary> CheckAgentStatement(const StatementChecker& checker,
                                                  const v1::SignedStatement& statement,
                                                  absl::string_view platform) {
  SLIPWAY_RETURN_IF_ERROR(checker.Check(FromProto(statement), kAgentPurpose));
  v1::AgentStatement agent;
  if (!agent.ParseFromString(statement.payload())) {
    return absl::PermissionDeniedError("the statement does not say what it is about");
  }
  const absl::StatusOr<Digest> binary = FromProto(agent.binary());
  if (!binary.ok() || binary->size_bytes() > kMaxAgentBytes) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the statement is about ",
        binary.ok()
            ? absl::StrCat(binary->size_bytes(), " bytes; a binary has at most ", kMaxAgentBytes)
            : "no binary"));
  }
  if (agent.platform() != platform) {
    return absl::PermissionDeniedError(absl::StrCat("the statement is about a binary for \"",
                                                    absl::Utf8SafeCEscape(agent.platform()),
                                                    "\", not for \"", platform, "\""));
  }
  return OfferedBinary{.binary = *binary, .version = agent.version(), .platform = agent.platform()};
}

}  // namespace slipway
