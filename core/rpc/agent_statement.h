// Statements on binaries of the agent: how a server says that agents are to run one, and how an agent checks that.
#ifndef SLIPWAY_CORE_RPC_AGENT_STATEMENT_H_
#define SLIPWAY_CORE_RPC_AGENT_STATEMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/identity/signed_statement.h"
#include "proto/slipway/v1/statement.pb.h"

namespace slipway {

// The purpose of statements on binaries of the agent.
inline constexpr char kAgentPurpose[] = "slipway agent 1";

// Largest binary.
inline constexpr int64_t kMaxAgentBytes = int64_t{256} << 20;

struct OfferedBinary {
  Digest binary;
  std::string version;
  std::string platform;
};

// Errors of StatementSigner::Sign.
absl::StatusOr<v1::SignedStatement> SignAgent(const StatementSigner& signer,
                                              const OfferedBinary& offered, absl::Time now);

// What the statement says. PERMISSION_DENIED, saying why, unless it is one of the checker's authority on a binary of the agent for
// `platform`, of at most kMaxAgentBytes.
absl::StatusOr<OfferedBinary> CheckAgentStatement(const StatementChecker& checker,
                                                  const v1::SignedStatement& statement,
                                                  absl::string_view platform);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RPC_AGENT_STATEMENT_H_
