// ProgramGate: which programs an agent takes: those that the server it has joined vouches for.
#ifndef SLIPWAY_DEVICE_AGENT_PROGRAM_GATE_H_
#define SLIPWAY_DEVICE_AGENT_PROGRAM_GATE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "core/artifact/checked_manifest.h"
#include "core/base/digest.h"
#include "core/identity/signed_statement.h"
#include "proto/slipway/v1/statement.pb.h"

namespace slipway {

// Thread-safe. An agent that has joined no server has none.
class ProgramGate {
 public:
  // `authority`: PEM, of the server that the agent has joined. With `compiled_only` no program is let in that a worker of
  // that server has not compiled. INVALID_ARGUMENT when `authority` is none.
  static absl::StatusOr<std::unique_ptr<ProgramGate>> Create(absl::string_view authority,
                                                             bool compiled_only);

  // Whether the program was let in before: what is said of a digest stays true.
  bool HasLetIn(const Digest& manifest) const;
  // OK when it was let in before, or the statement says that it may. PERMISSION_DENIED names the program, what is wrong and what
  // to do.
  absl::Status LetIn(const CheckedManifest& program, const v1::SignedStatement& statement);

 private:
  ProgramGate(std::unique_ptr<StatementChecker> checker, bool compiled_only)
      : checker_(std::move(checker)), compiled_only_(compiled_only) {}

  const std::unique_ptr<StatementChecker> checker_;
  const bool compiled_only_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<Digest> let_in_ ABSL_GUARDED_BY(mutex_);
};

// The refusal of a program that comes without a statement.
absl::Status NotVouchedFor(const Digest& manifest);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_PROGRAM_GATE_H_
