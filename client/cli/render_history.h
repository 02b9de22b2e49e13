// What `slipway history` prints of series of results: pure functions from values to text.
#ifndef SLIPWAY_CLIENT_CLI_RENDER_HISTORY_H_
#define SLIPWAY_CLIENT_CLI_RENDER_HISTORY_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/history.h"
#include "client/record.h"

namespace slipway::cli {

// A bar for each value, from the lowest for the least to the full height for the greatest; half height where all are equal.
std::string Sparkline(absl::Span<const double> values);

// Of each series its medians as bars, under them a mark where the artifact or something else changed, and a table, newest last.
std::string RenderHistory(const std::vector<HistorySeries>& all);
// schema_version 1; with samples where entries have them.
std::string RenderHistoryJson(const std::vector<HistorySeries>& all);
// RFC 4180, with a line of titles.
std::string RenderHistoryCsv(const std::vector<HistorySeries>& all);

// A record that was checked.
std::string RenderRecord(const CheckedRecord& record);
// schema_version 1; `result` as in RenderHistoryJson, with samples.
std::string RenderRecordJson(const CheckedRecord& record);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_RENDER_HISTORY_H_
