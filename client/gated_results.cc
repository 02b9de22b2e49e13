#include "client/gated_results.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

bool Has(const HistoryEntry& entry, const Tag& tag) {
  return absl::c_linear_search(entry.tags, tag);
}

std::string Where(const HistorySeries& series) {
  return absl::StrCat("\"", series.model, "\" for ", series.target, " on \"", series.device,
                      "\" with ", series.threads, series.threads == 1 ? " thread" : " threads");
}

}  // namespace

absl::StatusOr<GatedResults> ChooseResults(std::vector<HistoryEntry> entries, const Tag& baseline,
                                           const std::optional<Tag>& candidate) {
  std::set<std::string> seen;
  std::erase_if(entries, [&](const HistoryEntry& entry) { return !seen.insert(entry.id).second; });
  const auto is_candidate = [&](const HistoryEntry& entry) {
    return candidate.has_value() ? Has(entry, *candidate) : !Has(entry, baseline);
  };
  // By what they are, each oldest first.
  const std::vector<HistorySeries> all = SeriesOf(std::move(entries));
  const HistorySeries* chosen = nullptr;
  const HistoryEntry* newest = nullptr;
  for (const HistorySeries& series : all) {
    for (const HistoryEntry& entry : series.entries) {
      if (!is_candidate(entry)) continue;
      if (newest != nullptr && entry.end_time < newest->end_time) continue;
      chosen = &series;
      newest = &entry;
    }
  }
  if (newest == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "there are no results of a candidate: none ", candidate.has_value() ? "with" : "without",
        " the tag \"", ToString(candidate.value_or(baseline)), "\""));
  }
  GatedResults results = {.baseline = *chosen, .candidate = *chosen};
  std::erase_if(results.baseline.entries,
                [&](const HistoryEntry& entry) { return !Has(entry, baseline); });
  std::erase_if(results.candidate.entries, [&](const HistoryEntry& entry) {
    return !is_candidate(entry) || entry.artifact != newest->artifact;
  });
  if (results.baseline.entries.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there are no results of a baseline: none with the tag \"", ToString(baseline),
                     "\" that were measured as the newest of ", Where(*chosen)));
  }
  return results;
}

std::vector<TimedResult> TimesOf(const HistorySeries& series) {
  std::vector<TimedResult> times;
  for (const HistoryEntry& entry : series.entries) {
    times.push_back({.time = entry.end_time, .call_ns = entry.summary.p50_ns});
  }
  return times;
}

}  // namespace slipway
