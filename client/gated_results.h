// Which results of a history `gate` holds against each other. Pure.
#ifndef SLIPWAY_CLIENT_GATED_RESULTS_H_
#define SLIPWAY_CLIENT_GATED_RESULTS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/gate.h"
#include "client/history.h"
#include "client/types.h"
#include "core/base/digest.h"
#include "core/base/tag.h"

namespace slipway {

// Two series that differ in nothing but the program: model, target, device, threads and conditions are the same.
struct GatedResults {
  HistorySeries baseline, candidate;

  // The programs to time in turns: those of the newest results.
  const Digest& baseline_artifact() const { return baseline.entries.back().artifact; }
  const Digest& candidate_artifact() const { return candidate.entries.back().artifact; }
};

// The candidate is the program of the newest entry that has the tag `candidate`, or without one, of the newest that has not
// the tag `baseline`; it has the results of that artifact in the same series. The baseline has all results of the series with
// its tag, whichever the artifact: what has one tag counts as one program.
//
// Entries in any order; each may be there twice. NOT_FOUND says of what there are no results.
absl::StatusOr<GatedResults> ChooseResults(std::vector<HistoryEntry> entries, const Tag& baseline,
                                           const std::optional<Tag>& candidate);

// When it ended, and its median.
std::vector<TimedResult> TimesOf(const HistorySeries& series);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_GATED_RESULTS_H_
