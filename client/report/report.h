// A job that has ended as one HTML file to mail: nothing is fetched and no script runs where it is opened. Pure.
#ifndef SLIPWAY_CLIENT_REPORT_REPORT_H_
#define SLIPWAY_CLIENT_REPORT_REPORT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/artifact_summary.h"
#include "client/types.h"

namespace slipway {

struct Report {
  Job job;  // Has ended. Of a benchmark whose job is kept no longer, what the history has of it.
  std::string subject;  // The model or artifact, for people.
  std::optional<ArtifactSummary>
      artifact;  // That was compiled, run or measured; absent where the server has it no more.
  std::optional<HistoryEntry> history;  // Of a benchmark: with the device as it was then.
  std::vector<std::pair<std::string, std::string>> versions;  // Name and version.
  absl::Time written;
};

// Light or dark as its reader has it. Whatever names, logs and errors hold is shown as text.
std::string RenderReport(const Report& report);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_REPORT_REPORT_H_
