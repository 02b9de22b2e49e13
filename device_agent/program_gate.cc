#include "device_agent/program_gate.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/rpc/program_statement.h"

namespace slipway {
namespace {

// All are forgotten beyond that: a check takes a fraction of a millisecond.
constexpr size_t kMaxKnown = 4096;

absl::Status Refused(const Digest& manifest, absl::string_view why) {
  return absl::PermissionDeniedError(
      absl::StrCat("this device does not take program ", manifest.ToString(), ": ", why));
}

}  // namespace

absl::Status NotVouchedFor(const Digest& manifest) {
  return Refused(manifest,
                 "it comes without a statement of the server that the agent has joined: update the "
                 "server if it is older than the agent; else what stands between the two leaves it "
                 "out");
}

absl::StatusOr<std::unique_ptr<ProgramGate>> ProgramGate::Create(absl::string_view authority,
                                                                 bool compiled_only) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<StatementChecker> checker,
                           StatementChecker::Create(authority));
  return std::unique_ptr<ProgramGate>(new ProgramGate(std::move(checker), compiled_only));
}

bool ProgramGate::HasLetIn(const Digest& manifest) const {
  absl::MutexLock lock(&mutex_);
  return let_in_.contains(manifest);
}

absl::Status ProgramGate::LetIn(const CheckedManifest& program,
                                const v1::SignedStatement& statement) {
  const Digest& manifest = program.digest();
  if (HasLetIn(manifest)) return absl::OkStatus();
  if (statement.signature().empty()) return NotVouchedFor(manifest);
  const absl::StatusOr<v1::ProgramStatement> said =
      CheckProgramStatement(*checker_, statement, manifest, program.target().ToString());
  if (absl::IsInternal(said.status())) return said.status();
  if (!said.ok()) {
    return Refused(
        manifest, absl::StrCat("the server that the agent has joined does not vouch for it, since ",
                               said.status().message(),
                               ": what stands between the two changes what it sends, or the "
                               "server has another authority now, and the agent has to join it "
                               "again (slipway-agent join)"));
  }
  if (compiled_only_ && !said->has_compiled()) {
    return Refused(
        manifest,
        absl::StrCat("it was brought by \"", absl::Utf8SafeCEscape(said->brought().owner()),
                     "\", and only those that a worker of the server has compiled are taken "
                     "(--programs compiled): compile the model with the server"));
  }
  absl::MutexLock lock(&mutex_);
  if (let_in_.size() >= kMaxKnown) let_in_.clear();
  let_in_.insert(manifest);
  return absl::OkStatus();
}

}  // namespace slipway
