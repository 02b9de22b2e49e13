// What becomes of users of sessions (session_user.cc) while processes are struck.
#ifndef SLIPWAY_TESTS_INTEGRATION_SESSION_OUTCOME_H_
#define SLIPWAY_TESTS_INTEGRATION_SESSION_OUTCOME_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/types.h"
#include "tests/common/cluster.h"
#include "tests/integration/killer.h"

namespace slipway::testing {

inline constexpr char kSessionUser[] = "session_user";
// Of the leases that users hold: longer than it takes until they give up. And of the server towards agents.
inline constexpr absl::Duration kSessionIdle = absl::Seconds(6);
inline constexpr absl::Duration kServerSilence = absl::Seconds(3);

struct SessionError {
  absl::Time at;
  absl::Duration waited;
  absl::Status status;
};

struct SessionOutcome {
  std::string purpose;  // Of the session, and of no other.
  pid_t pid = 0;
  absl::Time end;
  bool was_killed = false;
  bool closed = false;  // As it wished.
  std::vector<SessionError> errors;
};

// Runs a user to its end, who goes past the server if he may. INTERNAL for one that ends as none should.
absl::StatusOr<SessionOutcome> UseSession(const Cluster& cluster, const std::string& purpose,
                                          int calls, bool straight);

// Who went away, as an error says it.
std::optional<Party> PartyOf(const absl::Status& error);

// Whether every error came in time and names somebody who was struck; the first that does not, otherwise.
absl::Status CheckErrors(const SessionOutcome& outcome, const std::vector<Strike>& strikes);
// Whether the session's job did not hold its device for longer than its lease after its user went away.
absl::Status CheckLease(const SessionOutcome& outcome, const Job& job,
                        const std::vector<Strike>& strikes);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_INTEGRATION_SESSION_OUTCOME_H_
