// Blame: whose fault it is that an attempt on a device ended as it did. A table, and pure.
//
// A device that is to blame for several in a row is put in quarantine: what a program can bring about by itself must not count.
#ifndef SLIPWAY_SERVER_HEALTH_BLAME_H_
#define SLIPWAY_SERVER_HEALTH_BLAME_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"

namespace slipway::server {

// How an attempt ended.
enum class AttemptEnd {
  kSucceeded,
  kFailed,  // Its agent says: by the program.
  kRefused,  // Its agent says: by the device or agent (RunAttemptState.retriable); or its result is none.
  kLost,     // Its agent was silent, restarted or forgot it.
  kStopped,  // Its agent left, or it was given back: nothing follows.
  kOverdue,  // Its agent did not end it at its deadline.
};

enum class Blame {
  kNobody,  // It says nothing about the device.
  kDevice,  // The device failed.
  kPraise,  // The device works.
};

struct BlameRow {
  AttemptEnd end;
  absl::optional<absl::StatusCode> code;  // Any, if none; those with a code come first.
  Blame blame;
};
absl::Span<const BlameRow> BlameRows();

// Of the first row that fits.
Blame BlameFor(AttemptEnd end, absl::StatusCode code);

// The same of a probe that failed: its program is the server's own, and sound. `measures`: it waited for the machine.
Blame BlameForProbe(bool measures, absl::StatusCode code);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HEALTH_BLAME_H_
