#include "client/cli/turns.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/open_session.h"
#include "client/cli/programs_in_turns.h"
#include "client/cli/progress.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"

namespace slipway::cli {
absl::Status CheckTakesTheSame(const ArtifactSummary& a, const ArtifactSummary& b) {
  bool is_same = a.inputs.size() == b.inputs.size();
  for (size_t i = 0; is_same && i < a.inputs.size(); ++i) {
    is_same = a.inputs[i].type == b.inputs[i].type;
  }
  if (is_same) return absl::OkStatus();
  const auto list = [](const ArtifactSummary& artifact) {
    std::string text;
    for (const NamedType& input : artifact.inputs) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", input.name, ": ", ToString(input.type));
    }
    return absl::StrCat("(", text, ")");
  };
  return absl::InvalidArgumentError(
      absl::StrCat("A and B take different inputs: ", list(a), " and ", list(b)));
}

absl::StatusOr<TurnsResult> RunTurns(Environment& environment, Connection& connection,
                                     const Turns& turns) {
  SessionFlags session_flags;
  session_flags.device = turns.device;
  session_flags.target = turns.a.target;
  session_flags.purpose = turns.purpose;
  session_flags.tags = turns.tags;
  session_flags.priority = turns.priority;
  SLIPWAY_ASSIGN_OR_RETURN(Session session, OpenDevice(environment, connection, session_flags));
  ProgramsInTurns programs(session, turns.a.inputs, turns.inputs, turns.seed, turns.threads);
  if (environment.interrupts != nullptr) {
    environment.interrupts->SetHandler([&programs] { programs.Interrupt(); });
  }
  absl::StatusOr<Comparison> comparison;
  {
    Progress progress(environment);
    const SystemClock clock;
    int64_t rounds = 0;
    comparison = ComparePrograms(
        [&](absl::Span<const Side> order, int samples) {
          progress.Show({.stage = absl::StrCat("comparing on ", session.device()),
                         .detail = absl::StrCat(rounds++, " rounds")});
          return programs.Time(turns.a.digest, turns.b.digest, order,
                               {.call = {}, .warmup = 1, .samples = samples});
        },
        turns.options, clock);
  }
  if (environment.interrupts != nullptr) environment.interrupts->SetHandler(nullptr);
  SLIPWAY_RETURN_IF_ERROR(comparison.status());
  TurnsResult result = {.comparison = *std::move(comparison), .device = session.device()};
  // What was measured stands, even if the server is gone by now.
  session.Close().IgnoreError();
  return result;
}

}  // namespace slipway::cli
